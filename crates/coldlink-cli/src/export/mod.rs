//! Embeddings for use elsewhere: a file per place they can go to.

mod copy;
mod npy;
mod parquet;
mod postgres;

use coldlink::graph::Names;
use coldlink::kernel::Matrix;

pub use npy::write_npy;
pub use parquet::write_parquet;
pub use postgres::{Destination, write_table};

/// What is exported of some nodes: a row each.
pub struct Export {
    pub names: Names,
    pub embeddings: Matrix<f32>,
    /// What is needed to search by inner products.
    pub search: Search,
}

/// The vectors of a search, a row per node.
pub enum Search {
    /// Of nodes that are looked for, with whether each has links.
    Nodes { vectors: Matrix<f32>, warm: Vec<bool> },
    /// Of new nodes that look for them.
    Queries(Matrix<f32>),
}
