//! What can go wrong while a split is made, written or read.

use std::io;
use std::path::PathBuf;

use crate::config::Validation;
use crate::load::LoadError;

/// Why there is no split.
#[derive(Debug, thiserror::Error)]
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
    /// There is nothing to split.
    #[error("a graph of {nodes} nodes and {links} links cannot be split")]
    TooSmall {
        /// Nodes of the graph.
        nodes: usize,
        /// Links of the graph.
        links: usize,
    },
    /// No value is shared by enough nodes.
    #[error("no attribute is left: every value belongs to too few nodes, or to all alike")]
    NoAttributes,
    /// It is not known when nodes came to be.
    #[error("{}", no_times(.columns))]
    NoTimes {
        /// Columns of dates, none or several.
        columns: Vec<String>,
    },
    /// A column that has no times.
    #[error("there is no column `{column}` of dates or numbers")]
    NotATime {
        /// The column.
        column: String,
    },
    /// A protocol goes with one validation rule only.
    #[error("protocol `{protocol}` selects on `{forced}`, not on `{asked}`")]
    ValidationForced {
        /// The protocol.
        protocol: String,
        /// The rule that was asked for.
        asked: Validation,
        /// The rule it goes with.
        forced: Validation,
    },
    /// No such protocol, and no such file or folder.
    #[error("there is no protocol and no split `{name}`")]
    UnknownProtocol {
        /// As it was given.
        name: String,
    },
    /// Nothing can be tested.
    #[error("there is no link to test on, with {hidden} nodes hidden")]
    NoTestLinks {
        /// Nodes drawn for the test.
        hidden: usize,
    },
    /// Nothing could be held back to select on.
    #[error("the rule `{rule}` leaves no link to select on")]
    NoValidationLinks {
        /// The rule.
        rule: Validation,
    },
    /// All pairs that could be negatives are linked.
    #[error("there is no unlinked pair left for the {set} set")]
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
    #[error("`{path}` is not a split of coldlink")]
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
    #[error("`{path}` has format version {found}, but only versions up to {supported} are known")]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The latest version known.
        supported: u32,
    },
    /// A file was changed after the split was written.
    #[error("`{path}` has checksum {found}, but `split.toml` says {expected}")]
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
    #[error("`{path}` selects on `{recorded}`, not on `{asked}`")]
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
    #[error("`{path}` line {line}: there is no node `{name}`")]
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
    #[error("`{path}`: array `{array}` has shape {found:?} where {expected} is expected")]
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
    #[error("`{path}`: node {node} is both in `hidden` and in `kept`")]
    HiddenAndKept {
        /// The file.
        path: PathBuf,
        /// The node.
        node: u32,
    },
}

impl SplitError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            SplitError::AttributeRows { .. } => "give each node exactly one row of attributes",
            SplitError::NameCount { .. } => "give each node exactly one name",
            SplitError::NoAttributes => "lower `rare` of the columns with `--columns`, or add columns that nodes share",
            SplitError::NoTimes { .. } | SplitError::NotATime { .. } => {
                "name a column of dates or numbers of the node table, as `temporal:year`"
            }
            SplitError::TooSmall { .. } => "use a graph with more links",
            SplitError::ValidationForced { forced, .. } => {
                return Some(format!("leave out `--validation`, or say `--validation {forced}`"));
            }
            SplitError::UnknownProtocol { .. } => {
                "protocols are `strict`, `temporal`, `deal2020` and `transductive`; or give the path of a split"
            }
            SplitError::NoValidationLinks { rule: Validation::Edges } => {
                "no link can be spared without leaving a node alone; select on nodes with `--validation nodes`"
            }
            SplitError::NoUnlinkedPairs { .. } => {
                "in a graph where everything is linked there is nothing to tell apart; try a sparser one"
            }
            SplitError::NoTestLinks { .. }
            | SplitError::NoValidationLinks { rule: Validation::Nodes }
            | SplitError::NothingToTrainOn { .. } => "try another `--seed`, or a graph with more links",
            SplitError::Io { .. } => "check that the path exists and that you may use it",
            SplitError::NotASplit { .. } => {
                "name a folder that is empty, does not exist, or was written by `coldlink split`"
            }
            SplitError::Manifest { .. } | SplitError::Checksum { .. } => "write the split again with `coldlink split`",
            SplitError::Version { .. } => "use the version of coldlink that wrote it, or a later one",
            SplitError::OtherGraph { .. } => "use the data that the split was made of, loaded with the same options",
            SplitError::ValidationRecorded { recorded, .. } => {
                return Some(format!("say `--validation {recorded}`, or write another split"));
            }
            SplitError::Row { .. } => "correct the row, or write the split again with `coldlink split`",
            SplitError::UnknownNode { .. } => "use the data that the split was made of",
            SplitError::MissingArray { .. } => {
                "a split needs the arrays `train_pos`, `val_pos`, `val_neg`, `test_pos` and `test_neg`"
            }
            SplitError::Array(error) => return error.hint(),
            SplitError::ArrayShape { .. } => {
                "pairs have one row each with two columns; lists of nodes have one dimension"
            }
            SplitError::NodeOutOfRange { .. } => "nodes are numbered from 0 in the order of the graph's rows",
            SplitError::HiddenAndKept { .. } => "a node is either hidden or kept",
        };
        Some(hint.to_owned())
    }
}

fn no_times(columns: &[String]) -> String {
    match columns {
        [] => "nodes have no column of dates to tell new ones by".to_owned(),
        _ => format!("nodes have several columns of dates: `{}`", columns.join("`, `")),
    }
}
