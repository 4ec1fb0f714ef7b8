//! What everything else works on: links, attributes and names of nodes.

mod attributes;
mod carried;
mod csr;
mod name_order;
mod names;
mod roles;
mod stored;
mod types;

pub use attributes::{AttributeNames, Attributes, Block, Fitting};
pub use carried::UNKNOWN_TIME;
pub use csr::{Cleaned, Graph, GraphBuilder};
pub use name_order::NameOrder;
pub use names::{NameIndex, Names, Texts};
pub use roles::{PLAIN, Relation, RoleGraph, Roles};
pub use types::NodeTypes;
pub(crate) use types::{by_type, type_of};

/// A node's number within a [`Graph`]: its row in the attributes.
pub type NodeId = u32;
