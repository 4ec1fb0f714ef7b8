//! The type of each node, where there are several: users and items, authors and papers.

use super::{NodeId, Roles};

/// The node types, and which each node is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeTypes {
    /// What they are called, sorted; the number after the last stands for nodes whose type is not known.
    pub names: Vec<String>,
    of: Vec<u8>,
}

impl NodeTypes {
    /// The most node types there may be: with the unknown one, as many as a byte can number.
    pub const MOST: usize = u8::MAX as usize;

    /// From a number for each node; nothing where there are too many types, or where a number is none of them.
    pub fn new(names: Vec<String>, of: Vec<u8>) -> Option<Self> {
        let known = names.len() <= NodeTypes::MOST && of.iter().all(|&number| usize::from(number) <= names.len());
        known.then_some(NodeTypes { names, of })
    }

    /// The types of role nodes: a type of its own for each role and node type. Where these are more than a byte can number, roles
    /// alone count.
    pub(crate) fn in_roles(types: Option<&NodeTypes>, nodes: usize, roles: &Roles) -> Self {
        let types = types.filter(|types| roles.count() * types.count() <= NodeTypes::MOST + 1);
        let (count, of_role) = (roles.count(), types.map_or(1, NodeTypes::count));
        let of = |(node, role): (usize, usize)| (role * of_role + type_of(types, node as NodeId)) as u8;
        let of = (0..nodes).flat_map(|node| (0..count).map(move |role| (node, role))).map(of).collect();
        NodeTypes { names: (1..count * of_role).map(|number| format!("{number:03}")).collect(), of }
    }

    /// How many types there are, the unknown one included.
    pub fn count(&self) -> usize {
        self.names.len() + 1
    }

    /// The type of a node.
    #[inline]
    pub fn of(&self, node: NodeId) -> usize {
        usize::from(self.of[node as usize])
    }

    /// The types of all nodes.
    pub fn all(&self) -> &[u8] {
        &self.of
    }

    /// Of some of the nodes, in the given order.
    pub fn select(&self, nodes: &[NodeId]) -> NodeTypes {
        NodeTypes { names: self.names.clone(), of: nodes.iter().map(|&node| self.of[node as usize]).collect() }
    }

    /// Nodes by their types, in their order.
    pub fn group(&self, nodes: &[NodeId]) -> Vec<Vec<NodeId>> {
        let mut groups = vec![Vec::new(); self.count()];
        nodes.iter().for_each(|&node| groups[self.of(node)].push(node));
        groups
    }
}

/// The type of a node where there may be none: all are of one then.
pub(crate) fn type_of(types: Option<&NodeTypes>, node: NodeId) -> usize {
    types.map_or(0, |types| types.of(node))
}

/// Nodes by their types; all in one group where there are none.
pub(crate) fn by_type(types: Option<&NodeTypes>, nodes: &[NodeId]) -> Vec<Vec<NodeId>> {
    types.map_or_else(|| vec![nodes.to_vec()], |types| types.group(nodes))
}
