//! What commands read: graphs, models and new nodes; and the notes about them.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use coldlink::columns::Columns;
use coldlink::dataset::{Dataset, NewNodes};
use coldlink::load::{Expected, Limits, LoadOptions, UnknownNodes, load, load_new_file, load_tables, read_columns};
use coldlink::model::Model;

use crate::commands::Common;
use crate::failure::Failure;
use crate::files::Files;
use crate::output::note;
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
    /// Refuse cells that cannot be read instead of dropping these
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
    #[command(flatten)]
    limits: LimitArgs,
}

/// How much input may ask for.
#[derive(Args, Default)]
pub struct LimitArgs {
    /// Longest cell of a table, as 16M; a line may be four times as long [default: 16M]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_cell: Option<usize>,
}

impl LimitArgs {
    /// The usual limits, and what is said.
    pub fn limits(&self) -> Limits {
        self.max_cell.map_or(Limits::default(), |bytes| Limits::default().with_cell(bytes))
    }
}

/// A number of bytes, or of units of 1024 of them.
fn size(text: &str) -> Result<usize, String> {
    let (number, unit) = match text.trim_end_matches(['b', 'B']).trim_end_matches(['i', 'I']) {
        text if text.ends_with(['k', 'K']) => (&text[..text.len() - 1], 1 << 10),
        text if text.ends_with(['m', 'M']) => (&text[..text.len() - 1], 1 << 20),
        text if text.ends_with(['g', 'G']) => (&text[..text.len() - 1], 1 << 30),
        text => (text, 1),
    };
    let bytes = number.trim().parse::<usize>().ok().and_then(|number| number.checked_mul(unit));
    bytes.filter(|&bytes| bytes > 0).ok_or_else(|| "must be a size, as 500000, 64K or 16M".to_owned())
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
            dataset.notes_in_words().iter().for_each(note);
        }
        Ok(dataset)
    }

    /// Loads the graph.
    pub fn load_silently(&self) -> anyhow::Result<Dataset> {
        let GraphOptions { nodes, edges, strict_input, unknown_nodes, limits, .. } = &self.options;
        let unknown_nodes = match unknown_nodes {
            Unknown::Refuse => UnknownNodes::Refuse,
            Unknown::Drop => UnknownNodes::Drop,
        };
        let directed = match (self.options.directed, self.options.undirected) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        let (strict_input, columns, limits) = (*strict_input, self.columns()?, limits.limits());
        let options = LoadOptions { strict_input, columns, unknown_nodes, directed, limits };
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
        let files = columns.iter().fold(files, |files, columns| files.reads_columns(columns));
        files.reads_any([nodes, edges].into_iter().flatten())
    }
}

/// How new nodes are read.
#[derive(Args, Default)]
pub struct NewOptions {
    /// Refuse rows with other columns, unknown values or unreadable cells instead of counting them
    #[arg(long)]
    pub strict_input: bool,
    #[command(flatten)]
    pub limits: LimitArgs,
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
        note(format!("{:#}; scoring every node instead ({again})", anyhow::Error::from(problem)));
    }
    Ok(model)
}

/// Loads new nodes, and reports what the model cannot use of them.
pub fn load_new_nodes(path: &Path, model: &Model, how: &NewOptions, common: &Common) -> anyhow::Result<NewNodes> {
    refuse_folder(path, "give new nodes as one table or `.npz` file")?;
    let expected = Expected {
        schema: model.schema(),
        width: model.loaded_width(),
        strict_input: how.strict_input,
        limits: how.limits.limits(),
    };
    let new = load_new_file(path, &expected).with_context(|| format!("cannot load `{}`", path.display()))?;
    if !common.quiet {
        let empty = empty_rows(&new.attributes);
        new.notes().iter().for_each(note);
        if empty > 0 {
            let nodes = count(empty, "new node");
            let scores = if model.gives_probabilities() { "popularity alone decides" } else { "all scores are 0" };
            note(format!("{nodes} without any attribute that the model knows: {scores}"));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_a_number_with_or_without_a_unit() {
        for (text, bytes) in [("500", 500), ("64K", 64 << 10), ("16M", 16 << 20), ("1GiB", 1 << 30), ("2 mb", 2 << 20)]
        {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "0", "-1", "M", "1T", "99999999999G"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
