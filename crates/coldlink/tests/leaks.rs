//! Nothing of the test set reaches the model: with attributes that say nothing, new nodes' links cannot be told.

use coldlink::Config;
use coldlink::evaluate::{Evaluation, evaluate_seed};
use coldlink::graph::{Attributes, Dataset, Graph, Names, NodeId, Notes};
use coldlink::split::Protocol;
use coldlink::train::Silent;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const NODES: u32 = 4_000;
const LINKS_PER_NODE: u32 = 32;
const ATTRIBUTES: u32 = 300;

/// Communities of a hundred nodes with hubs, so that structure and degree can be learnt, and attributes at random.
fn world(seed: u64) -> Dataset {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut links = Vec::new();
    for source in 0..NODES {
        for _ in 0..LINKS_PER_NODE {
            let community = source / 100 * 100;
            let within = |random: &mut Xoshiro256PlusPlus| {
                let hub = random.random_range(0..100_u32).min(random.random_range(0..100));
                community + hub
            };
            let target =
                if random.random_range(0..2) == 0 { within(&mut random) } else { random.random_range(0..NODES) };
            links.push((source, target));
        }
    }
    let row = |random: &mut Xoshiro256PlusPlus| {
        let mut columns: Vec<u32> = (0..12).map(|_| random.random_range(0..ATTRIBUTES)).collect();
        columns.sort_unstable();
        columns.dedup();
        columns.into_iter().map(|column| (column, 1.0)).collect::<Vec<_>>()
    };
    let rows: Vec<_> = (0..NODES).map(|_| row(&mut random)).collect();
    Dataset {
        name: "random attributes".into(),
        graph: Graph::from_links(NODES as usize, links.into_iter().map(|(a, b)| (a as NodeId, b))),
        attributes: Attributes::from_rows(ATTRIBUTES as usize, &rows).unwrap(),
        names: Names::Numbered(NODES as usize),
        schema: None,
        notes: Notes::default(),
    }
}

#[test]
fn random_attributes_do_not_tell_links_among_new_nodes() {
    let settings = ["width=32", "steps=300", "patience=0", "validate_every=100"];
    let config = settings.iter().fold(Config::default(), |config, setting| config.set(setting).unwrap());
    let evaluation = Evaluation::new(Protocol::Deal2020, config);
    let (result, audit) = evaluate_seed(&world(1), &evaluation, 1, &mut Silent).unwrap();
    assert_eq!(audit.to_string(), "passed");
    let new_new = result.metrics.new_new.unwrap();
    let (pairs, auc) = (new_new.pairs as f64, new_new.auc.unwrap());
    let linked = new_new.prevalence.unwrap() * pairs;
    // Of the rank statistic where both classes are alike (Hanley & McNeil, 1982).
    let error = ((1.0 / linked + 1.0 / (pairs - linked)) / 12.0).sqrt();
    assert!(pairs >= 5_000.0, "only {pairs} pairs");
    assert!((auc - 0.5).abs() <= 3.0 * error, "AUC {auc} on {pairs} pairs, standard error {error}");
}
