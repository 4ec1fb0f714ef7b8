//! Metrics against scikit-learn and OGB, the shape of a report, and the figures known for real data.

use std::path::{Path, PathBuf};

use coldlink::config::Validation;
use coldlink::evaluate::baselines::{Cosine, TfIdf};
use coldlink::evaluate::{
    About, Deviation, Measures, Ranks, Report, Run, SeedResult, Test, auc, average_precision, prevalence,
};
use coldlink::graph::{Attributes, Graph, NodeId};
use coldlink::load::{LoadOptions, load};
use coldlink::score::Scorer;
use coldlink::split::{Pair, Protocol, RankingQuery, Split, TrainView};
use serde_json::Value;

fn golden() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/metrics.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn scores(value: &Value) -> Vec<f32> {
    numbers(value).into_iter().map(|score| score as f32).collect()
}

fn assert_close(found: Option<f64>, expected: f64, tolerance: f64, what: &str) {
    let found = found.unwrap();
    assert!((found - expected).abs() <= tolerance, "{what}: {found} instead of {expected}");
}

#[test]
fn metrics_are_those_of_scikit_learn() {
    for case in golden()["classification"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let scores = scores(&case["scores"]);
        let linked: Vec<_> =
            case["linked"].as_array().unwrap().iter().map(|linked| linked.as_bool().unwrap()).collect();
        let check =
            |found, key: &str| assert_close(found, case[key].as_f64().unwrap(), 1e-12, &format!("{name}, {key}"));
        check(auc(&scores, &linked).unwrap(), "auc");
        check(average_precision(&scores, &linked).unwrap(), "ap");
        check(prevalence(&linked), "prevalence");
    }
}

/// Row `source` holds the positive's score (as that of node 0) and the negatives' (from node 1 on).
struct Table(Vec<Vec<f32>>);

impl Scorer for Table {
    fn scores(&self, pairs: &[(NodeId, NodeId)]) -> Vec<f32> {
        pairs.iter().map(|&(source, target)| self.0[source as usize - 1_000][target as usize]).collect()
    }
}

#[test]
fn ranks_are_those_of_ogb() {
    for case in golden()["ranking"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let rows = scores(&case["positive"]).into_iter().zip(case["negative"].as_array().unwrap());
        let table = Table(rows.map(|(positive, negative)| [vec![positive], scores(negative)].concat()).collect());
        let query = |row| RankingQuery { source: 1_000 + row as NodeId, targets: vec![0], ..RankingQuery::default() };
        let queries: Vec<_> = (0..table.0.len()).map(query).collect();
        let candidates: Vec<_> = (0..table.0[0].len() as NodeId).collect();
        let ranks = Ranks::measure(&table, &queries, &candidates).unwrap();
        let found: Vec<_> = ranks.per_query().flat_map(|(_, ranks)| ranks.to_vec()).collect();
        assert_eq!(found, numbers(&case["ranks"]), "{name}");
        assert_close(ranks.mrr(), case["mrr"].as_f64().unwrap(), 1e-12, name);
        for k in [1, 10, 50, 100] {
            assert_close(ranks.hits(k), case["hits"][k.to_string()].as_f64().unwrap(), 1e-12, name);
        }
    }
}

#[test]
fn ndcg_is_that_of_scikit_learn() {
    for case in golden()["lists"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let table = Table(case["scores"].as_array().unwrap().iter().map(scores).collect());
        let is_linked = |row: &Value, node: usize| row[node].as_bool().unwrap();
        let query = |(row, linked): (usize, &Value)| RankingQuery {
            source: 1_000 + row as NodeId,
            targets: (0..80).filter(|&node| is_linked(linked, node)).map(|node| node as NodeId).collect(),
            ..RankingQuery::default()
        };
        let queries: Vec<_> = case["linked"].as_array().unwrap().iter().enumerate().map(query).collect();
        let ranks = Ranks::measure(&table, &queries, &(0..80).collect::<Vec<_>>()).unwrap();
        for k in [1, 3, 10, 50] {
            assert_close(ranks.ndcg(k), case["ndcg"][k.to_string()].as_f64().unwrap(), 1e-12, name);
        }
    }
}

fn pair(source: NodeId, target: NodeId, linked: bool) -> Pair {
    Pair { source, target, linked }
}

/// Eight nodes in two groups by attribute; 6 and 7 are new where `hide` says so.
struct Toy {
    training: Graph,
    attributes: Attributes,
    visible: Vec<bool>,
    pairs: Vec<Pair>,
    queries: Vec<RankingQuery>,
}

impl Toy {
    fn new(hide: bool) -> Self {
        let row = |node: u32| vec![(node % 2, 1.0), (2 + node % 3, 0.5)];
        Toy {
            training: Graph::from_links(8, [(0, 2), (2, 4), (1, 3), (3, 5), (0, 3)]),
            attributes: Attributes::from_rows(5, &(0..8).map(row).collect::<Vec<_>>()).unwrap(),
            visible: (0..8).map(|node| !(hide && node >= 6)).collect(),
            pairs: vec![pair(6, 0, true), pair(7, 3, true), pair(6, 1, false), pair(7, 2, false), pair(6, 7, true)],
            queries: vec![RankingQuery { source: 6, targets: vec![0], exclude: vec![7], among: None }],
        }
    }

    fn test(&self, rank_baselines: bool) -> Test<'_> {
        let view = TrainView::whole(&self.training, &self.attributes, &self.visible);
        Test { pairs: &self.pairs, queries: &self.queries, view, rank_baselines, seed: 0, given: None }
    }

    fn result(&self, seed: u64, rank_baselines: bool) -> SeedResult {
        let test = self.test(rank_baselines);
        let run = Run { seed, steps: 100 * seed as usize, train_seconds: 0.5, search_seconds: 0.0 };
        SeedResult::measure(run, &Cosine::new(&test.view), &test).unwrap()
    }
}

fn report(seeds: Vec<SeedResult>) -> Value {
    let about = About {
        dataset: "toy".into(),
        protocol: "strict".into(),
        preset: "default".into(),
        validation: Validation::Nodes,
        nodes: 8,
        edges: 8,
        attributes: 5,
        audit: "passed".into(),
        deviation: Deviation::of(&Protocol::Strict),
    };
    serde_json::to_value(Report::from_seeds(about, seeds)).unwrap()
}

fn has_keys(value: &Value, keys: &[&str]) {
    for key in keys {
        assert!(value.get(key).is_some(), "no `{key}` in {value}");
    }
}

const METRICS: [&str; 10] =
    ["auc", "ap", "prevalence", "mrr", "hits@1", "hits@10", "hits@50", "hits@100", "cold_warm", "cold_cold"];

#[test]
fn a_report_has_every_key_and_no_average_precision_without_prevalence() {
    let toy = Toy::new(true);
    let report = report(vec![toy.result(1, false), toy.result(2, false)]);
    has_keys(&report, &["dataset", "protocol", "preset", "validation", "nodes", "edges", "attributes", "prevalence"]);
    has_keys(&report, &["audit", "deviation", "seeds", "mean", "sd", "baselines"]);
    for part in [&report["seeds"][0], &report["mean"], &report["sd"]] {
        has_keys(part, &METRICS);
        has_keys(&part["cold_warm"], &["auc", "ap", "prevalence", "pairs"]);
    }
    has_keys(&report["seeds"][1], &["seed", "steps", "train_seconds"]);
    for name in ["random", "degree", "cosine", "tfidf"] {
        has_keys(&report["baselines"][name], &["auc", "ap", "auc_sd", "ap_sd"]);
    }
    assert_eq!(report["deviation"], "splits");
    assert_eq!(report["validation"], "nodes");
    assert_eq!(report["seeds"][1]["seed"], 2);
    assert_eq!(report["mean"]["auc"], report["seeds"][0]["auc"]);
    assert_eq!(report["sd"]["auc"], 0.0);
    assert_eq!(report["prevalence"], 0.6);
    ap_stands_with_prevalence(&report);
}

/// The standard deviation of an AP is exempt: it is no AP.
fn ap_stands_with_prevalence(value: &Value) {
    if let Some(fields) = value.as_object() {
        assert!(!fields.contains_key("ap") || fields.contains_key("prevalence"), "{value}");
        fields.values().for_each(ap_stands_with_prevalence);
    }
    value.as_array().into_iter().flatten().for_each(ap_stands_with_prevalence);
}

#[test]
fn kinds_of_pairs_are_measured_apart_and_a_missing_class_is_null() {
    let report = report(vec![Toy::new(true).result(1, false)]);
    let seed = &report["seeds"][0];
    assert_eq!(seed["cold_warm"]["pairs"], 4);
    assert_eq!(seed["cold_warm"]["prevalence"], 0.5);
    assert_eq!(seed["cold_warm"]["auc"], 1.0);
    assert_eq!(seed["cold_cold"], serde_json::json!({ "auc": null, "ap": null, "prevalence": 1.0, "pairs": 1 }));
    assert!(report["sd"]["auc"].is_null(), "one seed has no deviation");
    assert_eq!(report["mean"]["cold_cold"]["auc"], Value::Null);
}

#[test]
fn a_test_without_hidden_nodes_has_no_kinds_and_ranks_all_nodes() {
    let transductive = Toy::new(false).result(1, false);
    assert_eq!((transductive.metrics.cold_warm, transductive.metrics.cold_cold), (None, None));
    // Node 6 finds 0, with which it shares all attributes; the other such nodes are excluded or itself.
    assert_eq!(transductive.metrics.mrr, Some(1.0));
}

#[test]
fn baselines_are_ranked_when_asked_for() {
    let toy = Toy::new(true);
    let without = report(vec![toy.result(1, false)]);
    assert!(without["baselines"]["cosine"].get("mrr").is_none());
    let with = report(vec![toy.result(1, true)]);
    assert_eq!(with["baselines"]["cosine"]["mrr"], with["mean"]["mrr"]);
    assert_eq!(with["baselines"]["cosine"]["hits@10"], 1.0);
    assert_eq!(with["baselines"]["cosine"]["auc"], with["mean"]["auc"]);
}

#[test]
fn a_node_outside_the_graph_is_an_error() {
    let mut toy = Toy::new(true);
    toy.pairs.push(pair(6, 8, false));
    let test = toy.test(false);
    let error = SeedResult::measure(Run::default(), &Cosine::new(&test.view), &test).unwrap_err();
    assert_eq!(error.to_string(), "there is no node 8 in a graph of 8 nodes");
}

#[test]
fn a_split_from_files_deviates_by_initialisation_only() {
    assert_eq!(Deviation::of(&Protocol::Files(PathBuf::new())), Deviation::Initialisation);
    assert_eq!(Deviation::of(&Protocol::Deal2020), Deviation::Splits);
}

/// Where the real data lie, if they do.
fn data() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let path = std::env::var_os("DEAL_DATA").map_or(beside, PathBuf::from);
    path.join("citeseer.npz").exists().then_some(path)
}

#[test]
fn baselines_reach_the_figures_known_for_citeseer() {
    let Some(data) = data() else { return };
    let citeseer = load(&data.join("citeseer.npz"), &LoadOptions::default()).unwrap();
    let protocol = Protocol::Files(data.join("citeseer-authors-split/inductive.npz"));
    let split = Split::make(&citeseer, &protocol, Some(Validation::Edges), 1).unwrap();
    let view = split.final_view();
    assert_eq!(view.warm().len(), 2_824);
    let queries = split.test().queries(&view);
    let test =
        Test { pairs: split.test().pairs(), queries: &queries, view, rank_baselines: true, seed: 0, given: None };
    let result = SeedResult::measure(Run::default(), &TfIdf::new(&view), &test).unwrap();
    let check = |measures: Measures, auc, ap| {
        assert_close(measures.auc, auc, 0.002, "AUC");
        assert_close(measures.ap, ap, 0.002, "AP");
    };
    check(result.baselines.cosine.measures, 0.879, 0.818);
    check(result.baselines.tfidf.measures, 0.886, 0.838);
    assert_close(result.metrics.mrr, 0.223, 0.002, "MRR");
    assert_close(result.metrics.hits.at(10), 0.402, 0.002, "Hits@10");
    assert_eq!(result.metrics.mrr, result.baselines.tfidf.mrr);
    assert_eq!((result.ranks.targets(), result.metrics.pooled.pairs), (719, 889 + 1_984));
    let kinds = [result.metrics.cold_warm, result.metrics.cold_cold].map(Option::unwrap);
    assert_close(kinds[0].prevalence, 719.0 / kinds[0].pairs as f64, 1e-12, "cold-warm prevalence");
    assert_close(kinds[1].prevalence, 170.0 / kinds[1].pairs as f64, 1e-12, "new-new prevalence");
    assert_eq!(kinds[0].pairs + kinds[1].pairs, 889 + 1_984);
}
