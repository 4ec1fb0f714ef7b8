//! What can be wrong with a graph in one file or folder: the PPI layout, and `.coldlink` files.

use std::path::Path;

use super::ArrayProblem;
use crate::hint::Hint;

/// What can be wrong with the files of the PPI layout.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PpiProblem {
    /// Something is wrong with an array.
    #[error("{0}")]
    Array(ArrayProblem),
    /// A node's id is not its position, so links could mean either.
    #[error("the node at position {position} has id {id}, expected {position}")]
    NotItsPosition {
        /// Where it stands, from 0.
        position: usize,
        /// Its id.
        id: usize,
    },
    /// A link to a node that is not there.
    #[error("link {link} ends at node {id}, but the last of {nodes} nodes is {last}", last = .nodes.saturating_sub(1))]
    UnknownNode {
        /// Which link, from 0.
        link: usize,
        /// The end.
        id: usize,
        /// How many nodes there are.
        nodes: usize,
    },
    /// A weight that is none.
    #[error("link {link} has the weight {weight}, expected 0 or more")]
    NotAWeight {
        /// Which link, from 0.
        link: usize,
        /// Its weight.
        weight: f64,
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

impl PpiProblem {
    pub(super) fn hint(&self, path: &Path) -> Option<Hint> {
        let file = || path.file_name().unwrap_or_default().to_string_lossy();
        Some(match self {
            PpiProblem::Array(problem) => problem.hint(&file()).unwrap_or_else(|| {
                Hint::new("`train_feats.npy` has a row of numbers per node, `train_graph_id.npy` an integer per node")
            }),
            PpiProblem::NotItsPosition { .. } => Hint::new("number the nodes 0, 1, 2, … in the order of the file"),
            PpiProblem::UnknownNode { .. } => Hint::new("add the node | drop such links with {unknown-nodes=drop}"),
            PpiProblem::NotAWeight { .. } => Hint::new("a weight of 0 is no link; leave such links out"),
            PpiProblem::NoSuchGraph { expected, .. } => {
                Hint::text(format!("give the nodes to load graph id {expected}; coldlink ignores other graphs"))
            }
        })
    }
}

/// Numbers in words, as many as fit in a line.
fn listed(numbers: &[i64]) -> String {
    const MOST: usize = 24;
    let shown: Vec<String> = numbers.iter().take(MOST).map(i64::to_string).collect();
    shown.join(", ") + if numbers.len() > MOST { ", …" } else { "" }
}
