//! A graph with attributes and names: what loading yields.

use super::{Attributes, Graph, Names, Tidied};

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
    /// What loading left out.
    pub notes: Notes,
}

/// What loading saw and left out; each is told to the user in one line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// Self-loops, duplicates and reciprocal links.
    pub tidied: Tidied,
    /// The input gave links a direction, which is dropped.
    pub directed: bool,
    /// The input gave links weights, which are ignored.
    pub weighted: bool,
    /// Links left out because an end has no row (only when asked for).
    pub unknown_ends: usize,
}
