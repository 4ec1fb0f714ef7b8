//! The short search that stands behind `--preset auto`.

use std::time::{Duration, Instant};

use super::{Candidate, Chosen, Costs, Plan, Search, Stage, TuneError, Watcher};
use crate::config::{Config, ConfigError, Objective};
use crate::split::TrainView;

/// What is tried for lists, in the order of how often it has won: what differs from the base.
const FOR_LISTS: &[&[&str]] = &[
    &["temperature=0.07", "attribute_dropout=0.1"],
    &["temperature=0.05", "attribute_dropout=0.1"],
    &["temperature=0.1", "attribute_dropout=0.2"],
    &["temperature=0.07", "attribute_dropout=0.0"],
    &["temperature=0.15", "attribute_dropout=0.4"],
];

/// The same for pairs.
const FOR_PAIRS: &[&[&str]] = &[
    &["temperature=0.1", "attribute_dropout=0.0", "learning_rate=0.02"],
    &["temperature=0.2", "attribute_dropout=0.3"],
    &["temperature=0.2", "attribute_dropout=0.5"],
    &["temperature=0.1", "attribute_dropout=0.2", "learning_rate=0.02"],
    &["temperature=0.07", "attribute_dropout=0.0", "learning_rate=0.02"],
    &["temperature=0.3", "attribute_dropout=0.4"],
    &[
        "temperature=0.1",
        "attribute_dropout=0.0",
        "hidden=[256]",
        "bias=true",
        "hidden_dropout=0.3",
        "scaling=raw",
        "learning_rate=0.003",
    ],
];

/// What is tried beside the first where links have weights, where they have times, and where texts have vectors.
const FOR_WEIGHTS: &[&str] = &["weights=ignore"];
const FOR_TIMES: &[&str] = &["recency=slow", "recency=fast"];
const FOR_TEXT_VECTORS: &[&str] = &["text_vectors=ignore"];

/// The share of its steps that a candidate is tried for where there is no time to try all in full.
const SHORT: f64 = 0.25;

/// What `auto` tries around a base for a graph; settings named in `fixed` stay as they are.
fn auto_candidates(base: &Config, fixed: &[String], view: &TrainView<'_>) -> Result<Vec<Candidate>, ConfigError> {
    let mut candidates: Vec<Candidate> = Vec::new();
    let usual = match base.objective {
        Objective::Lists => FOR_LISTS,
        Objective::Pairs => FOR_PAIRS,
    };
    let first = usual[0];
    let more = [
        (view.graph().weights().is_some(), FOR_WEIGHTS),
        (view.graph().times().is_some(), FOR_TIMES),
        (view.has_text_vectors(), FOR_TEXT_VECTORS),
    ];
    let more = more.into_iter().filter(|(has, _)| *has).flat_map(|(_, changes)| changes);
    let mut tried: Vec<Vec<&str>> = usual.iter().map(|changes| changes.to_vec()).collect();
    let more = more.map(|change| [first, &[*change]].concat());
    tried.splice(1..1, more);
    for changes in &tried {
        let is_free =
            |change: &&&str| change.split('=').next().is_some_and(|key| fixed.iter().all(|fixed| fixed != key));
        let free: Vec<&str> = changes.iter().filter(is_free).copied().collect();
        let config = base.set_all(&free)?;
        if candidates.iter().all(|candidate| candidate.config != config) {
            candidates.push(Candidate { name: free.join(" "), config });
        }
    }
    Ok(candidates)
}

/// The most candidates that are tried in full after short trials: others have never won.
const FULL: usize = 3;

/// The least budget in which something is tried: two short trials fit into half of it.
fn least_budget(costs: &[[f64; 2]]) -> f64 {
    2.0 * costs.iter().take(2).map(|[whole, without]| without + (whole - without) * SHORT).sum::<f64>()
}

/// Stages that fit a budget of seconds, given what each candidate costs in full and without a step. Where all fit into half of it, all are tried in
/// full. Else half goes to short trials of as many as fit, in their order, and half to full trials of the best.
fn stages(costs: &[[f64; 2]], budget: f64) -> Vec<Stage> {
    if costs.iter().map(|cost| cost[0]).sum::<f64>() <= budget / 2.0 {
        return vec![Stage { candidates: costs.len(), share: 1.0 }];
    }
    let fitting = |share: f64| {
        let mut spent = 0.0;
        costs
            .iter()
            .take_while(|[whole, without]| {
                spent += without + (whole - without) * share;
                spent <= budget / 2.0
            })
            .count()
    };
    match (fitting(SHORT), fitting(1.0)) {
        (0 | 1, _) => Vec::new(),
        (short, full) => {
            vec![Stage { candidates: short, share: SHORT }, Stage { candidates: full.clamp(1, FULL), share: 1.0 }]
        }
    }
}

/// How `auto` chooses.
#[derive(Clone, Debug, PartialEq)]
pub struct Auto {
    /// Estimated seconds on two cores that the trials may take.
    pub budget: f64,
    /// Settings that are not to be changed.
    pub fixed: Vec<String>,
    /// Seconds on the clock after which nothing more is tried; what is chosen then depends on the machine.
    pub time_limit: Option<f64>,
}

/// The best settings for a split that can be found within a budget.
pub fn auto(search: &Search<'_>, base: &Config, auto: &Auto, watcher: &mut dyn Watcher) -> Result<Chosen, TuneError> {
    let candidates = auto_candidates(base, &auto.fixed, &search.split.search())?;
    let costs = Costs::new(search.split, base);
    let of_each: Vec<[f64; 2]> = candidates.iter().map(|candidate| costs.trial(&candidate.config)).collect();
    let stages = stages(&of_each, auto.budget);
    let needed = if stages.is_empty() { least_budget(&of_each) } else { 0.0 };
    watcher.planned(&Plan { needed, ..costs.plan(&candidates, &stages, base) });
    drop(costs);
    let limit = auto.time_limit.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let until = limit.and_then(|limit| Instant::now().checked_add(limit));
    let search = Search { until: until.or(search.until), ..*search };
    search.run(&candidates, &stages, watcher)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Preset, Validation};
    use crate::graph::{AttributeNames, Attributes, Block, Fitting, Graph};
    use crate::split::Split;
    use crate::synthetic::World;
    use crate::train::Silent;

    fn of_graph(base: &Config, fixed: &[String], graph: &Graph) -> Vec<Candidate> {
        let attributes = Attributes::from_rows(1, &vec![vec![(0, 1.0)]; graph.nodes()]).unwrap();
        auto_candidates(base, fixed, &TrainView::whole(graph, &attributes, &vec![true; graph.nodes()])).unwrap()
    }

    #[test]
    fn candidates_are_sound_and_leave_fixed_settings_alone() {
        let graph = Graph::from_links(3, [(0, 1), (1, 2)]);
        let auto_candidates = |base: &Config, fixed: &[String]| of_graph(base, fixed, &graph);
        let all = auto_candidates(&Config::default(), &[]);
        assert_eq!(all.len(), FOR_LISTS.len());
        assert_eq!(auto_candidates(&Preset::Pairs.config(), &[]).len(), FOR_PAIRS.len());
        let fixed = ["temperature".to_owned(), "attribute_dropout".to_owned()];
        let base = Config::default().set("temperature=0.4").unwrap();
        let some = auto_candidates(&base, &fixed);
        assert!(some.len() < all.len() && some.iter().all(|candidate| candidate.config.temperature == 0.4));
    }

    #[test]
    fn weights_and_times_are_tried_in_more_than_one_way_where_links_have_any() {
        let graph = Graph::from_links(3, [(0, 1), (1, 2)]).with_weights([(0, 1, 2.0)]).with_times([(0, 1, 3.0)]);
        let names = |fixed: &[String]| -> Vec<String> {
            let all = of_graph(&Config::default(), fixed, &graph);
            all.into_iter().map(|candidate| candidate.name).collect()
        };
        let all = names(&[]);
        assert!(all.len() == FOR_LISTS.len() + 3 && all[1].ends_with("weights=ignore"), "{all:?}");
        assert_eq!(names(&["weights".to_owned(), "recency".to_owned()]).len(), FOR_LISTS.len());
    }

    #[test]
    fn words_alone_are_tried_where_texts_have_vectors() {
        let mut data = World { nodes: 200, ..World::default() }.dataset();
        let (width, rows) = (data.attributes.width() as u32, data.attributes.rows());
        let block = Block { columns: width..width + 2, fit: Fitting::Encoded };
        let attributes = data.attributes.with_dense(2, vec![0.5; 2 * rows].into(), AttributeNames::default());
        data.attributes = attributes.unwrap().with_blocks(vec![block]).unwrap();
        let split = Split::for_training(&data, Validation::Nodes, 0).unwrap();
        let candidates = |fixed: &[String]| auto_candidates(&Config::default(), fixed, &split.search()).unwrap();
        let all = candidates(&[]);
        assert!(all.len() == FOR_LISTS.len() + 1 && all[1].name.ends_with("text_vectors=ignore"));
        assert_eq!(candidates(&["text_vectors".to_owned()]).len(), FOR_LISTS.len());
        let without = split.search().by(&all[1].config);
        assert_eq!((without.attributes().dense_width(), split.search().attributes().dense_width()), (0, 2));
    }

    #[test]
    fn the_clock_ends_a_search_and_the_first_settings_are_left() {
        let data = World { nodes: 300, ..World::default() }.dataset();
        let split = Split::for_training(&data, Validation::Nodes, 0).unwrap();
        let base = Config::default().set_all(["steps=20", "width=8"]).unwrap();
        let search = Search { split: &split, seed: 1, journal: None, until: None };
        let limited = |time_limit| Auto { budget: 1e9, fixed: Vec::new(), time_limit };
        let chosen = auto(&search, &base, &limited(Some(0.0)), &mut Silent).unwrap();
        assert_eq!((chosen.out_of_time, chosen.tried.len(), chosen.trial), (true, 0, None));
        let unlimited = auto(&search, &base, &limited(None), &mut Silent).unwrap();
        let patient = auto(&search, &base, &limited(Some(1e9)), &mut Silent).unwrap();
        assert!(!patient.out_of_time && patient.config == unlimited.config && patient.tried.len() > 1);
    }

    #[test]
    fn plans_fit_their_budget() {
        let stage = |candidates, share| Stage { candidates, share };
        let check = |costs: &[f64], without: f64, budget: f64, expected: &[Stage]| {
            let costs: Vec<[f64; 2]> = costs.iter().map(|&whole| [whole, without]).collect();
            assert_eq!(stages(&costs, budget), expected, "{costs:?} in {budget}");
        };
        check(&[1.0, 2.0, 3.0], 0.0, 12.0, &[stage(3, 1.0)]);
        check(&[8.0, 8.0, 8.0, 8.0], 0.0, 16.0, &[stage(4, 0.25), stage(1, 1.0)]);
        check(&[8.0, 8.0, 8.0, 8.0], 0.0, 8.0, &[stage(2, 0.25), stage(1, 1.0)]);
        check(&[8.0; 7], 0.0, 100.0, &[stage(7, 0.25), stage(3, 1.0)]);
        check(&[8.0; 7], 6.0, 100.0, &[stage(7, 0.25), stage(3, 1.0)]);
        check(&[8.0; 7], 6.0, 30.0, &[stage(2, 0.25), stage(1, 1.0)]);
        check(&[100.0; 4], 0.0, 16.0, &[]);
        let costs = [[100.0, 10.0]; 4];
        let least = least_budget(&costs);
        assert!(stages(&costs, least - 0.01).is_empty() && stages(&costs, least).len() == 2, "{least}");
    }
}
