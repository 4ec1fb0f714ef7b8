//! What kind of node each is, where there are several: users and items, authors and papers.

use super::NodeId;

/// The kinds of nodes, and which each is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeTypes {
    /// What they are called, sorted; the kind after the last is that of nodes of which it is not known.
    pub names: Vec<String>,
    of: Vec<u8>,
}

impl NodeTypes {
    /// The most kinds there may be.
    pub const MOST: usize = 200;

    /// The kinds of nodes from their numbers; nothing where there are too many, or where a number is none of them.
    pub fn new(names: Vec<String>, of: Vec<u8>) -> Option<Self> {
        let known = names.len() <= NodeTypes::MOST && of.iter().all(|&kind| usize::from(kind) <= names.len());
        known.then_some(NodeTypes { names, of })
    }

    /// How many kinds there are, the unknown one included.
    pub fn count(&self) -> usize {
        self.names.len() + 1
    }

    /// The kind of a node.
    #[inline]
    pub fn of(&self, node: NodeId) -> usize {
        usize::from(self.of[node as usize])
    }

    /// The kinds of all nodes.
    pub fn all(&self) -> &[u8] {
        &self.of
    }

    /// Of some of the nodes, in the given order.
    pub fn select(&self, nodes: &[NodeId]) -> NodeTypes {
        NodeTypes { names: self.names.clone(), of: nodes.iter().map(|&node| self.of[node as usize]).collect() }
    }

    /// Nodes by their kinds, in their order.
    pub fn group(&self, nodes: &[NodeId]) -> Vec<Vec<NodeId>> {
        let mut groups = vec![Vec::new(); self.count()];
        nodes.iter().for_each(|&node| groups[self.of(node)].push(node));
        groups
    }
}

/// The kind of a node where there may be none: all are of one then.
pub(crate) fn type_of(types: Option<&NodeTypes>, node: NodeId) -> usize {
    types.map_or(0, |types| types.of(node))
}

/// Nodes by their kinds; all in one group where there are none.
pub(crate) fn by_type(types: Option<&NodeTypes>, nodes: &[NodeId]) -> Vec<Vec<NodeId>> {
    types.map_or_else(|| vec![nodes.to_vec()], |types| types.group(nodes))
}
