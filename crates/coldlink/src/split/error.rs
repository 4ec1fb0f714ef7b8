//! What can go wrong while a split is made, written or read.

use std::io;
use std::path::PathBuf;

use crate::config::Validation;
use crate::hint::Hint;
use crate::load::LoadError;
use crate::text::{all_quoted, quoted};

/// Why there is no split.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SplitError {
    /// The dataset's two halves disagree.
    #[error("there are {rows} rows of attributes but {nodes} nodes")]
    AttributeRows {
        /// Rows of attributes.
        rows: usize,
        /// Nodes of the graph.
        nodes: usize,
    },
    /// The nodes and their names disagree.
    #[error("there are {names} names but {nodes} nodes")]
    NameCount {
        /// Names of nodes.
        names: usize,
        /// Nodes of the graph.
        nodes: usize,
    },
    /// A protocol of undirected graphs.
    #[error("the protocol `deal2020` is for graphs without relations and directions")]
    UndirectedProtocol,
    /// A split in arrays of a graph with directions.
    #[error("a split in an `.npz` file holds neither relations nor directions, which this graph has")]
    ArraysArePlain,
    /// There is nothing to split.
    #[error("a graph of {nodes} nodes and {links} links is too small to split")]
    TooSmall {
        /// Nodes of the graph.
        nodes: usize,
        /// Links of the graph.
        links: usize,
    },
    /// No value is shared by enough nodes.
    #[error("no attribute is left: every value is too rare, or the same for all nodes")]
    NoAttributes,
    /// It is not known when nodes came to be.
    #[error("{}", no_times(.columns))]
    NoTimes {
        /// Columns of dates, none or several.
        columns: Vec<String>,
    },
    /// A column that has no times.
    #[error("there is no date or numeric column `{}`", quoted(.column))]
    NotATime {
        /// The column.
        column: String,
    },
    /// No number of links that test nodes may keep.
    #[error("protocol `{}`: a test node keeps 1 to {most} links", quoted(.protocol))]
    GivenCount {
        /// As it was asked for.
        protocol: String,
        /// The limit.
        most: usize,
    },
    /// Links have no times.
    #[error("links have no times to tell later ones by")]
    NoLinkTimes,
    /// All came at once.
    #[error("no {what} appears later than all others")]
    NothingLater {
        /// `node` or `link`.
        what: &'static str,
    },
    /// A protocol goes with one validation rule only.
    #[error("protocol `{protocol}` validates on `{forced}`, not on `{asked}`")]
    ValidationForced {
        /// The protocol.
        protocol: String,
        /// The rule that was asked for.
        asked: Validation,
        /// The rule it goes with.
        forced: Validation,
    },
    /// No such protocol, and no such file or folder.
    #[error("`{name}` is neither a protocol nor a split")]
    UnknownProtocol {
        /// As it was given.
        name: String,
    },
    /// Nothing can be tested.
    #[error("no link is left to test on (hidden nodes: {hidden})")]
    NoTestLinks {
        /// Nodes drawn for the test.
        hidden: usize,
    },
    /// Nothing could be held back to select on.
    #[error("no link can be held out for validation on `{rule}`")]
    NoValidationLinks {
        /// The rule.
        rule: Validation,
    },
    /// All pairs that could be negatives are linked.
    #[error("no unlinked pair is left for the {set} set")]
    NoUnlinkedPairs {
        /// The set that needs one.
        set: &'static str,
    },
    /// All links are held back.
    #[error("the {set} set leaves no link to train on")]
    NothingToTrainOn {
        /// The set that took the last one.
        set: &'static str,
    },
    /// A file or folder could not be read or written.
    #[error("cannot {action} `{path}`")]
    Io {
        /// What was tried: "read" or "write".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A folder that is no split is neither read as one nor overwritten.
    #[error("`{path}` is not a split that coldlink wrote")]
    NotASplit {
        /// The folder.
        path: PathBuf,
    },
    /// `split.toml` does not read as what it should be.
    #[error("`{path}` does not describe a split: {reason}")]
    Manifest {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A split of a later version of the format.
    #[error("`{path}` has format version {found}, but this coldlink reads up to {supported}")]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The latest version known.
        supported: u32,
    },
    /// A file was changed after the split was written.
    #[error("`{path}` has checksum {found}, but `split.toml` records {expected}")]
    Checksum {
        /// The file.
        path: PathBuf,
        /// The checksum it has.
        found: String,
        /// The checksum it should have.
        expected: String,
    },
    /// The split is one of another graph.
    #[error("`{path}` splits a graph with fingerprint {expected}, but this one has {found}")]
    OtherGraph {
        /// The folder.
        path: PathBuf,
        /// The fingerprint of the graph at hand.
        found: String,
        /// The fingerprint of the graph that was split.
        expected: String,
    },
    /// A folder records another validation rule.
    #[error("`{path}` validates on `{recorded}`, not on `{asked}`")]
    ValidationRecorded {
        /// The folder.
        path: PathBuf,
        /// The rule that was asked for.
        asked: Validation,
        /// The rule it was made with.
        recorded: Validation,
    },
    /// A row does not have the columns or values it should.
    #[error("`{path}` line {line}: {reason}")]
    Row {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong.
        reason: String,
    },
    /// A row names a node that is not in the data.
    #[error("`{path}` line {line}: there is no node `{}`", quoted(.name))]
    UnknownNode {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The name.
        name: String,
    },
    /// An `.npz` file lacks an array.
    #[error("`{path}` has no array `{array}`")]
    MissingArray {
        /// The file.
        path: PathBuf,
        /// The array.
        array: &'static str,
    },
    /// An `.npz` file could not be read.
    #[error(transparent)]
    Array(#[from] LoadError),
    /// An array of an `.npz` file has the wrong shape.
    #[error("`{path}`: array `{array}` has shape {found:?}, expected {expected}")]
    ArrayShape {
        /// The file.
        path: PathBuf,
        /// The array.
        array: &'static str,
        /// Its shape.
        found: Vec<usize>,
        /// The shape it should have.
        expected: &'static str,
    },
    /// An array of an `.npz` file has a number that is no node's.
    #[error("`{path}`: array `{array}` has node {node}, but the graph has {nodes} nodes")]
    NodeOutOfRange {
        /// The file.
        path: PathBuf,
        /// The array.
        array: &'static str,
        /// The number.
        node: i64,
        /// Nodes of the graph.
        nodes: usize,
    },
    /// A node is said to be hidden and to be kept.
    #[error("`{path}`: node {node} is in both `hidden` and `kept`")]
    HiddenAndKept {
        /// The file.
        path: PathBuf,
        /// The node.
        node: u32,
    },
}

impl SplitError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<Hint> {
        Some(Hint::new(match self {
            SplitError::AttributeRows { .. } => "give each node exactly one row of attributes",
            SplitError::NameCount { .. } => "give each node exactly one name",
            SplitError::UndirectedProtocol => "use {protocol=strict} | load the graph with {undirected}",
            SplitError::ArraysArePlain => {
                "load the graph with {undirected} | use a protocol by its name, or a folder of {coldlink split}"
            }
            SplitError::NoAttributes => {
                "lower `rare` of the columns with {columns} | add columns with values that nodes share"
            }
            SplitError::NoTimes { .. } | SplitError::NotATime { .. } => {
                "name a date or numeric column of the node table, such as `temporal:year` | give links a column `time`"
            }
            SplitError::GivenCount { .. } => {
                "name a number of links, such as `few:2`; without any the protocol is `strict`"
            }
            SplitError::NoLinkTimes => {
                "give links a column `time` | name it under `[edges]` with {columns} | use {protocol=transductive}"
            }
            SplitError::NothingLater { .. } => "give times that tell links apart | use {protocol=strict}",
            SplitError::TooSmall { .. } => "use a graph with more links",
            SplitError::ValidationForced { forced: Validation::Edges, .. } => {
                "omit {validation} | use {validation=edges}"
            }
            SplitError::ValidationForced { forced: Validation::Nodes, .. } => {
                "omit {validation} | use {validation=nodes}"
            }
            SplitError::UnknownProtocol { .. } => {
                "use `strict`, `temporal`, `temporal:links`, `few:2`, `deal2020`, `transductive`, or the path of a split"
            }
            SplitError::NoValidationLinks { rule: Validation::Edges } => {
                "every link is the only one of some node; hold out nodes instead with {validation=nodes}"
            }
            SplitError::NoUnlinkedPairs { .. } => "use a sparser graph: here every pair of nodes is linked",
            SplitError::NoTestLinks { .. }
            | SplitError::NoValidationLinks { rule: Validation::Nodes }
            | SplitError::NothingToTrainOn { .. } => "try another {seed} | use a graph with more links",
            SplitError::Io { .. } => "check that the path exists and that you have access to it",
            SplitError::NotASplit { .. } => "name a new or empty folder | name one that {coldlink split} wrote",
            SplitError::Manifest { .. } | SplitError::Checksum { .. } => "write the split again with {coldlink split}",
            SplitError::Version { .. } => "update coldlink",
            SplitError::OtherGraph { .. } => "use the graph that was split, loaded with the same options",
            SplitError::ValidationRecorded { recorded: Validation::Edges, .. } => {
                "use {validation=edges} | write another split with {coldlink split}"
            }
            SplitError::ValidationRecorded { recorded: Validation::Nodes, .. } => {
                "use {validation=nodes} | write another split with {coldlink split}"
            }
            SplitError::Row { .. } => "correct the row | write the split again with {coldlink split}",
            SplitError::UnknownNode { .. } => "use the graph that was split",
            SplitError::MissingArray { .. } => {
                "a split needs the arrays `train_pos`, `val_pos`, `val_neg`, `test_pos` and `test_neg`"
            }
            SplitError::Array(error) => return error.hint(),
            SplitError::ArrayShape { .. } => "store pairs as rows of two columns, and lists of nodes in one dimension",
            SplitError::NodeOutOfRange { .. } => "number nodes from 0, in the order of the graph's rows",
            SplitError::HiddenAndKept { .. } => "list each node in one of the two arrays only",
        }))
    }
}

fn no_times(columns: &[String]) -> String {
    match columns {
        [] => "nodes have no date column to tell new ones by".to_owned(),
        _ => format!("nodes have several date columns: {}", all_quoted(columns)),
    }
}
