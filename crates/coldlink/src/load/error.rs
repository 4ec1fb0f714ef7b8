//! What can be wrong with input files: where, what, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use crate::columns::CellProblem;
use crate::storage::FileError;

/// Why a file could not be loaded or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A path leads nowhere.
    #[error("there is no `{path}`", path = .path.display())]
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
    /// A file is neither an archive, nor packed, nor a table.
    #[error("`{path}` is in no format that coldlink knows", path = .path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// A file in a format that was left out of this build.
    #[error("`{path}` needs the feature `{feature}`, which this coldlink was built without", path = .path.display())]
    MissingFeature {
        /// The file.
        path: PathBuf,
        /// What to build with.
        feature: &'static str,
    },
    /// A folder lacks one of the two tables.
    #[error("`{folder}` has no `{table}.csv`", folder = .folder.display())]
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
    #[error("`{path}` is one table, and a graph needs two: edges and nodes", path = .path.display())]
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
    /// A Parquet file that cannot be read.
    #[error("`{path}` is not a readable Parquet file: {reason}", path = .path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// What its reader says.
        reason: String,
    },
    /// A description of columns makes no sense.
    #[error("`{path}`: {reason}", path = .path.display())]
    Schema {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// There is no node.
    #[error("`{path}` has no node", path = .path.display())]
    NoNodes {
        /// The file.
        path: PathBuf,
    },
    /// There is nothing to tell nodes apart by.
    #[error("`{path}` has no column that makes an attribute", path = .path.display())]
    NoAttributes {
        /// The file.
        path: PathBuf,
    },
    /// There is no link.
    #[error("`{path}` has no link between two different nodes", path = .path.display())]
    NoLinks {
        /// The file.
        path: PathBuf,
    },
    /// Strict input: links have a direction.
    #[error("`{path}`: links have a direction ({one_way} of {links} are given one way only)", path = .path.display())]
    Directed {
        /// The file.
        path: PathBuf,
        /// Links given in one direction.
        one_way: usize,
        /// All links.
        links: usize,
    },
    /// Strict input: links have weights.
    #[error("`{path}`: links have weights other than 0 and 1", path = .path.display())]
    Weighted {
        /// The file.
        path: PathBuf,
    },
    /// New nodes do not have the columns that a model was trained with.
    #[error("`{path}` has {found} attribute columns where {expected} are expected", path = .path.display())]
    Width {
        /// The file.
        path: PathBuf,
        /// Columns it should have.
        expected: usize,
        /// Columns it has.
        found: usize,
    },
}

/// What can be wrong with a table as a whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TableProblem {
    /// Nothing in it, not even a header.
    #[error("the file is empty")]
    Empty,
    /// The first line looks like data.
    #[error("the first line is no header: `{cell}` is a value")]
    NoHeader {
        /// The cell that gives it away.
        cell: String,
    },
    /// Two columns have one name.
    #[error("column `{column}` stands twice in the header")]
    RepeatedColumn {
        /// The name.
        column: String,
    },
    /// A column that must be there is not.
    #[error("there is no column `{column}`")]
    NoColumn {
        /// The name.
        column: String,
    },
    /// Strict input: columns other than those that were trained on.
    #[error("{}", other_columns(.missing, .extra))]
    OtherColumns {
        /// Columns that should be there.
        missing: Vec<String>,
        /// Columns that should not.
        extra: Vec<String>,
    },
    /// A table of pairs with more or fewer than two columns.
    #[error("a pair has two columns, and there are {columns}")]
    NotPairs {
        /// Columns there are.
        columns: usize,
    },
    /// An edge table with fewer than two columns.
    #[error("a link needs two columns, and there is {columns}")]
    TooFewColumns {
        /// Columns there are.
        columns: usize,
    },
}

/// What can be wrong in one line of a table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineProblem {
    /// More or fewer cells than the header.
    #[error("{found} cells, where the header has {expected}")]
    Ragged {
        /// Cells of the header.
        expected: usize,
        /// Cells of the line.
        found: usize,
    },
    /// Bytes that are no UTF-8.
    #[error("the text is not UTF-8")]
    NotUtf8,
    /// No JSON object.
    #[error("this is no JSON object: {reason}")]
    NotJson {
        /// What the reader says.
        reason: String,
    },
    /// Objects with ever other keys.
    #[error("more than {most} different keys up to here")]
    TooManyKeys {
        /// As many may be.
        most: usize,
    },
    /// An object or a list of lists in a cell.
    #[error("column `{column}` holds an object or a list of lists, which is no value of a cell")]
    Nested {
        /// The column.
        column: String,
    },
    /// A name is missing.
    #[error("column `{column}` is empty, where a node's name belongs")]
    NoName {
        /// The column of names.
        column: String,
    },
    /// Two rows for one node.
    #[error("node `{name}` has a row already, in line {first}")]
    RepeatedNode {
        /// The node.
        name: String,
        /// Where it stood first.
        first: u64,
    },
    /// A link to a node without a row.
    #[error("node `{name}` has a link but no row in `{nodes}`")]
    UnknownNode {
        /// The node.
        name: String,
        /// The node table's file name.
        nodes: String,
    },
    /// A pair whose first end is not among the new nodes.
    #[error("there is no new node `{name}`")]
    NotNew {
        /// The name.
        name: String,
    },
    /// A pair whose second end is neither in the graph nor among the new nodes.
    #[error("there is no node `{name}`")]
    NoSuchNode {
        /// The name.
        name: String,
    },
    /// A cell that cannot be used.
    #[error(transparent)]
    Cell(#[from] CellProblem),
    /// Something else in a column of numbers.
    #[error("column `{column}` is numeric, and `{cell}` is no number")]
    NotANumber {
        /// The column.
        column: String,
        /// The cell.
        cell: String,
    },
    /// NaN, infinite, or beyond 32-bit floating point, in a column of numbers.
    #[error("column `{column}` is numeric, and `{cell}` is not finite in 32 bits")]
    NotFinite {
        /// The column.
        column: String,
        /// The cell.
        cell: String,
    },
}

/// What can be wrong with an array.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ArrayProblem {
    /// It is not in the archive.
    #[error("it is missing")]
    Missing,
    /// It holds Python objects.
    #[error("it holds pickled Python objects")]
    Pickled,
    /// Its header cannot be read.
    #[error("its header is not that of a numpy array: {reason}")]
    Header {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Its numbers are of a kind that is not read.
    #[error("its type is `{dtype}`, where numbers are expected")]
    Type {
        /// The type, as numpy writes it.
        dtype: String,
    },
    /// The archive's data cannot be decompressed, or fails its checksum.
    #[error("its data is damaged: {reason}")]
    Damaged {
        /// What the archive's reader says.
        reason: String,
    },
    /// Less data than the shape claims, or more.
    #[error("its shape asks for {expected} bytes, and there are {found}")]
    Length {
        /// Bytes the shape asks for.
        expected: u64,
        /// Bytes that were found; reading stops one after the last that is expected.
        found: u64,
    },
    /// Its shape is not the one that its role asks for.
    #[error("its shape is {found:?}, where {expected} is expected")]
    Shape {
        /// What is expected, in words.
        expected: String,
        /// Its shape.
        found: Vec<usize>,
    },
    /// A number where a whole number must be.
    #[error("entry {entry} is {value}, where a whole number of 64 bits is expected")]
    NotWhole {
        /// Which entry, from 0.
        entry: usize,
        /// Its value.
        value: f64,
    },
    /// A number beyond what it may be.
    #[error("entry {entry} is {value}, which is not from 0 to {limit}")]
    OutOfRange {
        /// Which entry, from 0.
        entry: usize,
        /// Its value.
        value: i64,
        /// The largest it may be.
        limit: i64,
    },
    /// A number other than the only one it may be.
    #[error("entry {entry} is {value}, where {expected} is expected")]
    Unexpected {
        /// Which entry, from 0.
        entry: usize,
        /// Its value.
        value: i64,
        /// What it must be.
        expected: i64,
    },
    /// Row starts that fall.
    #[error("entry {entry} is smaller than the one before it, so a row would have fewer than no entries")]
    Falling {
        /// Which entry, from 0.
        entry: usize,
    },
    /// NaN, infinite, or beyond 32-bit floating point.
    #[error("entry {entry} is {value}, which is not finite in 32 bits")]
    NotFinite {
        /// Which entry, from 0.
        entry: usize,
        /// Its value.
        value: f64,
    },
}

/// What can be wrong with the files of the PPI layout.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PpiProblem {
    /// Something is wrong with an array.
    #[error("{0}")]
    Array(ArrayProblem),
    /// A node's id is not its position, so links could mean either.
    #[error("the node at position {position} has the id {id}")]
    NotItsPosition {
        /// Where it stands, from 0.
        position: usize,
        /// Its id.
        id: usize,
    },
    /// A link to a node that is not there.
    #[error("link {link} has an end {id}, where {last} is the last of {nodes} nodes", last = .nodes.saturating_sub(1))]
    UnknownNode {
        /// Which link, from 0.
        link: usize,
        /// The end.
        id: usize,
        /// How many nodes there are.
        nodes: usize,
    },
    /// No node is in the graph that is loaded.
    #[error("no node has graph id {expected}, only {found}", found = listed(.found))]
    NoSuchGraph {
        /// The graph.
        expected: i64,
        /// The graphs that nodes are in, sorted.
        found: Vec<i64>,
    },
}

impl LoadError {
    /// What the user can do about it, where that is known.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            LoadError::UnknownFormat { .. } => {
                "a graph is an `.npz` file, a `.coldlink` file, or a folder with `edges.csv` and `nodes.csv` (or `.tsv`, `.jsonl`)".into()
            }
            LoadError::MissingFeature { feature, .. } => format!("build coldlink with `--features {feature}`"),
            LoadError::NoTable { table, .. } => {
                format!("name it `{table}.csv`, `{table}.tsv` or `{table}.jsonl`, with or without `.gz` or `.zst`")
            }
            LoadError::TwoTables { second, .. } => format!("keep one of them; rename `{second}` if it is old"),
            LoadError::OneTable { path } => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
                format!("give the folder that holds both, `{}`, or each with `--edges` and `--nodes`", folder.display())
            }
            LoadError::Table { problem, .. } => return problem.hint(),
            LoadError::Line { problem, .. } => return problem.hint(),
            LoadError::Array { problem, array, .. } => return problem.hint(array),
            LoadError::Json { .. } => {
                "save it with networkx's `node_link_data`: `nodes` with `id`, `links` with `source` and `target`".into()
            }
            LoadError::Ppi { problem, path } => problem.hint(path),
            LoadError::File(error) => return error.hint(),
            LoadError::Parquet { .. } => "write it again; columns may be texts, numbers, dates and lists of these".into(),
            LoadError::Schema { .. } => {
                "`coldlink inspect GRAPH --schema` prints one; kinds are numeric, boolean, categorical, multi-valued, text, date-time, vector, type and ignore".into()
            }
            LoadError::Archive { .. } => "save it again with `numpy.savez_compressed`".into(),
            LoadError::Directed { .. } | LoadError::Weighted { .. } => {
                "leave out `--strict-input` to drop directions and weights".into()
            }
            LoadError::Width { .. } => "make the new nodes' attributes as those of the graph were made".into(),
            LoadError::NoNodes { .. } | LoadError::NoAttributes { .. } | LoadError::NoLinks { .. } => {
                "training needs nodes with attributes and links between them".into()
            }
            LoadError::Read { source, .. } if is_damage(source) => "the file is damaged; fetch it again".into(),
            LoadError::NotFound { .. } | LoadError::Read { .. } | LoadError::Write { .. } => return None,
        };
        Some(hint)
    }
}

impl TableProblem {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            TableProblem::Empty | TableProblem::NoHeader { .. } => {
                "begin with a line of column names, as `id,year,words` for nodes and `source,target` for links"
            }
            TableProblem::RepeatedColumn { .. } => "rename one of the two",
            TableProblem::NoColumn { .. } => "new nodes need the columns of the node table that was trained on",
            TableProblem::OtherColumns { .. } => {
                "leave out `--strict-input` to read missing columns as empty and leave others aside"
            }
            TableProblem::NotPairs { .. } => "give the columns `new,seen`: the new node, and the node of the graph",
            TableProblem::TooFewColumns { .. } => "separate cells with `,` in `.csv` and with a tab in `.tsv`",
        };
        Some(hint.into())
    }
}

impl LineProblem {
    pub(in crate::load) fn not_a_number((column, cell): (String, String)) -> Self {
        LineProblem::NotANumber { column, cell }
    }

    pub(in crate::load) fn not_finite((column, cell): (String, String)) -> Self {
        LineProblem::NotFinite { column, cell }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            LineProblem::Ragged { .. } => "quote cells that contain the separator",
            LineProblem::NotUtf8 => "save the table as UTF-8",
            LineProblem::NotJson { .. } => {
                "write one object on each line, as `{\"id\": \"a\", \"words\": [\"x\", \"y\"]}`"
            }
            LineProblem::TooManyKeys { .. } => "a key is a column; put words that differ from row to row into a list",
            LineProblem::Cell(CellProblem::TooManyAttributes { .. }) => {
                "set some columns to `ignore`, or lower their `buckets` and `limit`; `inspect --schema` prints them to edit"
            }
            LineProblem::Nested { .. } => "give each value a key of its own, or leave the key out",
            LineProblem::NoName { .. } => "give every node a name",
            LineProblem::RepeatedNode { .. } => "keep one of the two rows",
            LineProblem::UnknownNode { .. } => "add the row, or drop such links with `--unknown-nodes drop`",
            LineProblem::NotNew { .. } => "the first column names new nodes, the second nodes of the graph",
            LineProblem::NoSuchNode { .. } => "the second column names nodes of the graph, or other new nodes",
            LineProblem::Cell(CellProblem::Unreadable { .. }) => {
                "correct the cell or empty it, give the column another kind with `--columns`, or leave out `--strict-input`"
            }
            LineProblem::Cell(CellProblem::UnknownValue { .. }) => {
                "leave out `--strict-input` to count such values as `(other)` or nothing"
            }
            LineProblem::NotANumber { .. } | LineProblem::NotFinite { .. } => "leave the cell empty if it is not known",
        };
        Some(hint.into())
    }
}

impl ArrayProblem {
    fn hint(&self, array: &str) -> Option<String> {
        let hint = match self {
            ArrayProblem::Missing if array.starts_with("adj_") || array.starts_with("attr_") => {
                "a graph is stored as the CSR arrays `adj_*` and `attr_*` (data, indices, indptr, shape)".into()
            }
            ArrayProblem::Pickled => format!("store `{array}` as plain numbers; coldlink runs no code from files"),
            ArrayProblem::Damaged { .. } | ArrayProblem::Length { .. } => "the file is damaged; fetch it again".into(),
            ArrayProblem::NotFinite { .. } => "replace missing values by 0 or leave them out".into(),
            _ => return None,
        };
        Some(hint)
    }
}

impl PpiProblem {
    fn hint(&self, path: &Path) -> String {
        let file = || path.file_name().unwrap_or_default().to_string_lossy();
        match self {
            PpiProblem::Array(problem) => problem.hint(&file()).unwrap_or_else(|| {
                "`train_feats.npy` has a row of numbers for each node, `train_graph_id.npy` a whole number".into()
            }),
            PpiProblem::NotItsPosition { .. } => "number the nodes 0, 1, 2, … as they stand in the file".into(),
            PpiProblem::UnknownNode { .. } => "add the node, or drop such links with `--unknown-nodes drop`".into(),
            PpiProblem::NoSuchGraph { expected, .. } => {
                format!("give the nodes to load graph id {expected}; other graphs are left aside")
            }
        }
    }
}

fn other_columns(missing: &[String], extra: &[String]) -> String {
    let list = |names: &[String]| format!("`{}`", names.join("`, `"));
    match (missing.is_empty(), extra.is_empty()) {
        (false, true) => format!("there is no column {}", list(missing)),
        (true, _) => format!("the model knows no column {}", list(extra)),
        (false, false) => {
            format!("there is no column {}, and the model knows no column {}", list(missing), list(extra))
        }
    }
}

/// Whether an error comes from unzipping rather than from the system.
fn is_damage(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof)
}

/// Numbers in words, as many as fit in a line.
fn listed(numbers: &[i64]) -> String {
    const MOST: usize = 24;
    let shown: Vec<String> = numbers.iter().take(MOST).map(i64::to_string).collect();
    shown.join(", ") + if numbers.len() > MOST { ", …" } else { "" }
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
