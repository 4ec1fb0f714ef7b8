//! What everything else works on: links, attributes and names of nodes.

mod attributes;
mod buffer;
mod csr;
mod dataset;
mod distances;
mod names;

pub use attributes::{AttributeNames, Attributes, Block, Fitting};
pub use buffer::Buffer;
pub use csr::{Graph, GraphBuilder, Tidied};
pub use dataset::{Dataset, Notes};
pub use distances::Distances;
pub use names::{NameIndex, Names, Texts};

/// A node's number within a [`Dataset`]: its row in the attributes.
pub type NodeId = u32;
