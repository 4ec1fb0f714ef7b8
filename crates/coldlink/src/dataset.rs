//! A graph with attributes and names: what loading yields.

use serde::{Deserialize, Serialize};

use crate::columns::{Mismatches, Schema};
use crate::graph::{Attributes, Cleaned, Graph, Names, NodeId};

/// A graph, a row of attributes for each node, and the nodes' names.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// Where it came from, for reports: a file's or folder's name without its ending.
    pub name: String,
    /// The links.
    pub graph: Graph,
    /// The attributes, a row for each node of `graph`.
    pub attributes: Attributes,
    /// The names, one for each node of `graph`.
    pub names: Names,
    /// How table columns became attributes, so that new rows become the same ones; `None` for formats without columns.
    pub schema: Option<Schema>,
    /// What loading noticed and ignored.
    pub notes: Notes,
}

/// What loading noticed and ignored; front ends report each in one line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notes {
    /// Self-loops, duplicates and reciprocal links.
    pub cleaned: Cleaned,
    /// The input gave links a direction, which is dropped.
    pub directed: bool,
    /// The input gave links weights, which are ignored.
    pub weighted: bool,
    /// Links dropped because an end has no row (only when asked for).
    pub unknown_ends: usize,
    /// Columns of the node table that became no attribute: texts that nearly every row has to itself, or nothing at all.
    pub ignored_columns: Vec<String>,
    /// What cells of the node table say that could not be used, a line each.
    #[serde(default)]
    pub cells: Vec<String>,
}

/// Nodes that are not in the graph: what predictions are asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct NewNodes {
    /// Their names.
    pub names: Names,
    /// Their attributes, in the columns of the graph's.
    pub attributes: Attributes,
    /// What was not expected in their rows.
    pub mismatches: Mismatches,
}

impl NewNodes {
    /// What the user should know about them, a line each.
    pub fn notes(&self) -> Vec<String> {
        self.mismatches.notes()
    }
}

/// One end of a pair that a score is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A node of the graph that was trained on.
    Seen(NodeId),
    /// A row of the new nodes.
    New(NodeId),
}
