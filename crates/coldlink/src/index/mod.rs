//! The most likely links of new nodes: top-k over all nodes that a model knows.

mod exact;

pub use exact::ExactIndex;
pub(crate) use exact::best;

use crate::graph::NodeId;
use crate::kernel::Matrix;

/// A node that was found, with its score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Which node.
    pub node: NodeId,
    /// Its score.
    pub score: f32,
}

/// Finds the nodes with the highest scores for new nodes.
pub trait Index {
    /// For each row of attribute embeddings, the `count` best nodes, best first; equal scores in the order of nodes.
    fn search(&self, queries: &Matrix<f32>, count: usize) -> Vec<Vec<Hit>>;
}
