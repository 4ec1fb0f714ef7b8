//! Nothing of the test set reaches the model: with attributes that say nothing, new nodes' links cannot be told.

use coldlink::Config;
use coldlink::pipeline::{Evaluation, Settings};
use coldlink::split::Protocol;
use coldlink::synthetic::World;
use coldlink::train::Silent;

/// Topics with hubs, so that structure and popularity can be learnt, and attributes at random.
fn world() -> World {
    World {
        nodes: 4_000,
        topics: 40,
        links_per_node: 32.0,
        links_within: 0.5,
        vocabulary: 300,
        words_per_node: 12,
        words_within: 0.0,
        skew: 1.5,
        ..World::default()
    }
}

#[test]
fn random_attributes_do_not_tell_links_among_new_nodes() {
    let settings = ["width=32", "steps=300", "patience=0", "validate_every=100"];
    let config = Config::default().set_all(settings).unwrap();
    let (dataset, settings) = (world().dataset(), Settings::given(config));
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
