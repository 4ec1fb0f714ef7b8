//! Nothing of the test set reaches the model: with attributes that say nothing, new nodes' links cannot be told.

use coldlink::Config;
use coldlink::dataset::{Dataset, Notes};
use coldlink::graph::{Attributes, Graph, Names, NodeId};
use coldlink::pipeline::{Evaluation, Settings};
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
    let (dataset, settings) = (world(1), Settings::given(config));
    let evaluation = Evaluation { first_seed: 1, ..Evaluation::new(&dataset, &Protocol::Deal2020, &settings) };
    let evaluated = evaluation.run(&mut Silent).unwrap();
    assert_eq!(evaluated.audit.to_string(), "passed");
    let cold_cold = evaluated.record.report.seeds[0].metrics.cold_cold.unwrap();
    let (pairs, auc) = (cold_cold.pairs as f64, cold_cold.auc.unwrap());
    let linked = cold_cold.prevalence.unwrap() * pairs;
    // Of the rank statistic where both classes are alike (Hanley & McNeil, 1982).
    let error = ((1.0 / linked + 1.0 / (pairs - linked)) / 12.0).sqrt();
    assert!(pairs >= 5_000.0, "only {pairs} pairs");
    assert!((auc - 0.5).abs() <= 3.0 * error, "AUC {auc} on {pairs} pairs, standard error {error}");
}
