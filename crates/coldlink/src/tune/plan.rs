//! What a whole run is likely to take, told before it begins.

use super::cost::{estimated_seconds, memory, scoring_seconds};
use super::{Candidate, Stage};
use crate::config::Config;
use crate::network::Features;
use crate::split::Split;

/// A run before it begins: how many trials, and what each part takes. It is counted from sizes, for two ordinary cores, so it is the
/// same on every machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// How many trials there are; none where settings are given, or where trials do not fit the budget.
    pub trials: usize,
    /// Seconds of all trials.
    pub trying: f64,
    /// Seconds of the search for the number of steps; 0 where a trial has found it.
    pub searching: f64,
    /// Seconds of the fit of the score; 0 where a trial has it.
    pub scoring: f64,
    /// Seconds of the final fit.
    pub fitting: f64,
    /// The least budget in which something would be tried, where nothing fits the one that there is.
    pub needed: f64,
    /// Bytes of memory at the most, beside the files of the graph.
    pub memory: f64,
}

/// Counts what candidates cost on a split.
pub(super) struct Costs<'a> {
    split: &'a Split,
    features: Features,
}

impl<'a> Costs<'a> {
    pub fn new(split: &'a Split, base: &Config) -> Self {
        Costs { split, features: Features::new(split.search().attributes(), base.scaling) }
    }

    /// Seconds of the steps of some settings.
    fn steps(&self, config: &Config) -> f64 {
        let view = self.split.search();
        let config = view.sized(config);
        estimated_seconds(&config, &view, &self.features, config.steps)
    }

    /// Seconds of the fit of the score, and of how good it is where settings are compared.
    fn scoring(&self, config: &Config) -> f64 {
        scoring_seconds(self.split, &self.split.search().sized(config), &self.features)
    }

    /// Seconds of a trial with all steps and with none.
    pub fn trial(&self, config: &Config) -> [f64; 2] {
        let scoring = 2.0 * self.scoring(config);
        [self.steps(config) + scoring, scoring]
    }

    /// The plan of a run with these stages of trials, or with none.
    pub fn plan(&self, candidates: &[Candidate], stages: &[Stage], base: &Config) -> Plan {
        let tried = |stage: &Stage| stage.candidates.min(candidates.len());
        let trials: usize = stages.iter().map(tried).sum();
        let of_stage = |stage: &Stage| {
            let costs = candidates[..tried(stage)].iter().map(|candidate| self.trial(&candidate.config));
            costs.map(|[whole, scoring]| scoring + stage.share * (whole - scoring)).sum::<f64>()
        };
        let refits = f64::from(u8::from(self.split.refit().is_some()));
        let (steps, once) = (self.steps(base), f64::from(u8::from(trials == 0)));
        Plan {
            trials,
            trying: stages.iter().map(of_stage).sum(),
            searching: once * steps,
            scoring: once * self.scoring(base),
            fitting: refits * steps,
            needed: 0.0,
            memory: memory(self.split, &self.split.search().sized(base), &self.features),
        }
    }
}

impl Plan {
    /// Of a training with given settings.
    pub fn given(split: &Split, config: &Config) -> Self {
        Costs::new(split, config).plan(&[], &[], config)
    }

    /// Of a search alone.
    pub fn of_trials(split: &Split, base: &Config, candidates: &[Candidate], stages: &[Stage]) -> Self {
        Plan { fitting: 0.0, ..Costs::new(split, base).plan(candidates, stages, base) }
    }

    /// Seconds of all parts.
    pub fn seconds(&self) -> f64 {
        self.trying + self.searching + self.scoring + self.fitting
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Validation;
    use crate::dataset::Dataset;
    use crate::graph::{Relation, RoleGraph, Roles};
    use crate::synthetic::World;

    #[test]
    fn a_plan_counts_every_part_and_grows_with_the_graph() {
        let plan = |nodes: u32| {
            let data = World::scaled(nodes, 1).dataset();
            let split = Split::for_training(&data, Validation::Nodes, 0).unwrap();
            Plan::given(&split, &Config::default())
        };
        let (small, large) = (plan(1_000), plan(8_000));
        for (small, large) in
            [(small.searching, large.searching), (small.scoring, large.scoring), (small.memory, large.memory)]
        {
            assert!(small > 0.0 && large > 4.0 * small, "{small} {large}");
        }
        assert_eq!((large.trials, large.trying), (0, 0.0));
        assert_eq!(large.fitting, large.searching);
        assert_eq!(large.seconds(), large.searching + large.scoring + large.fitting);
    }

    #[test]
    fn every_role_has_questions_of_its_own_to_be_counted() {
        let plain = World::scaled(8_000, 1).dataset();
        let links = plain.graph.iter_links();
        let relation = |name: &str| Relation { name: name.to_owned(), directed: true };
        let roles = Roles::of((0..5).map(|number| relation(&format!("r{number}"))).collect()).unwrap();
        let relations = RoleGraph::new(8_000, roles, links.map(|(a, b)| ((a + b) as usize % 5, a, b)));
        let scoring = |data: &Dataset| {
            let split = Split::for_training(data, Validation::Nodes, 0).unwrap();
            Plan::given(&split, &Config::default()).scoring
        };
        let (plain_seconds, of_roles) =
            (scoring(&plain), scoring(&Dataset { relations: Some(relations), ..plain.clone() }));
        assert!(of_roles > 3.0 * plain_seconds, "{plain_seconds} {of_roles}");
    }

    #[test]
    fn trials_take_the_place_of_the_search() {
        let data = World::default().dataset();
        let split = Split::for_training(&data, Validation::Nodes, 0).unwrap();
        let config = Config::default();
        let candidates: Vec<Candidate> =
            ["one", "two", "three"].map(|name| Candidate { name: name.to_owned(), config: config.clone() }).into();
        let stage = |candidates, share| Stage { candidates, share };
        let costs = Costs::new(&split, &config);
        let plan = costs.plan(&candidates, &[stage(3, 0.25), stage(1, 1.0)], &config);
        let [whole, scoring] = costs.trial(&config);
        assert_eq!((plan.trials, plan.searching, plan.scoring), (4, 0.0, 0.0));
        assert!((plan.trying - (3.0 * (scoring + 0.25 * (whole - scoring)) + whole)).abs() < 1e-9);
    }
}
