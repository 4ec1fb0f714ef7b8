//! What commands read: graphs, models and new nodes; and the notes about them.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use coldlink::columns::Columns;
use coldlink::dataset::{Dataset, NewNodes};
use coldlink::load::{LoadOptions, UnknownNodes, is_npz, load, load_new, load_new_npz, load_tables, read_columns};
use coldlink::model::Model;

use crate::commands::Common;
use crate::failure::Failure;
use crate::files::Files;
use crate::tables::count;

/// A graph, in one piece or in two tables.
#[derive(Args)]
pub struct GraphArgs {
    /// Graph: a folder with nodes.csv and edges.csv, an .npz file, or a .coldlink file
    #[arg(required_unless_present_all = ["nodes", "edges"])]
    graph: Option<PathBuf>,
    #[command(flatten)]
    options: GraphOptions,
}

/// How a graph is read.
#[derive(Args)]
#[command(next_help_heading = "Reading the graph")]
pub struct GraphOptions {
    /// Table of nodes, if it is not in one folder with the links
    #[arg(long, value_name = "FILE", requires = "edges", conflicts_with = "graph")]
    nodes: Option<PathBuf>,
    /// Table of links
    #[arg(long, value_name = "FILE", requires = "nodes", conflicts_with = "graph")]
    edges: Option<PathBuf>,
    /// Refuse links with weights and unreadable cells instead of dropping these
    #[arg(long)]
    strict_input: bool,
    /// Column kinds, as `coldlink inspect GRAPH --schema` prints them
    #[arg(long, value_name = "FILE")]
    columns: Option<PathBuf>,
    /// Links of nodes without a row
    #[arg(long, value_name = "WHAT", default_value = "refuse")]
    unknown_nodes: Unknown,
    /// Links run from a source to a target [default: found out from the links]
    #[arg(long, conflicts_with = "undirected")]
    directed: bool,
    /// Links have no direction
    #[arg(long)]
    undirected: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Unknown {
    /// Stop with an error that names the line
    Refuse,
    /// Drop such links
    Drop,
}

impl GraphArgs {
    /// Loads the graph and reports what was ignored.
    pub fn load(&self, common: &Common) -> anyhow::Result<Dataset> {
        let dataset = self.load_silently()?;
        if !common.quiet {
            dataset.notes_in_words().iter().for_each(|note| eprintln!("note: {note}"));
        }
        Ok(dataset)
    }

    /// Loads the graph.
    pub fn load_silently(&self) -> anyhow::Result<Dataset> {
        let GraphOptions { nodes, edges, strict_input, unknown_nodes, .. } = &self.options;
        let unknown_nodes = match unknown_nodes {
            Unknown::Refuse => UnknownNodes::Refuse,
            Unknown::Drop => UnknownNodes::Drop,
        };
        let directed = match (self.options.directed, self.options.undirected) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        let options = LoadOptions { strict_input: *strict_input, columns: self.columns()?, unknown_nodes, directed };
        let loaded = match (&self.graph, nodes, edges) {
            (Some(graph), ..) => load(graph, &options),
            (None, Some(nodes), Some(edges)) => load_tables(edges, nodes, &options),
            (None, ..) => return Err(Failure::new("no graph given").into()),
        };
        loaded.with_context(|| format!("cannot load `{}`", self.path().display()))
    }

    /// What is said of columns.
    pub fn columns(&self) -> anyhow::Result<Columns> {
        match &self.options.columns {
            Some(path) => read_columns(path).with_context(|| format!("cannot use `{}`", path.display())),
            None => Ok(Columns::default()),
        }
    }

    /// Where the graph is; of two tables, where the links are.
    pub fn path(&self) -> &Path {
        self.graph.as_deref().or(self.options.edges.as_deref()).unwrap_or(Path::new(""))
    }

    /// All files it is read from.
    pub fn files(&self, files: Files) -> Files {
        let GraphOptions { nodes, edges, columns, .. } = &self.options;
        let files = self.graph.iter().fold(files, |files, graph| files.reads_graph(graph));
        files.reads_any([nodes, edges, columns].into_iter().flatten())
    }
}

/// Opens a model.
pub fn open_model(path: &Path) -> anyhow::Result<Model> {
    refuse_folder(path, "name a model file, as `coldlink train` writes it")?;
    Ok(Model::open(path)?)
}

/// Opens a model with the index beside it, and reports an index that cannot be used.
pub fn open_indexed_model(path: &Path, common: &Common) -> anyhow::Result<Model> {
    refuse_folder(path, "name a model file, as `coldlink train` writes it")?;
    let (model, problem) = Model::open_indexed(path)?;
    if let Some(problem) = problem.filter(|_| !common.quiet) {
        let again = format!("`coldlink index {}` builds it again", path.display());
        eprintln!("note: {:#}; scoring every node instead ({again})", anyhow::Error::from(problem));
    }
    Ok(model)
}

/// Loads new nodes, and reports what the model cannot use of them.
pub fn load_new_nodes(path: &Path, model: &Model, strict: bool, common: &Common) -> anyhow::Result<NewNodes> {
    refuse_folder(path, "give new nodes as one table or `.npz` file")?;
    let loaded = match model.schema() {
        _ if is_npz(path) => load_new_npz(path, model.loaded_width()),
        Some(schema) => load_new(path, schema, strict),
        None => {
            let failure =
                Failure::new(format!("`{}` is a table, but the model was trained on numbered columns", path.display()));
            return Err(failure.hint("give new nodes as an `.npz` file with the arrays `attr_*`").into());
        }
    };
    let new = loaded.with_context(|| format!("cannot load `{}`", path.display()))?;
    if !common.quiet {
        let empty = empty_rows(&new.attributes);
        new.notes().iter().for_each(|note| eprintln!("note: {note}"));
        if empty > 0 {
            let nodes = count(empty, "new node");
            let scores = if model.gives_probabilities() { "popularity alone decides" } else { "all scores are 0" };
            eprintln!("note: {nodes} without any attribute that the model knows: {scores}");
        }
    }
    Ok(new)
}

fn refuse_folder(path: &Path, hint: &str) -> anyhow::Result<()> {
    if path.is_dir() {
        return Err(Failure::new(format!("`{}` is a folder", path.display())).hint(hint).into());
    }
    Ok(())
}

/// Rows without any attribute.
pub fn empty_rows(attributes: &coldlink::graph::Attributes) -> usize {
    attributes.empty_rows()
}
