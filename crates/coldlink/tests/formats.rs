//! Files of ours in every version that was released: each still opens and holds what it held.
//!
//! `tests/files/v1/` has a file of each format, all of one small graph: `papers.coldlink`, a model of it with the index beside it,
//! and a checkpoint of its training with the settings and the seed below. `cargo test -p coldlink --test formats -- --ignored`
//! writes the files of the present versions, and `expected.toml` with what they must hold. Files of a version that was released are
//! never written again: a new version gets a folder of its own.

use std::fs;
use std::path::{Path, PathBuf};

use coldlink::Config;
use coldlink::dataset::Dataset;
use coldlink::graph::Attributes;
use coldlink::index::LinkIndex;
use coldlink::load::{LoadError, LoadOptions, load, load_json_lines, new_from_json_lines, open_packed, write_packed};
use coldlink::model::{Model, Plan};
use coldlink::pipeline::{Settings, Training};
use coldlink::storage::{FileFormat, FileProblem};
use coldlink::train::{Checkpoints, Control, Event, Observer, Phase, Silent};
use coldlink::tune::Watcher;

/// As few nodes as a split can be made of.
const NODES: u32 = 40;
const SEED: u64 = 1;
/// The checkpoint was written after so many steps.
const STOPPED: u64 = 2;
const NEW: &str = r#"{"id": "new", "node_type": "item", "price": 3, "year": 2002, "words": ["a1", "novel"]}"#;

fn stored(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/v1").join(file)
}

/// A graph of two node types, with columns of several kinds and gaps in them.
fn papers() -> Dataset {
    let (mut nodes, mut edges) = (String::new(), String::new());
    for node in 0..NODES {
        let of_type = if node % 2 == 0 { "\"user\"".to_owned() } else { format!("\"item\",\"price\":{}", node % 9) };
        let year = if node % 7 == 0 { "null".to_owned() } else { (1990 + node % 13).to_string() };
        let words = format!("[\"a{}\",\"é{}\"]", node % 7, node % 5);
        nodes += &format!("{{\"id\":\"n{node}\",\"node_type\":{of_type},\"year\":{year},\"words\":{words}}}\n");
        for step in [1, 7, 17] {
            edges += &format!("{{\"source\":\"n{node}\",\"target\":\"n{}\"}}\n", (node + step) % NODES);
        }
    }
    // One link in both directions, one of a node with itself.
    edges += "{\"source\":\"n1\",\"target\":\"n0\"}\n{\"source\":\"n3\",\"target\":\"n3\"}\n";
    let mut dataset = load_json_lines(nodes.into(), edges.into(), &LoadOptions::default()).unwrap();
    // As the stored files were written: one link in both directions was enough to note that directions are dropped.
    dataset.notes.directed = true;
    Dataset { name: "papers".into(), ..dataset }
}

/// The settings that model and checkpoint were made with.
fn config() -> Config {
    toml::from_str(&fs::read_to_string(stored("settings.toml")).unwrap()).unwrap()
}

#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Expected {
    /// The best links of the new node, with their scores.
    names: Vec<String>,
    scores: Vec<f32>,
    /// The first attribute embedding.
    embedding: Vec<f32>,
}

impl Expected {
    fn of(model: &Model) -> Self {
        let new = new_from_json_lines(NEW.into(), model.schema().unwrap(), false).unwrap();
        let hits = model.best_links(&model.encode(&new.attributes), 0..1, Plan::best(3)).remove(0);
        Expected {
            names: hits.iter().map(|hit| model.names().get(hit.node).into_owned()).collect(),
            scores: hits.iter().map(|hit| hit.score).collect(),
            embedding: model.embeddings().attributes.row(0).to_vec(),
        }
    }

    /// Numbers may differ by rounding: machines add in different orders.
    fn check(&self, model: &Model) {
        let found = Expected::of(model);
        assert_eq!(found.names, self.names);
        let close = |found: &[f32], expected: &[f32]| {
            found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-4)
        };
        assert!(close(&found.scores, &self.scores) && close(&found.embedding, &self.embedding), "{found:?} {self:?}");
    }
}

fn expected() -> Expected {
    toml::from_str(&fs::read_to_string(stored("expected.toml")).unwrap()).unwrap()
}

/// Stops at a step, and remembers where training began.
#[derive(Default)]
struct Watch {
    stop: Option<u64>,
    began: Option<(Phase, u64)>,
}

impl Observer for Watch {
    fn on(&mut self, event: Event) -> Control {
        match event {
            Event::Started { phase, step, .. } => _ = self.began.get_or_insert((phase, step)),
            Event::Advanced { step, .. } if self.stop.is_some_and(|stop| step >= stop) => return Control::Stop,
            _ => {}
        }
        Control::Continue
    }
}

impl Watcher for Watch {}

#[test]
#[ignore = "writes the stored files of the present versions"]
fn write_the_files_of_the_present_versions() {
    let folder = stored("");
    fs::create_dir_all(&folder).unwrap();
    let (dataset, path) = (papers(), stored("papers.model"));
    write_packed(&dataset, &stored("papers.coldlink")).unwrap();
    let small = ["steps=6", "validate_every=2", "width=4", "hidden=[4]", "bias=true"];
    let config = small.iter().fold(Config::default(), |config, setting| config.set(setting).unwrap());
    fs::write(stored("settings.toml"), config.to_toml()).unwrap();
    let settings = Settings::given(config);
    let model = Training::new(&dataset, &settings, SEED).run(&mut Silent).unwrap();
    model.save(&path).unwrap();
    model.build_index().save(&LinkIndex::path_of(&path)).unwrap();
    fs::write(stored("expected.toml"), toml::to_string(&Expected::of(&model)).unwrap()).unwrap();
    let _ = fs::remove_file(stored("training.checkpoint"));
    let checkpoints = Checkpoints::open(&folder, 1, false).unwrap();
    let training = Training { checkpoints: Some(&checkpoints), ..Training::new(&dataset, &settings, SEED) };
    training.run(&mut Watch { stop: Some(STOPPED), began: None }).unwrap_err();
}

/// Graphs were packed before it was noted why columns are what they are.
fn without_findings(mut dataset: Dataset) -> Dataset {
    dataset.notes.columns.clear();
    dataset
}

#[test]
fn a_graph_of_version_1_opens() {
    let opened = open_packed(&stored("papers.coldlink")).unwrap();
    assert_eq!(opened, without_findings(papers()));
    assert_eq!((opened.names.get(39), opened.attributes.types().unwrap().names.len()), ("n39".into(), 2));
}

#[test]
fn a_model_of_version_1_opens_and_finds_the_same_links() {
    let model = Model::open(&stored("papers.model")).unwrap();
    assert_eq!((model.summary().nodes, model.config().width), (NODES as usize, 4));
    expected().check(&model);
}

#[test]
fn an_index_of_version_1_opens_with_its_model() {
    let (model, problem) = Model::open_indexed(&stored("papers.model")).unwrap();
    assert!(problem.is_none(), "{problem:?}");
    assert_eq!(model.index().unwrap().nodes, NODES as usize);
    expected().check(&model);
}

#[test]
fn training_goes_on_from_a_checkpoint_of_version_1() {
    let folder = tempfile::tempdir().unwrap();
    let checkpoints = Checkpoints::open(folder.path(), 1, true).unwrap();
    fs::copy(stored("training.checkpoint"), checkpoints.path()).unwrap();
    let (dataset, settings) = (open_packed(&stored("papers.coldlink")).unwrap(), Settings::given(config()));
    let training = Training { checkpoints: Some(&checkpoints), ..Training::new(&dataset, &settings, SEED) };
    let mut watch = Watch::default();
    let model = training.run(&mut watch).unwrap();
    assert_eq!(watch.began, Some((Phase::Search, STOPPED)));
    // Not the same bits as then: batches of graphs with node types are drawn in another way since.
    assert_eq!((model.summary().nodes, Expected::of(&model).names.len()), (NODES as usize, 3));
}

#[test]
fn a_graph_is_known_by_its_contents_whatever_it_is_called() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["papers", "papers.npz", "papers.csv"] {
        let path = folder.path().join(name);
        fs::copy(stored("papers.coldlink"), &path).unwrap();
        assert_eq!(load(&path, &LoadOptions::default()).unwrap(), without_findings(papers()), "{name}");
    }
}

#[test]
fn a_model_where_a_graph_is_wanted_says_so() {
    let error = load(&stored("papers.model"), &LoadOptions::default()).unwrap_err();
    let LoadError::File(file) = &error else { panic!("{error}") };
    assert!(error.to_string().starts_with("cannot open `") && error.to_string().ends_with("papers.model`"));
    assert_eq!(file.problem.to_string(), "it is a model, but a graph is wanted");
    assert!(error.hint().unwrap().to_string().starts_with("a graph is an `.npz` file, a `.coldlink` file"));
    let reverse = Model::open(&stored("papers.coldlink")).unwrap_err();
    let format = FileProblem::Format { found: FileFormat::Graph, wanted: FileFormat::Model };
    assert_eq!(reverse.problem.to_string(), format.to_string());
}

#[test]
fn a_packed_file_with_any_byte_changed_or_cut_anywhere_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let whole = fs::read(stored("papers.coldlink")).unwrap();
    let path = folder.path().join("damaged.coldlink");
    let check = |bytes: &[u8], place: usize| {
        fs::write(&path, bytes).unwrap();
        let loaded = load(&path, &LoadOptions::default());
        assert!(matches!(loaded, Err(LoadError::File(_))), "{place}");
        // Overwriting instead would wait for the disk each time.
        fs::remove_file(&path).unwrap();
    };
    for place in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[place] ^= 0x81;
        check(&damaged, place);
        check(&whole[..place], place);
    }
}

#[test]
fn numbered_nodes_without_columns_survive_packing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.packed");
    let dataset = Dataset {
        name: "three".into(),
        graph: coldlink::graph::Graph::from_links(3, [(0, 1)]),
        relations: None,
        attributes: Attributes::from_rows(2, &[vec![(1, 0.5)], vec![], vec![]]).unwrap(),
        names: coldlink::graph::Names::Numbered(3),
        titles: None,
        schema: None,
        notes: coldlink::dataset::Notes::default(),
    };
    write_packed(&dataset, &path).unwrap();
    assert_eq!(load(&path, &LoadOptions::default()).unwrap(), dataset);
}
