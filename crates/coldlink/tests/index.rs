//! Links through the index against links by scoring every node, and indexes that must not be used.

use std::fs;
use std::path::PathBuf;

use coldlink::Config;
use coldlink::dataset::End;
use coldlink::graph::{Attributes, NodeId};
use coldlink::index::{Hit, LinkIndex};
use coldlink::model::{Among, IndexProblem, Model, Plan};
use coldlink::pipeline::{Settings, Training};
use coldlink::storage::FileProblem;
use coldlink::synthetic::World;
use coldlink::train::Silent;
use tempfile::TempDir;

const NODES: u32 = 2400;

/// Forty topics of sixty nodes each, with fifteen words of their own.
fn world() -> World {
    World {
        nodes: NODES,
        topics: 40,
        links_per_node: 4.0,
        links_within: 0.75,
        vocabulary: 600,
        words_of_topic: 15,
        words_per_node: 12,
        words_within: 0.75,
        ..World::default()
    }
}

fn train(settings: &[&str], seed: u64) -> Model {
    let dataset = world().dataset();
    let base = ["width=32", "steps=60", "validate_every=60"];
    let config = Config::default().set_all(base.iter().chain(settings)).unwrap();
    Training::new(&dataset, &Settings::given(config), seed).run(&mut Silent).unwrap()
}

/// A model in a folder of its own, with its index beside it.
fn saved(model: &Model) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("topics.model");
    model.save(&path).unwrap();
    model.build_index().save(&LinkIndex::path_of(&path)).unwrap();
    (folder, path)
}

fn recall(exact: &[Vec<Hit>], found: &[Vec<Hit>]) -> f64 {
    let both = exact.iter().zip(found);
    let shared: usize = both
        .map(|(exact, found)| exact.iter().filter(|hit| found.iter().any(|found| found.node == hit.node)).count())
        .sum();
    shared as f64 / exact.iter().map(Vec::len).sum::<usize>() as f64
}

#[test]
fn an_index_finds_what_scoring_every_node_finds() {
    for settings in [&[][..], &["terms=[]"]] {
        let model = train(settings, 1);
        assert_eq!(model.gives_probabilities(), settings.is_empty());
        let (_folder, path) = saved(&model);
        let (indexed, problem) = Model::open_indexed(&path).unwrap();
        assert!(problem.is_none());
        let about = indexed.index().unwrap();
        assert!(about.recall >= 0.98 && about.nodes == NODES as usize, "{about:?}");
        let new = model.encode(&world().new_nodes(60));
        let plan = Plan::best(10);
        let (exact, found) = (model.best_links(&new, 0..60, plan), indexed.best_links(&new, 0..60, plan));
        assert!(recall(&exact, &found) >= 0.97, "{}", recall(&exact, &found));
        for hits in &found {
            assert!(hits.len() == 10 && hits.is_sorted_by(|a, b| a.score >= b.score));
        }
        let quiet = Plan { popularity: 0.0, ..plan };
        let (exact, found) = (model.best_links(&new, 0..60, quiet), indexed.best_links(&new, 0..60, quiet));
        assert!(recall(&exact, &found) >= 0.95, "{}", recall(&exact, &found));
    }
}

#[test]
fn a_pair_has_the_same_score_however_it_is_asked_for() {
    let (_folder, path) = saved(&train(&[], 1));
    let indexed = Model::open_indexed(&path).unwrap().0;
    assert!(indexed.index().is_some());
    let attributes = world().new_nodes(40);
    let new = indexed.encode(&attributes);
    let excluded: Vec<NodeId> = (0..NODES - 20).collect();
    let few_left = Plan { excluded: &excluded, ..Plan::best(10) };
    for plan in [Plan::best(10), few_left, Plan { among: Among::Both, ..Plan::best(10) }] {
        for (row, hits) in indexed.best_links(&new, 0..40, plan).iter().enumerate() {
            for hit in hits {
                let other = if hit.node < NODES { End::Known(hit.node) } else { End::New(hit.node - NODES) };
                let pair = indexed.score_pairs(&new, &[(End::New(row as NodeId), other)])[0];
                let explained = indexed.score_parts(&attributes, &new, row as NodeId, &[other])[0].score as f32;
                assert!(
                    (pair - hit.score).abs() < 1e-4 && (explained - hit.score).abs() < 1e-4,
                    "{hit:?} {pair} {explained}"
                );
            }
        }
    }
}

#[test]
fn nodes_that_are_excluded_are_not_found_and_many_of_them_mean_every_node_is_scored() {
    let model = train(&[], 1);
    let (_folder, path) = saved(&model);
    let indexed = Model::open_indexed(&path).unwrap().0;
    let new = model.encode(&world().new_nodes(3));
    let mut first: Vec<NodeId> = indexed.best_links(&new, 0..1, Plan::best(10))[0].iter().map(|hit| hit.node).collect();
    first.sort_unstable();
    let plan = Plan { excluded: &first, ..Plan::best(10) };
    let (exact, found) = (model.best_links(&new, 0..1, plan), indexed.best_links(&new, 0..1, plan));
    assert!(found[0].iter().all(|hit| !first.contains(&hit.node)));
    assert!(recall(&exact, &found) >= 0.9);
    let most: Vec<NodeId> = (0..NODES - 20).collect();
    let plan = Plan { excluded: &most, ..Plan::best(10) };
    let (exact, found) = (model.best_links(&new, 0..3, plan), indexed.best_links(&new, 0..3, plan));
    assert!(found.iter().flatten().all(|hit| hit.node >= NODES - 20));
    assert!(recall(&exact, &found) >= 0.9);
    let plan = Plan::best(NODES as usize);
    let by_node = |model: &Model| {
        let mut hits = model.best_links(&new, 0..1, plan).remove(0);
        hits.sort_by_key(|hit| hit.node);
        hits
    };
    let (exact, found) = (by_node(&model), by_node(&indexed));
    assert_eq!(found.len(), NODES as usize, "every node is scored");
    let off: Vec<f32> = exact.iter().zip(&found).map(|(exact, found)| (exact.score - found.score).abs()).collect();
    assert!(off.iter().sum::<f32>() / off.len() as f32 <= 0.05, "where walks start is found well enough");
}

#[test]
fn new_nodes_without_attributes_get_the_links_that_scoring_every_node_gives() {
    let model = train(&[], 1);
    let (_folder, path) = saved(&model);
    let indexed = Model::open_indexed(&path).unwrap().0;
    let new = model.encode(&Attributes::from_rows(600, &[vec![]]).unwrap());
    let plan = Plan::best(5);
    assert_eq!(model.best_links(&new, 0..1, plan), indexed.best_links(&new, 0..1, plan));
}

#[test]
fn an_index_of_another_model_is_not_used() {
    let (_folder, path) = saved(&train(&[], 1));
    train(&[], 2).save(&path).unwrap();
    let (model, problem) = Model::open_indexed(&path).unwrap();
    assert!(matches!(problem, Some(IndexProblem::Stale(_))) && model.index().is_none());
    fs::remove_file(LinkIndex::path_of(&path)).unwrap();
    let (model, problem) = Model::open_indexed(&path).unwrap();
    assert!(problem.is_none() && model.index().is_none());
}

#[test]
fn a_damaged_index_is_refused_and_the_model_still_opens() {
    let (_folder, path) = saved(&train(&[], 1));
    let beside = LinkIndex::path_of(&path);
    let whole = fs::read(&beside).unwrap();
    let header = u64::from_le_bytes(whole[..8].try_into().unwrap()) as usize + 8;
    let filling = whole[..header].iter().rposition(|byte| *byte != b' ').unwrap() + 1;
    // Every byte of the header, and some of each part after it.
    for place in (0..filling).chain((header..whole.len()).step_by(4999)) {
        let mut damaged = whole.clone();
        damaged[place] ^= 1;
        fs::write(&beside, &damaged).unwrap();
        assert!(LinkIndex::open(&beside, 32).is_err(), "byte {place}");
    }
    for length in (0..header).step_by(17).chain((header..whole.len()).step_by(49_999)) {
        fs::write(&beside, &whole[..length]).unwrap();
        assert!(LinkIndex::open(&beside, 32).is_err(), "length {length}");
    }
    let (model, problem) = Model::open_indexed(&path).unwrap();
    assert!(matches!(problem, Some(IndexProblem::File(_))) && model.index().is_none());
    fs::copy(&path, &beside).unwrap();
    let error = LinkIndex::open(&beside, 32).unwrap_err();
    assert!(matches!(error.problem, FileProblem::Format { .. }), "a model is no index");
}

#[test]
fn the_dense_part_is_the_score_without_words_and_walks() {
    let model = train(&["terms=[\"attributes\",\"cross\",\"degree\"]"], 1);
    let new = model.encode(&world().new_nodes(5));
    let (whole, dense) = (model.best_links(&new, 0..5, Plan::best(10)), model.best_by_dense(&new, 0..5, 10));
    for (whole, dense) in whole.iter().flatten().zip(dense.iter().flatten()) {
        assert!((whole.score - dense.score).abs() < 1e-3, "{whole:?} {dense:?}");
    }
}
