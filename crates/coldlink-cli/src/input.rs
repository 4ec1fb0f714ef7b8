//! What commands read: graphs, models and new nodes; and what is told about them.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use coldlink::columns::Columns;
use coldlink::dataset::{Dataset, NewNodes};
use coldlink::load::{LoadOptions, UnknownNodes, is_npz, load, load_new, load_new_npz, load_tables, read_columns};
use coldlink::model::Model;

use crate::commands::Common;
use crate::failure::Failure;
use crate::tables::{count, percent};

/// An attribute that makes up more of all rows' squared length than this leaves nothing to the others.
const DOMINATING: f64 = 0.9;

/// A graph, in one piece or in two tables.
#[derive(Args)]
pub struct GraphArgs {
    /// The graph: a folder with nodes.csv and edges.csv, an .npz file, or a .coldlink file
    #[arg(required_unless_present_all = ["nodes", "edges"])]
    graph: Option<PathBuf>,
    #[command(flatten)]
    options: GraphOptions,
}

/// How a graph is read.
#[derive(Args)]
#[command(next_help_heading = "Reading the graph")]
pub struct GraphOptions {
    /// The table of nodes, where it is not in a folder with the links
    #[arg(long, value_name = "FILE", requires = "edges", conflicts_with = "graph")]
    nodes: Option<PathBuf>,
    /// The table of links
    #[arg(long, value_name = "FILE", requires = "nodes", conflicts_with = "graph")]
    edges: Option<PathBuf>,
    /// Refuse links with directions or weights, and cells that cannot be read, instead of dropping these
    #[arg(long)]
    strict_input: bool,
    /// What the columns of the tables are, as `coldlink inspect GRAPH --schema` prints it
    #[arg(long, value_name = "FILE")]
    columns: Option<PathBuf>,
    /// What to do with links of nodes that have no row
    #[arg(long, value_name = "WHAT", default_value = "refuse")]
    unknown_nodes: Unknown,
}

#[derive(Clone, Copy, ValueEnum)]
enum Unknown {
    /// Stop with an error that names the line
    Refuse,
    /// Leave such links out
    Drop,
}

impl GraphArgs {
    /// Loads the graph and tells what was left out.
    pub fn load(&self, common: &Common) -> anyhow::Result<Dataset> {
        let dataset = self.load_silently()?;
        if !common.quiet {
            notes(&dataset).iter().for_each(|note| eprintln!("note: {note}"));
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
        let options = LoadOptions { strict_input: *strict_input, columns: self.columns()?, unknown_nodes };
        let loaded = match (&self.graph, nodes, edges) {
            (Some(graph), ..) => load(graph, &options),
            (None, Some(nodes), Some(edges)) => load_tables(edges, nodes, &options),
            (None, ..) => return Err(Failure::new("there is no graph to load").into()),
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

    /// All files and folders it is read from.
    pub fn paths(&self) -> Vec<&Path> {
        let paths = [&self.graph, &self.options.nodes, &self.options.edges];
        paths.into_iter().flatten().map(PathBuf::as_path).collect()
    }
}

/// What the user should know about a graph that was loaded, a line each.
pub fn notes(dataset: &Dataset) -> Vec<String> {
    let notes = &dataset.notes;
    let mut lines = Vec::new();
    let mut left_out = |number: usize, what: &str, which: &str| {
        if number > 0 {
            lines.push(format!("left out {}{which}", count(number, what)));
        }
    };
    left_out(notes.cleaned.self_loops, "self-loop", "");
    left_out(notes.cleaned.duplicates, "repeated link", "");
    left_out(notes.unknown_ends, "link", " of nodes without a row");
    if notes.directed {
        lines.push("links have a direction, which is dropped (`--strict-input` refuses instead)".to_owned());
    }
    if notes.weighted {
        lines.push("links have weights, which are ignored (`--strict-input` refuses instead)".to_owned());
    }
    if !notes.ignored_columns.is_empty() {
        let (s, make) = if notes.ignored_columns.len() == 1 { ("", "makes") } else { ("s", "make") };
        let names = notes.ignored_columns.join("`, `");
        lines
            .push(format!("column{s} `{names}` {make} no attribute: empty, or nearly every row has a text of its own"));
    }
    lines.extend(notes.cells.iter().cloned());
    lines.extend(dominating_attribute(dataset));
    lines
}

/// Numbers far larger than all others, as years beside words, leave those no say.
fn dominating_attribute(dataset: &Dataset) -> Option<String> {
    let attributes = &dataset.attributes;
    if !attributes.blocks().is_empty() {
        return None;
    }
    let mut squares = vec![0.0_f64; attributes.width()];
    for (&column, &value) in attributes.columns().iter().zip(attributes.values()) {
        squares[column as usize] += f64::from(value).powi(2);
    }
    let total: f64 = squares.iter().sum();
    let (column, largest) = squares.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let share = largest / total;
    if attributes.width() < 2 || share.is_nan() || share < DOMINATING {
        return None;
    }
    let name = attributes.names().0.get(column).map_or_else(|| column.to_string(), |name| format!("`{name}`"));
    let why = format!("attribute {name} makes up {} of all attributes' squared size", percent(share));
    Some(format!("{why} and outweighs the others; scale it to about 0 to 1, or leave it out"))
}

/// Opens a model.
pub fn open_model(path: &Path) -> anyhow::Result<Model> {
    refuse_folder(path, "a model is a file that `coldlink train` writes")?;
    Ok(Model::open(path)?)
}

/// Opens a model with the index beside it, and tells where there is one that cannot be used.
pub fn open_indexed_model(path: &Path, common: &Common) -> anyhow::Result<Model> {
    refuse_folder(path, "a model is a file that `coldlink train` writes")?;
    let (model, problem) = Model::open_indexed(path)?;
    if let Some(problem) = problem.filter(|_| !common.quiet) {
        let again = format!("`coldlink index {}` makes it anew", path.display());
        eprintln!("note: {:#}, and every node is scored; {again}", anyhow::Error::from(problem));
    }
    Ok(model)
}

/// Loads nodes that are not in the graph, and tells what the model cannot use of them.
pub fn load_new_nodes(path: &Path, model: &Model, strict: bool, common: &Common) -> anyhow::Result<NewNodes> {
    refuse_folder(path, "new nodes are one table, or an .npz file")?;
    let loaded = match &model.schema {
        _ if is_npz(path) => load_new_npz(path, model.loaded_width()),
        Some(schema) => load_new(path, schema, strict),
        None => {
            let failure =
                Failure::new(format!("`{}` is a table, but the model knows columns by number only", path.display()));
            return Err(failure
                .hint("it was trained on an .npz file: give new nodes as an .npz file with attr_* arrays")
                .into());
        }
    };
    let new = loaded.with_context(|| format!("cannot load `{}`", path.display()))?;
    if !common.quiet {
        let empty = empty_rows(&new.attributes);
        new.notes().iter().for_each(|note| eprintln!("note: {note}"));
        if empty > 0 {
            let nodes = count(empty, "new node");
            let known =
                if model.memory.is_some() { "only which nodes have many links" } else { "nothing but scores of 0" };
            eprintln!("note: {nodes} without any attribute that the model knows: {known}");
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
