//! From files to a [`Dataset`]: one file per format.
//!
//! [`load`] recognises the format. `.npz` is in `npz.rs` (its arrays in `npy.rs`), two tables in `tables.rs` (row by row
//! in `rows.rs`, what columns are in `survey.rs` and `columns.rs`, from cells to attributes in `encode.rs` and `schema.rs`), GraphSAGE's PPI layout in `ppi.rs`, and the packed
//! file in `packed.rs`.

mod beside;
mod cells;
mod columns;
mod encode;
mod error;
mod json_lines;
mod map;
mod nodes;
mod npy;
mod npz;
mod packed;
mod pairs;
mod parquet;
mod ppi;
mod rows;
mod schema;
mod surprises;
mod survey;
mod tables;
mod times;
mod words;

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

pub use beside::write_beside;
pub use columns::{ColumnKind, Columns, EdgeColumns, Scale, StopWords, WordWeights};
pub use error::{ArrayProblem, LineProblem, LoadError, PackedProblem, PpiProblem, TableProblem};
pub use map::Map;
pub use npy::write_npy_f32;
pub use npz::{NpzFile, is_npz, load_new_npz};
pub use packed::{open_packed, write_packed};
pub use pairs::{End, load_excluded, load_pairs};
pub use schema::{Column, Schema, Values};
pub use surprises::Surprises;
pub use tables::{load_json_lines, load_new, load_tables, new_from_json_lines};

use crate::graph::{Attributes, Dataset, Graph, Names, Notes};
use error::read_error;

/// What is done with input that is not quite a plain graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// Refuse links with directions or weights, and cells that cannot be read, instead of dropping these.
    pub strict_input: bool,
    /// What the columns of a node table are, as far as that is not to be found out.
    pub columns: Columns,
    /// What is done with links of nodes that have no row.
    pub unknown_nodes: UnknownNodes,
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
    /// Whether a graph of `path` can be worked with, and is as plain as was asked for.
    fn check(&self, path: &Path, graph: &Graph, notes: &Notes) -> Result<(), LoadError> {
        let path = || path.to_owned();
        let links = graph.links();
        if links == 0 {
            return Err(LoadError::NoLinks { path: path() });
        }
        if self.strict_input && notes.directed {
            let one_way = links.saturating_sub(notes.tidied.reciprocal);
            return Err(LoadError::Directed { path: path(), one_way, links });
        }
        if self.strict_input && notes.weighted {
            return Err(LoadError::Weighted { path: path() });
        }
        Ok(())
    }
}

/// Nodes that are not in the graph: what predictions are asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct NewNodes {
    /// Their names.
    pub names: Names,
    /// Their attributes, in the columns of the graph's.
    pub attributes: Attributes,
    /// What was not expected in their rows.
    pub surprises: Surprises,
}

impl NewNodes {
    /// What the user should know about them, a line each.
    pub fn notes(&self) -> Vec<String> {
        self.surprises.notes()
    }
}

/// Loads a graph: an `.npz` file, a packed file, a folder with `edges` and `nodes` as `.csv`, `.tsv` or `.jsonl`, or one with
/// `train_graph.json` (GraphSAGE's PPI layout, of which graph 1 is loaded).
pub fn load(path: &Path, options: &LoadOptions) -> Result<Dataset, LoadError> {
    let about = fs::metadata(path).map_err(|source| read_error(path, source))?;
    if about.is_dir() && path.join(ppi::GRAPH).is_file() {
        return ppi::load_folder(path, options);
    }
    if about.is_dir() {
        return tables::load_folder(path, options);
    }
    match Format::of(path)? {
        Format::Archive => npz::load_sparse_graph(path, options),
        Format::Packed => {
            let dataset = open_packed(path)?;
            options.check(path, &dataset.graph, &dataset.notes)?;
            Ok(dataset)
        }
        Format::Table => Err(LoadError::OneTable { path: path.to_owned() }),
        Format::Unknown => Err(LoadError::UnknownFormat { path: path.to_owned() }),
    }
}

enum Format {
    Archive,
    Packed,
    Table,
    Unknown,
}

impl Format {
    /// By its first bytes, whatever it is called; by its ending where these say nothing.
    fn of(path: &Path) -> Result<Self, LoadError> {
        let mut start = Vec::new();
        let read = File::open(path).and_then(|file| file.take(8).read_to_end(&mut start));
        read.map_err(|source| read_error(path, source))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        Ok(if start == packed::MAGIC || ends(&[".coldlink"]) {
            Format::Packed
        } else if start.starts_with(b"PK") || ends(&[".npz"]) {
            Format::Archive
        } else if rows::is_table(&name) {
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
