//! From files to a [`Dataset`]: one file per format.
//!
//! [`load`] recognises the format. `formats/` has those that hold a whole graph in one file or folder, `tables/` a graph as a
//! table of nodes and one of links, whatever the files of the tables are.

mod direction;
mod error;
mod files;
mod formats;
mod input;
mod limits;
mod new;
mod tables;

use std::fs;
use std::path::Path;

pub use direction::{BuiltLinks, GivenLinks};
pub use error::{ArrayProblem, LineProblem, LoadError, PpiProblem, TableProblem};
pub use files::{files_of, files_of_columns};
pub use formats::{NpzFile, load_new_npz, open_packed, write_npy_f32, write_packed};
pub use limits::Limits;
pub use new::{Expected, load_new_file};
pub use tables::{
    Objects, ScoreKind, ScoreRow, ScoreTable, Table, load_given_links, load_held_out_links, load_in_memory,
    load_json_lines, load_names, load_new, load_pairs, load_scores, load_tables, new_from_json_lines, new_nodes,
    scores_in_memory,
};

use crate::columns::Columns;
use crate::dataset::Dataset;
use crate::graph::Graph;
use crate::storage::{START_BYTES, format_of, read_short};
use error::read_error;
use input::Input;

/// What is done with input that is not quite a plain graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// Refuse cells that cannot be read, instead of dropping these.
    pub strict_input: bool,
    /// What the columns of a node table are, as far as that is not to be found out.
    pub columns: Columns,
    /// What is done with links of nodes that have no row.
    pub unknown_nodes: UnknownNodes,
    /// Whether links have a direction; found out unless given.
    pub directed: Option<bool>,
    /// How much the files may ask for.
    pub limits: Limits,
}

/// What is done with links of nodes that have no row in the node table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnknownNodes {
    /// An error, with the line.
    #[default]
    Refuse,
    /// Such links are left out and counted.
    Drop,
}

impl LoadOptions {
    /// Whether a graph of `path` can be worked with.
    fn check(&self, path: &Path, graph: &Graph) -> Result<(), LoadError> {
        if graph.links() == 0 { Err(LoadError::NoLinks { path: path.to_owned() }) } else { Ok(()) }
    }

    /// Whether links have the relations that users say something about; without names they are one relation.
    fn check_relations(&self, path: &Path, known: &[String]) -> Result<(), LoadError> {
        let is_known = |name: &String| known.contains(name) || known.is_empty() && name.is_empty();
        match self.columns.relations.keys().find(|name| !is_known(name)) {
            Some(name) => {
                let (path, relation, known) = (path.to_owned(), name.clone(), known.to_vec());
                Err(LoadError::UnknownRelation { path, relation, known })
            }
            None => Ok(()),
        }
    }

    /// What users say about the direction of a relation.
    fn is_directed(&self, relation: &str) -> Option<bool> {
        let said = self.columns.relations.get(relation).map(|options| options.directed);
        said.or(self.directed)
    }
}

/// Reads what users say about their columns from a TOML file, and opens the token vectors that it names.
pub fn read_columns(path: &Path) -> Result<Columns, LoadError> {
    let text = read_short(path).map_err(|source| read_error(path, source))?;
    let columns = Columns::parse(&text).map_err(|reason| LoadError::Schema { path: path.to_owned(), reason })?;
    Ok(columns.with_vectors(path.parent().unwrap_or(Path::new("")))?)
}

/// Loads a graph: an `.npz` file, a packed file, a folder with `edges` and `nodes` as `.csv`, `.tsv` or `.jsonl`, or one with
/// `train_graph.json` (GraphSAGE's PPI layout, of which graph 1 is loaded).
pub fn load(path: &Path, options: &LoadOptions) -> Result<Dataset, LoadError> {
    let about = fs::metadata(path).map_err(|source| read_error(path, source))?;
    if about.is_dir() && path.join(formats::PPI_GRAPH).is_file() {
        return formats::load_ppi(path, options);
    }
    if about.is_dir() {
        return tables::load_folder(path, options);
    }
    if !about.is_file() {
        return Err(LoadError::NotRegular { path: path.to_owned() });
    }
    match Format::of(&Input::open(path, &options.limits)?)? {
        Format::Archive => formats::load_sparse_graph(path, options),
        // Of another format than a graph, it says so when it is opened.
        Format::Ours => {
            let dataset = open_packed(path)?;
            options.check(path, &dataset.graph)?;
            Ok(dataset)
        }
        Format::Table => Err(LoadError::OneTable { path: path.to_owned() }),
        Format::Unknown => Err(LoadError::UnknownFormat { path: path.to_owned() }),
    }
}

enum Format {
    Archive,
    Ours,
    Table,
    Unknown,
}

impl Format {
    /// By its first bytes, whatever it is called; by its ending where these say nothing.
    fn of(input: &Input) -> Result<Self, LoadError> {
        let start = input.start(START_BYTES)?;
        let name = input.path().file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        Ok(if format_of(&start).is_some() || ends(&[".coldlink"]) {
            Format::Ours
        } else if start.starts_with(b"PK") || ends(&[".npz"]) {
            Format::Archive
        } else if tables::is_table(&name) {
            Format::Table
        } else {
            Format::Unknown
        })
    }
}

/// What a dataset is called in reports: the file's or folder's name without its endings.
fn name_of(path: &Path) -> String {
    let full = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let name = full.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let endings = [".gz", ".zst", ".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".npz", ".coldlink"];
    endings.iter().fold(name.as_str(), |name, ending| name.strip_suffix(ending).unwrap_or(name)).to_owned()
}
