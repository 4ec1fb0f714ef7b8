//! What can be wrong with input files, where, and what to do about it.

mod arrays;
mod formats;
mod tables;

use std::io;
use std::path::{Path, PathBuf};

pub use arrays::ArrayProblem;
pub use formats::PpiProblem;
pub use tables::{LineProblem, TableProblem};

use super::limits::bytes_in_words;
use crate::columns::VectorsError;
use crate::hint::Hint;
use crate::storage::FileError;
use crate::text::{all_quoted, quoted};

/// Why a file could not be loaded or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A path leads nowhere.
    #[error("`{path}` does not exist", path = .path.display())]
    NotFound {
        /// What was asked for.
        path: PathBuf,
    },
    /// The system could not read a file.
    #[error("cannot read `{path}`", path = .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The system could not write a file.
    #[error("cannot write `{path}`", path = .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A device, which may never end.
    #[error("`{path}` is a device, not a file", path = .path.display())]
    Device {
        /// The device.
        path: PathBuf,
    },
    /// A pipe in the place of a file that is read more than once, or in parts.
    #[error("`{path}` is not a regular file", path = .path.display())]
    NotRegular {
        /// What was given.
        path: PathBuf,
    },
    /// A pipe that says more than is kept in memory.
    #[error("`{path}` is a pipe with more than {}", bytes_in_words(*.most), path = .path.display())]
    LongPipe {
        /// The pipe.
        path: PathBuf,
        /// Bytes that are kept.
        most: u64,
    },
    /// A packed file that is much larger once it is unpacked.
    #[error("`{path}` has {packed} bytes, but unpacks to more than {}", bytes_in_words(*.most), path = .path.display())]
    UnpacksTooFar {
        /// The file.
        path: PathBuf,
        /// Its size.
        packed: u64,
        /// Bytes that it may unpack to.
        most: u64,
    },
    /// A table of new nodes for a model without columns.
    #[error("`{path}` is a table, but the model was trained on numbered columns", path = .path.display())]
    NotArrays {
        /// The table.
        path: PathBuf,
    },
    /// A file is neither an archive, nor packed, nor a table.
    #[error("`{path}` is not in a format that coldlink reads", path = .path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// A folder lacks one of the two tables.
    #[error("`{folder}` has no table `{table}`", folder = .folder.display())]
    NoTable {
        /// The folder.
        folder: PathBuf,
        /// `edges` or `nodes`.
        table: &'static str,
    },
    /// A folder has a table twice, in two formats.
    #[error("`{folder}` has both `{first}` and `{second}`", folder = .folder.display())]
    TwoTables {
        /// The folder.
        folder: PathBuf,
        /// One file's name.
        first: String,
        /// The other's.
        second: String,
    },
    /// A table was given where a graph needs two.
    #[error("`{path}` is one table, but a graph needs two: nodes and edges", path = .path.display())]
    OneTable {
        /// The table.
        path: PathBuf,
    },
    /// Something is wrong with a table as a whole.
    #[error("`{path}`: {problem}", path = .path.display())]
    Table {
        /// The table.
        path: PathBuf,
        /// What is wrong.
        problem: TableProblem,
    },
    /// Something is wrong in one line of a table.
    #[error("`{path}` line {line}: {problem}", path = .path.display())]
    Line {
        /// The table.
        path: PathBuf,
        /// Counted from 1, the header included.
        line: u64,
        /// What is wrong.
        problem: LineProblem,
    },
    /// An `.npz` file is no zip archive that can be read.
    #[error("`{path}` is not a readable zip archive: {reason}", path = .path.display())]
    Archive {
        /// The file.
        path: PathBuf,
        /// What the archive's reader says.
        reason: String,
    },
    /// Something is wrong with one array of an `.npz` file.
    #[error("`{path}` array `{array}`: {problem}", path = .path.display())]
    Array {
        /// The file.
        path: PathBuf,
        /// The array.
        array: String,
        /// What is wrong.
        problem: ArrayProblem,
    },
    /// A file is no JSON, or not of the form that its role asks for.
    #[error("`{path}` line {line}, column {column}: {reason}", path = .path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// Bytes into the line, from 1; 0 where the line has not begun.
        column: usize,
        /// What the reader says.
        reason: String,
    },
    /// Something is wrong with a file of the PPI layout.
    #[error("`{path}`: {problem}", path = .path.display())]
    Ppi {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: PpiProblem,
    },
    /// Something is wrong with a packed file.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file in a format that was left out of this build.
    #[error("`{path}` needs the feature `{feature}`, which this coldlink was built without", path = .path.display())]
    MissingFeature {
        /// The file.
        path: PathBuf,
        /// What to build with.
        feature: &'static str,
    },
    /// A Parquet file that cannot be read.
    #[error("`{path}` is not a readable Parquet file: {reason}", path = .path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// What its reader says.
        reason: String,
    },
    /// A description of columns is invalid.
    #[error("`{path}`: {reason}", path = .path.display())]
    Schema {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Token vectors that a description of columns names cannot be used.
    #[error(transparent)]
    Vectors(#[from] VectorsError),
    /// There is no node.
    #[error("`{path}` has no nodes", path = .path.display())]
    NoNodes {
        /// The file.
        path: PathBuf,
    },
    /// There is nothing to tell nodes apart by.
    #[error("no column of `{path}` becomes an attribute", path = .path.display())]
    NoAttributes {
        /// The file.
        path: PathBuf,
    },
    /// There is no link.
    #[error("`{path}` has no links between different nodes", path = .path.display())]
    NoLinks {
        /// The file.
        path: PathBuf,
    },
    /// Something is said about a relation that links do not have.
    #[error("`{path}` has no relation `{}`{}", quoted(.relation), known_relations(.known), path = .path.display())]
    UnknownRelation {
        /// The file with the links.
        path: PathBuf,
        /// The relation.
        relation: String,
        /// Those there are; none where links have no names.
        known: Vec<String>,
    },
    /// New nodes do not have the columns that a model was trained with.
    #[error("`{path}` has {found} attribute columns, expected {expected}", path = .path.display())]
    Width {
        /// The file.
        path: PathBuf,
        /// Columns it should have.
        expected: usize,
        /// Columns it has.
        found: usize,
    },
}

impl LoadError {
    /// What the user can do about it, where that is known.
    pub fn hint(&self) -> Option<Hint> {
        Some(match self {
            LoadError::UnknownFormat { .. } => Hint::new(
                "a graph is an `.npz` file, a `.coldlink` file, or a folder with `edges.csv` and `nodes.csv` (or `.tsv`, `.jsonl`, `.parquet`)",
            ),
            LoadError::Device { .. } => Hint::new("give a file or a pipe"),
            LoadError::NotRegular { .. } => {
                Hint::new("write it to a file first | give tables, which may be pipes, with {edges} and {nodes}")
            }
            LoadError::LongPipe { .. } => Hint::new("write it to a file first"),
            LoadError::UnpacksTooFar { .. } => Hint::new("if you trust the file, unpack it first and give the result"),
            LoadError::NotArrays { .. } => Hint::new("give new nodes as an `.npz` file with the arrays `attr_*`"),
            LoadError::NoTable { table, .. } => Hint::text(format!(
                "name it `{table}.csv`, `{table}.tsv`, `{table}.jsonl` or `{table}.parquet`; text tables may end in `.gz` or `.zst`"
            )),
            LoadError::TwoTables { second, .. } => {
                Hint::text(format!("delete or rename `{second}` if it is out of date"))
            }
            LoadError::OneTable { path } => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
                Hint::text(format!("give the folder that holds both tables, such as `{}`", folder.display()))
                    .or("give each table with {edges} and {nodes}")
            }
            LoadError::Table { problem, .. } => return problem.hint(),
            LoadError::Line { problem, .. } => return problem.hint(),
            LoadError::Array { problem, array, .. } => return problem.hint(array),
            LoadError::Json { .. } => Hint::new(
                "save it with networkx's `node_link_data`: `nodes` with `id`, `links` with `source` and `target`",
            ),
            LoadError::Ppi { problem, path } => return problem.hint(path),
            LoadError::File(error) => return error.hint(),
            LoadError::MissingFeature { feature, .. } => {
                Hint::text(format!("build coldlink with the cargo feature `{feature}`"))
            }
            LoadError::Parquet { .. } => {
                Hint::new("write the file again; columns may hold text, numbers, dates and lists of these")
            }
            LoadError::Schema { .. } => Hint::new(
                "use only the column kinds `numeric`, `boolean`, `categorical`, `multi-valued`, `text`, `date-time`, `vector`, `type` and `ignore` | start from what {coldlink inspect} prints",
            ),
            LoadError::Vectors(error) => error.hint(),
            LoadError::Archive { .. } => Hint::new("save it again with `numpy.savez_compressed`"),
            LoadError::UnknownRelation { known, .. } if known.is_empty() => {
                Hint::new("name the column that says what links mean under `[edges]`: `relation = \"…\"`")
            }
            LoadError::UnknownRelation { .. } => Hint::new("correct the name under `[relations]`"),
            LoadError::Width { .. } => Hint::new("encode new nodes the way the graph's nodes were encoded"),
            LoadError::NoNodes { .. } | LoadError::NoAttributes { .. } | LoadError::NoLinks { .. } => {
                Hint::new("training needs nodes with attributes, and links between them")
            }
            LoadError::Read { source, .. } if is_damage(source) => Hint::new(DAMAGED),
            LoadError::NotFound { .. } | LoadError::Read { .. } | LoadError::Write { .. } => return None,
        })
    }
}

fn known_relations(known: &[String]) -> String {
    if known.is_empty() { ": its links have no relations".to_owned() } else { format!(", only {}", all_quoted(known)) }
}

const DAMAGED: &str = "the file is damaged; download or copy it again";

/// Whether an error comes from unzipping rather than from the system.
fn is_damage(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof)
}

/// An error of the reader of JSON, or of the system, while reading `path`.
pub(in crate::load) fn json_error(path: &Path, error: serde_json::Error) -> LoadError {
    if error.is_io() {
        return read_error(path, error.into());
    }
    let (line, column, text) = (error.line(), error.column(), error.to_string());
    let reason = text.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&text);
    // It may quote a text of the file, which may be long.
    LoadError::Json { path: path.to_owned(), line, column, reason: reason.chars().take(200).collect() }
}

/// An error of the system while reading `path`.
pub(in crate::load) fn read_error(path: &Path, source: io::Error) -> LoadError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::NotFound => LoadError::NotFound { path },
        _ => LoadError::Read { path, source },
    }
}
