//! What everything else works on: links, attributes and names of nodes.

mod attributes;
mod buffer;
mod csr;
mod dataset;
mod distances;
mod names;
mod types;

pub use attributes::{AttributeNames, Attributes, Block, Fitting};
pub use buffer::Buffer;
pub use csr::{Graph, GraphBuilder, Tidied};
pub use dataset::{Dataset, Notes};
pub use distances::Distances;
pub use names::{NameIndex, Names, Texts};
pub use types::Types;
pub(crate) use types::{by_type, type_of};

/// A node's number within a [`Dataset`]: its row in the attributes.
pub type NodeId = u32;
