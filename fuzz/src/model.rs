//! Small models with everything that a model can have, and what they are asked.

use std::fs;
use std::hint::black_box;
use std::path::PathBuf;

use coldlink::Config;
use coldlink::dataset::{Dataset, End};
use coldlink::graph::Attributes;
use coldlink::index::{Effort, LinkIndex};
use coldlink::load::{LoadOptions, load_json_lines, new_from_json_lines};
use coldlink::model::{Among, Model, Plan};
use coldlink::pipeline::{Settings, Training};
use coldlink::train::Silent;

use crate::folder;

/// As few as there can be for a split to have something of everything.
const NODES: u32 = 48;
/// So little that an index of few nodes is used.
const EFFORT: Effort = Effort { dense: 3, sparse: 3, similar: 3 };

/// A graph of two kinds of nodes, with columns of several kinds.
pub fn graph() -> Dataset {
    let (mut nodes, mut edges) = (String::new(), String::new());
    for node in 0..NODES {
        let (kind, other) = if node % 2 == 0 { ("user", "item") } else { ("item", "user") };
        // A column that one kind of nodes has.
        let price = if kind == "item" { format!("\"price\":{},", node % 9) } else { String::new() };
        nodes += &format!(
            "{{\"id\":\"n{node}\",\"node_type\":\"{kind}\",{price}\"x\":{},\"words\":\"a{}|b{}\",\"title\":\"{other} of the {} kind\"}}\n",
            node % 13,
            node % 7,
            node % 5,
            node % 3
        );
        for step in [1, 7, 21] {
            edges += &format!("{{\"source\":\"n{node}\",\"target\":\"n{}\"}}\n", (node + step) % NODES);
        }
    }
    let columns = toml::from_str("[columns]\nx = { kind = \"numeric\", scale = \"quantile\" }\n").expect("columns");
    let options = LoadOptions { columns, ..LoadOptions::default() };
    load_json_lines(nodes.into(), edges.into(), &options).expect("sound tables")
}

/// Trains a small model on it.
pub fn trained() -> Model {
    let dataset = graph();
    let settings = ["steps=5", "width=4", "hidden=[4]", "bias=true"];
    let config = Config::default().set_all(settings).expect("settings");
    Training::new(&dataset, &Settings::given(config), 1).run(&mut Silent).expect("a model")
}

/// A sound model with its index, in files.
pub struct Saved {
    /// Where the model lies.
    pub path: PathBuf,
    /// The model's file.
    pub model: Vec<u8>,
    /// The index's file.
    pub index: Vec<u8>,
}

impl Saved {
    /// Trains and saves it.
    pub fn make() -> Self {
        let (path, model) = (folder().join("sound.model"), trained());
        let beside = LinkIndex::path_of(&path);
        model.save(&path).expect("the folder can be written");
        let mut index = model.build_index();
        index.about.effort = EFFORT;
        index.save(&beside).expect("the folder can be written");
        let read = |path: &PathBuf| fs::read(path).expect("just written");
        Saved { model: read(&path), index: read(&beside), path }
    }
}

/// A new node in the columns of [`trained`].
const NEW: &str = "{\"id\":\"new\",\"node_type\":\"item\",\"price\":3,\"x\":2,\"words\":[\"a1\",\"c\"],\"title\":\"item of the 2 kind\"}\n";

/// Asks a model what it is made for.
pub fn use_model(model: &Model) {
    let width = model.loaded_width();
    let row = (0..width.min(3) as u32).map(|column| (column, 1.0)).collect();
    if let Ok(new) = Attributes::from_rows(width, &[row, vec![]]) {
        ask(model, &new);
    }
    if let Some(Ok(new)) = model.schema().map(|schema| new_from_json_lines(NEW.into(), schema, false)) {
        ask(model, &new.attributes);
        if let Ok(larger) = model.add(&new) {
            ask(&larger, &new.attributes);
        }
    }
    for node in 0..model.names().len() as u32 {
        black_box(model.names().get(node));
    }
    black_box(model.attribute_names());
    let _ = black_box(model.without_value("words", "a1"));
    let _ = black_box(model.node_type("user"));
}

fn ask(model: &Model, new: &Attributes) {
    let newcomers = model.encode(new);
    let (nodes, rows) = (model.embeddings().nodes() as u32, 0..new.rows());
    // For one link the index is used, for more every node is scored: there are few.
    for plan in [Plan::best(1), Plan { among: Among::Both, popularity: 0.5, ..Plan::best(5) }] {
        for (row, hits) in model.best_links(&newcomers, rows.clone(), plan).iter().enumerate() {
            for hit in hits {
                let other = if hit.node < nodes { End::Known(hit.node) } else { End::New(hit.node - nodes) };
                black_box(model.score_parts(new, &newcomers, row as u32, &[other]));
                black_box(model.probability(hit.score, model.base_rate()));
            }
        }
    }
}
