//! The most likely links of new nodes: top-k over all nodes that a model knows.

mod build;
mod exact;
mod hnsw;
mod links;
mod marks;
mod points;

pub use exact::ExactIndex;
pub(crate) use exact::best;
pub use hnsw::Hnsw;
pub(crate) use links::Similar;
pub use links::{AboutIndex, Effort, LinkIndex};
pub(crate) use marks::Marks;

use crate::graph::NodeId;

/// A node that was found, with its score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Which node.
    pub node: NodeId,
    /// Its score.
    pub score: f32,
}
