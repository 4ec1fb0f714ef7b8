//! Nodes that are added to a model: written behind what its file holds, whole or not at all, and equal to nodes that were always there.

use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use coldlink::Config;
use coldlink::columns::Mismatches;
use coldlink::dataset::{Dataset, NewNodes};
use coldlink::graph::{Names, NodeId};
use coldlink::index::{Hit, LinkIndex};
use coldlink::model::{Among, EncodedNodes, Model, Plan};
use coldlink::pipeline::{Settings, Training};
use coldlink::storage::Lock;
use coldlink::synthetic::World;
use coldlink::train::Silent;
use tempfile::TempDir;

const NODES: u32 = 1500;

fn world() -> World {
    World { nodes: NODES, topics: 30, vocabulary: 400, ..World::default() }
}

fn train(settings: &[&str]) -> Model {
    let base = ["width=16", "steps=40", "validate_every=40"];
    let config = Config::default().set_all(base.iter().chain(settings)).unwrap();
    let names = Names::from_texts((0..NODES).map(|node| format!("n{node}")));
    let dataset = Dataset { names, ..world().dataset() };
    Training::new(&dataset, &Settings::given(config), 1).run(&mut Silent).unwrap()
}

/// A model in a folder of its own.
fn saved(model: &Model) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("topics.model");
    model.save(&path).unwrap();
    (folder, path)
}

/// Some of the world's new nodes, each with a name of its own.
fn new_nodes(first: u32, count: u32) -> NewNodes {
    let rows: Vec<NodeId> = (first..first + count).collect();
    let attributes = world().new_nodes(40).select(&rows);
    let names = Names::from_texts(rows.iter().map(|row| format!("added-{row}")));
    NewNodes { names, attributes, titles: None, mismatches: Mismatches::default() }
}

/// Adds nodes as `coldlink add` does.
fn add(path: &Path, new: &NewNodes) -> Model {
    let lock = Lock::of(path).unwrap();
    let mut larger = Model::open_indexed(path).unwrap().0.add(new).unwrap();
    larger.save_locked(&lock).unwrap();
    larger
}

fn lists(model: &Model, new: &EncodedNodes, among: Among) -> Vec<Vec<Hit>> {
    let plan = Plan { among, ..Plan::best(1600) };
    model.best_links(new, 0..new.embeddings.nodes(), plan)
}

#[test]
fn nodes_that_are_added_one_by_one_are_as_if_they_had_come_together() {
    for settings in [&[][..], &["terms=[]"]] {
        let model = train(settings);
        let (folder, path) = saved(&model);
        let length = || fs::metadata(&path).unwrap().len();
        let before = length();
        for first in 0..10 {
            add(&path, &new_nodes(first * 2, 2));
        }
        assert!(length() > before && length() < before + 60_000, "{before} and {}", length());
        let (added, together) = (Model::open(&path).unwrap(), model.add(&new_nodes(0, 20)).unwrap());
        assert_eq!((added.summary().nodes, added.summary().added), (NODES as usize + 20, 20));
        assert!(added.fingerprint().is_some() && added.fingerprint() != model.fingerprint());
        assert_eq!(added, together);
        let whole = folder.path().join("whole.model");
        added.save(&whole).unwrap();
        let whole = Model::open(&whole).unwrap();
        assert_eq!(whole, added);
        let new = model.encode(&world().new_nodes(40));
        for among in [Among::Known, Among::Both] {
            assert_eq!(lists(&added, &new, among), lists(&whole, &new, among));
        }
        for node in [0, NODES, NODES + 19] {
            assert_eq!(added.similar_nodes(node, 5), whole.similar_nodes(node, 5));
            assert_eq!(added.find(&added.names().get(node)), Some(node));
        }
        let known = [NODES + 3].map(|node| added.names().get(node).into_owned());
        if settings.is_empty() {
            let ask = |model: &Model| {
                let asked = model.ask_known(&known).unwrap();
                lists(model, asked.encoded(), Among::Known)
            };
            assert_eq!(ask(&added), ask(&whole));
        }
    }
}

#[test]
fn an_index_from_before_or_after_finds_added_nodes() {
    let model = train(&[]);
    let (_folder, path) = saved(&model);
    let index = || Model::open(&path).unwrap().build_index().save(&LinkIndex::path_of(&path)).unwrap();
    index();
    add(&path, &new_nodes(0, 20));
    let find = || {
        let (model, problem) = Model::open_indexed(&path).unwrap();
        assert!(problem.is_none() && model.index().is_some(), "{problem:?}");
        let alike = model.encode(&new_nodes(4, 1).attributes);
        let found = model.best_links(&alike, 0..1, Plan { count: 10, ..Plan::best(10) }).remove(0);
        let exact = Model::open(&path).unwrap().best_links(&alike, 0..1, Plan::best(10)).remove(0);
        (found, exact)
    };
    let (before, exact) = find();
    index();
    let (after, _) = find();
    for found in [before, after] {
        let shared = exact.iter().filter(|hit| found.iter().any(|found| found.node == hit.node)).count();
        assert!(shared >= 9, "{found:?} {exact:?}");
    }
}

#[test]
fn of_many_nodes_that_an_index_does_not_have_the_best_are_found() {
    let (_folder, path) = saved(&train(&[]));
    Model::open(&path).unwrap().build_index().save(&LinkIndex::path_of(&path)).unwrap();
    let attributes = world().new_nodes(1_300);
    let names = Names::from_texts((0..1_300).map(|node| format!("many-{node}")));
    let many = add(&path, &NewNodes { names, attributes, mismatches: Mismatches::default(), titles: None });
    let (through, problem) = Model::open_indexed(&path).unwrap();
    assert!(problem.is_none() && through.index().is_some(), "{problem:?}");
    let asked = many.encode(&world().new_nodes(60).select(&(40..60).collect::<Vec<_>>()));
    let plan = Plan::best(100);
    let (found, exact) = (through.best_links(&asked, 0..20, plan), Model::open(&path).unwrap());
    let exact = exact.best_links(&asked, 0..20, plan);
    let is_added = |hit: &&Hit| hit.node >= NODES;
    let wanted: Vec<Vec<Hit>> = exact.iter().map(|hits| hits.iter().filter(is_added).copied().collect()).collect();
    let shared = |(found, wanted): (&Vec<Hit>, &Vec<Hit>)| {
        wanted.iter().filter(|hit| found.iter().any(|other| other.node == hit.node)).count()
    };
    let all: usize = wanted.iter().map(Vec::len).sum();
    let shared: usize = found.iter().zip(&wanted).map(shared).sum();
    assert!(all >= 100 && shared * 100 >= all * 95, "{shared} of {all}");
}

#[test]
fn a_file_that_is_cut_or_damaged_behind_the_first_part_is_refused_or_the_same() {
    let (folder, path) = saved(&train(&[]));
    let first = fs::metadata(&path).unwrap().len() as usize;
    for row in 0..3 {
        add(&path, &new_nodes(row, 1));
    }
    let (whole, bytes) = (Model::open(&path).unwrap(), fs::read(&path).unwrap());
    let damaged = folder.path().join("damaged.model");
    let open = |bytes: &[u8]| {
        fs::write(&damaged, bytes).unwrap();
        let opened = Model::open(&damaged);
        fs::remove_file(&damaged).unwrap();
        opened
    };
    for length in (first + 1..bytes.len()).step_by(37) {
        let error = open(&bytes[..length]).expect_err("it is cut off");
        assert!(error.hint().is_some(), "{error:?}");
    }
    assert_eq!(open(&bytes[..first]).unwrap().summary().added, 0, "as it was written first");
    for place in (first..bytes.len()).step_by(13).chain(first.next_multiple_of(4096)..first.next_multiple_of(4096) + 64)
    {
        let mut bytes = bytes.clone();
        bytes[place] ^= 0x41;
        if let Ok(opened) = open(&bytes) {
            assert_eq!(opened, whole, "byte {place}");
        }
    }
}

#[test]
fn what_an_interrupted_addition_has_left_is_not_seen_and_goes_with_the_next() {
    let (_folder, path) = saved(&train(&[]));
    let first = fs::metadata(&path).unwrap().len();
    let leave = |place: u64, bytes: &[u8]| {
        let mut file = OpenOptions::new().write(true).open(&path).unwrap();
        file.seek(SeekFrom::Start(place)).unwrap();
        file.write_all(bytes).unwrap();
    };
    let added = || Model::open(&path).unwrap().summary().added;
    // Of a first addition, whose mark was not written.
    leave(first.next_multiple_of(4096) + 4096, &[7; 9000]);
    assert_eq!(added(), 0);
    let clean = add(&path, &new_nodes(0, 1));
    assert_eq!((added(), Model::open(&path).unwrap()), (1, clean));
    // Of a second one.
    let length = fs::metadata(&path).unwrap().len();
    leave(length, &[9; 5000]);
    assert_eq!(added(), 1);
    let clean = add(&path, &new_nodes(1, 1));
    assert_eq!((added(), Model::open(&path).unwrap()), (2, clean));
    assert!(fs::metadata(&path).unwrap().len() < length + 5000);
}

#[test]
fn whoever_has_the_file_open_keeps_what_was_there() {
    let (_folder, path) = saved(&train(&[]));
    let earlier = Model::open(&path).unwrap();
    let new = earlier.encode(&new_nodes(0, 3).attributes);
    let before = lists(&earlier, &new, Among::Known);
    add(&path, &new_nodes(0, 5));
    assert_eq!(lists(&earlier, &new, Among::Known), before);
}

#[test]
fn where_many_were_added_the_whole_is_written_anew() {
    let (_folder, path) = saved(&train(&[]));
    let of = |first: u32| {
        let new = new_nodes(0, 40);
        let rows: Vec<NodeId> = (0..400).map(|row| row % 40).collect();
        let names = Names::from_texts((0..400).map(|row| format!("many-{}", first + row)));
        NewNodes { names, attributes: new.attributes.select(&rows), titles: None, mismatches: Mismatches::default() }
    };
    let added: Vec<bool> = (0..4).map(|round| add(&path, &of(round * 400)).fingerprint().is_some()).collect();
    assert_eq!(added, [true, true, false, true]);
    assert_eq!(Model::open(&path).unwrap().summary().nodes, NODES as usize + 1600);
}
