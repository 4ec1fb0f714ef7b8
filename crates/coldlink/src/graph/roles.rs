//! What a node is in a link: the source or the target of a relation.
//!
//! A directed link from a to b says something about a as a source and about b as a target. So a graph with directions has a *role
//! node* for every node in every role, and its links, without direction, join the source role of one node with the target role
//! of another. Everything that works on graphs without directions then works on role nodes. The role nodes of a node lie side by
//! side, so that nodes can be added after the last. A plain graph has one role: its role nodes are its nodes.

use serde::{Deserialize, Serialize};

use super::{Graph, NodeId};

/// What links mean.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relation {
    /// What it is called; empty where there is only one and nobody named it.
    pub name: String,
    /// Whether its links have a direction.
    pub directed: bool,
}

/// The roles that every node of a graph has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Roles {
    /// None for a plain graph.
    relations: Vec<Relation>,
}

/// The one role of plain graphs.
pub static PLAIN: Roles = Roles { relations: Vec::new() };

impl Roles {
    /// The most roles that nodes may have.
    pub const MOST: usize = 64;

    /// The roles of some relations: two of each directed one, one of each other; nothing where they are too many.
    pub fn of(relations: Vec<Relation>) -> Option<Self> {
        let roles = Roles { relations };
        (roles.count() <= Roles::MOST).then_some(roles)
    }

    /// What links mean; empty for a plain graph.
    pub fn relations(&self) -> &[Relation] {
        &self.relations
    }

    /// How many roles a node has.
    pub fn count(&self) -> usize {
        self.relations.iter().map(roles_of).sum::<usize>().max(1)
    }

    /// Whether this is a plain graph, with one role.
    pub fn is_plain(&self) -> bool {
        self.count() == 1
    }

    /// The roles of the sources and of the targets of a relation; the same where links have no direction.
    pub fn ends(&self, relation: usize) -> (usize, usize) {
        let source = self.relations[..relation.min(self.relations.len())].iter().map(roles_of).sum();
        let directed = self.relations.get(relation).is_some_and(|relation| relation.directed);
        (source, source + usize::from(directed))
    }

    /// The relation of a role, and whether it is the role of its targets where these differ from sources.
    pub fn relation_of(&self, role: usize) -> (usize, bool) {
        let found = (0..self.relations.len()).find(|&relation| role <= self.ends(relation).1);
        let relation = found.unwrap_or(0);
        (relation, role != self.ends(relation).0)
    }

    /// The role at the other end of a link.
    pub fn opposite(&self, role: usize) -> usize {
        let (source, target) = self.ends(self.relation_of(role).0);
        source + target - role
    }

    /// A node in a role.
    #[inline]
    pub fn at(&self, node: NodeId, role: usize) -> NodeId {
        node * self.count() as NodeId + role as NodeId
    }

    /// The node of a role node.
    #[inline]
    pub fn node(&self, role_node: NodeId) -> NodeId {
        role_node / self.count() as NodeId
    }

    /// The role of a role node.
    #[inline]
    pub fn role(&self, role_node: NodeId) -> usize {
        role_node as usize % self.count()
    }

    /// All role nodes of some nodes, in their order.
    pub fn all_of(&self, nodes: &[NodeId]) -> Vec<NodeId> {
        let roles = self.count();
        nodes.iter().flat_map(|&node| (0..roles).map(move |role| node * roles as NodeId + role as NodeId)).collect()
    }

    /// The nodes of some role nodes, which are sorted.
    pub fn nodes_of(&self, role_nodes: &[NodeId]) -> Vec<NodeId> {
        let mut nodes: Vec<NodeId> = role_nodes.iter().map(|&role_node| self.node(role_node)).collect();
        nodes.dedup();
        nodes
    }

    /// The role at the other end of a link, for each role.
    pub fn opposites(&self) -> Vec<NodeId> {
        (0..self.count()).map(|role| self.opposite(role) as NodeId).collect()
    }
}

fn roles_of(relation: &Relation) -> usize {
    1 + usize::from(relation.directed)
}

/// Links with their relations and directions, as a graph of role nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct RoleGraph {
    /// The roles.
    pub roles: Roles,
    /// The links between role nodes.
    pub graph: Graph,
}

impl RoleGraph {
    /// From nodes, relations, and links as (relation, source, target). Links that stand there twice count once; a link without
    /// direction may stand there either way.
    pub fn new(nodes: usize, roles: Roles, links: impl IntoIterator<Item = (usize, NodeId, NodeId)>) -> Self {
        let ends: Vec<(usize, usize)> =
            (0..roles.relations.len().max(1)).map(|relation| roles.ends(relation)).collect();
        let links = links.into_iter().filter(|(_, source, target)| source != target);
        let joined = links
            .map(|(relation, source, target)| (roles.at(source, ends[relation].0), roles.at(target, ends[relation].1)));
        let graph = Graph::from_links(nodes * roles.count(), joined);
        RoleGraph { roles, graph }
    }

    /// The same from arrays of a file, if it is one: links join the two roles of a relation, and no node is linked with itself.
    pub fn from_parts(roles: Roles, graph: Graph, nodes: usize) -> Result<Self, &'static str> {
        if roles.is_plain() || nodes.checked_mul(roles.count()) != Some(graph.nodes()) {
            return Err("the roles do not fit the number of nodes");
        }
        let opposites = roles.opposites();
        let fits = |(a, b): (NodeId, NodeId)| {
            opposites[roles.role(a)] as usize == roles.role(b) && roles.node(a) != roles.node(b)
        };
        if !graph.iter_links().all(fits) {
            return Err("a link joins roles of different relations, or a node with itself");
        }
        Ok(RoleGraph { roles, graph })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roles(directed: &[bool]) -> Roles {
        let relation = |&directed: &bool| Relation { name: String::new(), directed };
        Roles::of(directed.iter().map(relation).collect()).unwrap()
    }

    #[test]
    fn a_plain_graph_has_one_role_and_its_own_numbers() {
        assert_eq!((PLAIN.count(), PLAIN.at(7, 0), PLAIN.node(7), PLAIN.role(7), PLAIN.opposite(0)), (1, 7, 7, 0, 0));
        assert_eq!((PLAIN.ends(0), PLAIN.all_of(&[3, 1])), ((0, 0), vec![3, 1]));
    }

    #[test]
    fn directed_relations_have_two_roles_and_others_one() {
        let roles = roles(&[true, false, true]);
        assert_eq!(roles.count(), 5);
        assert_eq!([0, 1, 2].map(|relation| roles.ends(relation)), [(0, 1), (2, 2), (3, 4)]);
        assert_eq!(roles.opposites(), [1, 0, 2, 4, 3]);
        assert_eq!(
            [0, 1, 2, 3, 4].map(|role| roles.relation_of(role)),
            [(0, false), (0, true), (1, false), (2, false), (2, true)]
        );
        let place = roles.at(6, 3);
        assert_eq!((roles.node(place), roles.role(place)), (6, 3));
        assert_eq!(roles.nodes_of(&roles.all_of(&[2, 5])), [2, 5]);
    }

    #[test]
    fn links_join_the_source_of_one_node_with_the_target_of_another() {
        let graph = RoleGraph::new(3, roles(&[true, false]), [(0, 0, 1), (0, 1, 0), (0, 2, 2), (1, 2, 0), (1, 0, 2)]);
        assert_eq!(graph.graph.iter_links().collect::<Vec<_>>(), [(0, 4), (1, 3), (2, 8)]);
        let RoleGraph { roles, graph } = graph;
        assert!(RoleGraph::from_parts(roles.clone(), graph, 3).is_ok());
        assert!(RoleGraph::from_parts(roles.clone(), Graph::from_links(9, [(0, 3)]), 3).is_err());
        assert!(RoleGraph::from_parts(roles.clone(), Graph::from_links(9, [(0, 1)]), 3).is_err());
        assert!(RoleGraph::from_parts(roles, Graph::from_links(8, []), 3).is_err());
    }
}
