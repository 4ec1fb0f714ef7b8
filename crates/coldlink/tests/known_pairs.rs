//! Probabilities of pairs of two known nodes, against links that training did not see.

use std::collections::HashSet;

use coldlink::graph::{Graph, NodeId, Relation, RoleGraph, Roles};
use coldlink::synthetic::World;
use coldlink::{Dataset, PairQuery, Settings, Silent, Told, Training};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn world() -> World {
    World { nodes: 1200, topics: 12, links_per_node: 8.0, ..World::default() }
}

/// Every tenth link is held back, and the same graph without these. A link runs from the node with the larger number.
fn held_back(directed: bool) -> (Dataset, Vec<(NodeId, NodeId)>) {
    let whole = world().dataset();
    let (mut kept, mut held) = (Vec::new(), Vec::new());
    for (place, (a, b)) in whole.graph.iter_links().enumerate() {
        if place % 10 == 3 { held.push((b, a)) } else { kept.push((b, a)) }
    }
    let nodes = world().nodes as usize;
    let relations = directed.then(|| {
        let roles = Roles::of(vec![Relation { name: "cites".into(), directed: true }]).unwrap();
        RoleGraph::new(nodes, roles, kept.iter().map(|&(source, target)| (0, source, target)))
    });
    (Dataset { graph: Graph::from_links(nodes, kept), relations, ..whole }, held)
}

/// The mean probability of pairs that training did not see, and the share of them that is linked.
fn predicted_and_observed(directed: bool, settings: &[&str], unlinked_for_each: usize) -> (f64, f64) {
    let (dataset, held) = held_back(directed);
    let base = ["width=32", "steps=300"];
    let settings = base
        .iter()
        .chain(settings)
        .fold(Settings::of_preset("default", 0.0).unwrap(), |settings, setting| settings.set(setting).unwrap());
    let model = Training::new(&dataset, &settings, 1).run(&mut Silent).unwrap();
    let known = |node: NodeId| dataset.graph.degree(node) > 0;
    let linked: Vec<(NodeId, NodeId)> = held.iter().copied().filter(|&(a, b)| known(a) && known(b)).collect();
    let taken: HashSet<(NodeId, NodeId)> = held.iter().copied().collect();
    let is_free = |a: NodeId, b: NodeId| a > b && !dataset.graph.has_link(a, b) && !taken.contains(&(a, b));
    let (nodes, mut random) = (world().nodes, Xoshiro256PlusPlus::seed_from_u64(5));
    let draws = std::iter::repeat_with(|| (random.random_range(0..nodes), random.random_range(0..nodes)));
    let draws = draws.filter(|&(a, b)| known(a) && known(b) && is_free(a, b));
    let unlinked: Vec<(NodeId, NodeId)> = draws.take(unlinked_for_each * linked.len()).collect();
    let observed = linked.len() as f64 / (linked.len() + unlinked.len()) as f64;
    let query = |(source, target): &(NodeId, NodeId)| PairQuery {
        source: source.to_string(),
        target: target.to_string(),
        known: Some(true),
        relation: None,
    };
    let pairs: Vec<PairQuery> = linked.iter().chain(&unlinked).map(query).collect();
    let asked = model.ask_known(&[]).unwrap();
    let scored = model.scored_pairs(&asked, &pairs, Told::at(observed)).unwrap();
    let weights = model.weights().unwrap();
    assert!(weights.warm_warm.pairs > 0, "fitted, not carried over");
    (scored.iter().map(|link| link.probability.unwrap()).sum::<f64>() / scored.len() as f64, observed)
}

#[test]
fn pairs_of_known_nodes_are_as_probable_as_they_are_linked() {
    let check = |directed: bool, settings: &[&str], unlinked_for_each: usize| {
        let (predicted, observed) = predicted_and_observed(directed, settings, unlinked_for_each);
        assert!((predicted / observed - 1.0).abs() < 0.2, "{predicted} {observed}: {directed} {settings:?}");
    };
    check(false, &[], 4);
    check(false, &[], 1);
    check(false, &["objective=pairs"], 4);
    check(true, &[], 4);
}
