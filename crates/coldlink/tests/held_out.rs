//! A trained model on links that it was not told of, against its own lists.

use std::collections::{BTreeMap, BTreeSet};

use coldlink::dataset::NewNodes;
use coldlink::graph::{Names, NodeId, Relation, RoleGraph, Roles};
use coldlink::model::Direction;
use coldlink::synthetic::World;
use coldlink::{Asked, Dataset, Error, GivenLink, HeldOut, HeldOutReport, Model, Query, Settings, Silent, Training};

const NODES: u32 = 400;

fn world() -> World {
    World { nodes: NODES, topics: 8, links_per_node: 6.0, ..World::default() }
}

/// Most links are citations, some are likes.
fn with_relations() -> Dataset {
    let relation = |name: &str, directed| Relation { name: name.to_owned(), directed };
    let roles = Roles::of(vec![relation("cites", true), relation("likes", false)]).unwrap();
    let plain = world().dataset();
    let links: Vec<(NodeId, NodeId)> = plain.graph.iter_links().collect();
    let links = links.into_iter().enumerate().map(|(place, (a, b))| (usize::from(place % 4 == 0), b, a));
    let relations = Some(RoleGraph::new(NODES as usize, roles, links));
    Dataset { relations, ..plain }
}

fn named(dataset: Dataset) -> Dataset {
    Dataset { names: Names::from_texts((0..NODES).map(|node| format!("p{node}"))), ..dataset }
}

fn trained(dataset: &Dataset, more: &[&str]) -> Model {
    let settings = ["width=16", "steps=60", "validate_every=60"].iter().chain(more);
    let settings =
        settings.fold(Settings::of_preset("default", 0.0).unwrap(), |settings, setting| settings.set(setting).unwrap());
    Training::new(dataset, &settings, 1).run(&mut Silent).unwrap()
}

fn new_nodes() -> NewNodes {
    let names = Names::from_texts((0..20).map(|place| format!("n{place}")));
    NewNodes { names, attributes: world().new_nodes(20), titles: None, mismatches: Default::default() }
}

fn link(source: impl Into<String>, target: impl Into<String>, relation: Option<&str>) -> GivenLink {
    GivenLink { source: source.into(), target: target.into(), relation: relation.map(str::to_owned) }
}

/// Links that nobody was told of, as far as names are concerned.
fn some_links(relations: &[Option<&str>]) -> Vec<GivenLink> {
    let mut links = Vec::new();
    for place in 0..120_u32 {
        let relation = relations[place as usize % relations.len()];
        let (new, known) = (format!("n{}", place % 20), format!("p{}", (place * 37 + place / 20) % NODES));
        links.push(match place % 3 {
            0 => link(new, known, relation),
            1 => link(known, new, relation),
            _ => link(format!("p{}", place % 50), known, relation),
        });
    }
    links
}

fn run(model: &Model, links: &[GivenLink]) -> Result<HeldOutReport, Error> {
    HeldOut { model, new: Some(new_nodes()), links, seed: 0 }.run()
}

/// 1 / rank of each link that is asked for, from lists as `predict` makes them; and how many lists were looked at.
fn reciprocal_ranks(model: &Model, links: &[GivenLink]) -> (Vec<f64>, usize) {
    let is_new = |name: &str| name.starts_with('n');
    let mut wanted: BTreeMap<(String, Option<String>, bool), BTreeSet<String>> = BTreeMap::new();
    for GivenLink { source, target, relation } in links {
        let turned = !is_new(source) && is_new(target);
        let (asks, found) = if turned { (target, source) } else { (source, target) };
        let is_directed = relation.as_deref() != Some("likes") && !model.roles().is_plain();
        wanted.entry((asks.clone(), relation.clone(), turned && is_directed)).or_default().insert(found.clone());
    }
    let mut ranks = Vec::new();
    for ((asks, relation, into), targets) in &wanted {
        let asked: Asked = match is_new(asks) {
            true => model.ask(new_nodes()).unwrap(),
            false => model.ask_known(std::slice::from_ref(asks)).unwrap(),
        };
        let direction =
            (relation.as_deref() == Some("cites")).then_some(if *into { Direction::In } else { Direction::Out });
        let query = Query { count: 10_000, relation: relation.clone(), direction, ..Query::default() };
        let query = model.resolve(&asked, &query).unwrap();
        let row = asked.new_nodes().names.iter().position(|name| name == *asks).unwrap();
        let list = model.links(&asked, &query, row..row + 1).remove(0);
        for target in targets {
            let score = list.iter().find(|link| link.target == *target).unwrap().score;
            let others = || list.iter().filter(|link| !targets.contains(&link.target));
            let above = others().filter(|link| link.score > score).count();
            let tied = others().filter(|link| link.score == score).count();
            ranks.push(1.0 / (1.0 + above as f64 + tied as f64 / 2.0));
        }
    }
    (ranks, wanted.len())
}

fn check(dataset: Dataset, settings: &[&str], relations: &[Option<&str>]) {
    let model = trained(&named(dataset), settings);
    let known_links = model.gives_probabilities();
    let name = |node: &str| node[1..].parse::<NodeId>().unwrap();
    let role = |relation: &Option<String>| {
        let relations = model.roles().relations();
        model.roles().ends(relations.iter().position(|of| Some(&of.name) == relation.as_ref()).unwrap_or(0))
    };
    let is_free = |link: &GivenLink| {
        let both_known = link.source.starts_with('p') && link.target.starts_with('p');
        let (of_source, of_target) = role(&link.relation);
        let ends =
            || (model.roles().at(name(&link.source), of_source), model.roles().at(name(&link.target), of_target));
        link.source != link.target
            && (!both_known || known_links && !model.graph().unwrap().has_link(ends().0, ends().1))
    };
    let links: Vec<GivenLink> = some_links(relations).into_iter().filter(is_free).collect();
    let report = run(&model, &links).unwrap();
    let (ranks, lists) = reciprocal_ranks(&model, &links);
    assert_eq!((report.links, report.questions), (ranks.len(), lists), "{settings:?}");
    let mrr = ranks.iter().sum::<f64>() / ranks.len() as f64;
    assert!((report.model.mrr.unwrap() - mrr).abs() < 1e-9, "{:?} {mrr} {settings:?}", report.model.mrr);
    assert_eq!(report.model.measures.prevalence, Some(0.5));
    assert_eq!(report.calibration.is_some(), known_links);
    assert_eq!(report.baselines.knn.is_some(), known_links);
}

#[test]
fn a_link_is_ranked_as_lists_of_the_model_show_it() {
    check(world().dataset(), &[], &[None]);
    check(with_relations(), &[], &[Some("cites"), Some("likes")]);
    check(world().dataset(), &["terms=[]"], &[None]);
}

#[test]
fn links_that_are_no_questions_are_counted_and_left_out() {
    let model = trained(&named(world().dataset()), &[]);
    let linked = model.neighbors(5)[0];
    let free = (0..NODES).find(|&node| node != 5 && !model.neighbors(5).contains(&node)).unwrap();
    let links = [
        link("n0", "p7", None),
        link("p7", "n0", None),
        link("p5", format!("p{linked}"), None),
        link(format!("p{linked}"), "p5", None),
        link("p5", "p5", None),
        link("n1", "n1", None),
        link("n1", "n2", None),
        link("p5", format!("p{free}"), None),
    ];
    let report = run(&model, &links).unwrap();
    let left = report.left_out;
    assert_eq!((left.trained_on, left.repeated, left.self_loops, left.between_new, left.unlisted), (2, 1, 2, 1, 0));
    assert_eq!((report.links, report.questions, report.new_questions), (2, 2, 1));
    assert_eq!(report.notes[0], "left out 2 links that the model was trained on");
    let error = run(&model, &links[2..4]).unwrap_err();
    assert_eq!(error.to_string(), "none of 2 links is left to look for: 2 links that the model was trained on");
    assert_eq!(run(&model, &[]).unwrap_err().to_string(), "there are no links to look for");
    let error = run(&model, &[link("n0", "p7", None), link("nobody", "p7", None)]).unwrap_err();
    assert_eq!(error.to_string(), "link 2: there is neither a new node nor a known one `nobody`");
}

#[test]
fn a_new_row_with_the_name_of_a_known_node_does_not_find_what_that_was_trained_on() {
    let dataset = named(world().dataset());
    let model = trained(&dataset, &[]);
    let name = |node: NodeId| format!("p{node}");
    let mut neighbors = model.neighbors(5);
    let trained_on = neighbors.pop().unwrap();
    let free = (0..NODES).find(|&node| node != 5 && !model.neighbors(5).contains(&node)).unwrap();
    let row = |names: &str| NewNodes {
        names: Names::from_texts([names]),
        attributes: dataset.attributes.select(&[5]),
        titles: None,
        mismatches: Default::default(),
    };
    let rank = |new: &str, links: &[GivenLink]| {
        let report = HeldOut { model: &model, new: Some(row(new)), links, seed: 0 }.run().unwrap();
        (report.left_out.trained_on, 1.0 / report.model.mrr.unwrap(), report.notes)
    };
    let (left_out, rank_of_namesake, notes) =
        rank("p5", &[link("p5", name(trained_on), None), link("p5", name(free), None)]);
    let (_, rank_of_other, _) = rank("other", &[link("other", name(free), None)]);
    assert_eq!(left_out, 1);
    assert!(notes[1].starts_with("1 new node has the name of a known one"), "{notes:?}");
    // The node itself and what it was trained on stand above otherwise.
    assert!(rank_of_namesake < rank_of_other, "{rank_of_namesake} {rank_of_other}");
}

#[test]
fn a_model_that_keeps_no_links_is_asked_about_new_nodes_alone() {
    let model = trained(&named(world().dataset()), &["terms=[]"]);
    let report = run(&model, &[link("n0", "p7", None)]).unwrap();
    assert_eq!((report.baselines.knn, report.calibration), (None, None));
    let error = run(&model, &[link("p0", "p7", None)]).unwrap_err();
    assert!(error.to_string().contains("this model keeps no links"), "{error}");
}

#[test]
fn true_links_are_told_from_others_and_probabilities_are_compared_with_them() {
    let whole = world().dataset();
    let (mut kept, mut held) = (Vec::new(), Vec::new());
    for (place, (a, b)) in whole.graph.iter_links().enumerate() {
        if place % 8 == 3 { held.push(link(a.to_string(), b.to_string(), None)) } else { kept.push((a, b)) }
    }
    let graph = coldlink::Graph::from_links(NODES as usize, kept);
    let model = trained(&Dataset { graph, ..whole }, &["steps=200"]);
    let report = HeldOut { model: &model, new: None, links: &held, seed: 0 }.run().unwrap();
    assert!(report.model.measures.auc > report.baselines.random.measures.auc, "{:?}", report.model);
    assert!(
        report.model.mrr > report.baselines.random.mrr
            && report.model.ndcg.at(10) > report.baselines.random.ndcg.at(10)
    );
    let calibration = report.calibration.unwrap();
    let per_question = calibration.candidates.pairs as f64 / report.questions as f64;
    let observed = report.links as f64 / calibration.candidates.pairs as f64;
    assert!(per_question > 300.0 && (calibration.candidates.observed - observed).abs() < 1e-12);
    assert_eq!(calibration.listed.unwrap().pairs, 10 * report.questions);
    assert!(calibration.listed.unwrap().predicted > calibration.candidates.predicted);
    let again = HeldOut { model: &model, new: None, links: &held, seed: 1 }.run().unwrap();
    assert_eq!(again.model.mrr, report.model.mrr);
    assert_ne!(again.model.measures.auc, report.model.measures.auc);
}
