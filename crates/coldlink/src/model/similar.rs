//! The warm nodes whose attributes are most similar to another node's.

use super::{Model, SimilarNode};
use crate::graph::NodeId;
use crate::index::{LinkIndex, best};

impl Model {
    /// The warm nodes whose attribute embeddings have the largest cosines with a known node's, largest first, without the node
    /// itself. They are found through the index, where there is one.
    pub fn similar_nodes(&self, node: NodeId, count: usize) -> Vec<SimilarNode> {
        // In a role in which it has links, so that what it is compared by was learned.
        let of = self.roles.all_of(&[node]);
        let own = of.iter().copied().find(|&role_node| self.is_warm_in_role(role_node)).unwrap_or(of[0]);
        let similar = self.most_similar(self.attribute_embedding(own), count, own, Some(own));
        let named = |(node, cosine)| SimilarNode { name: self.name(node), cosine };
        similar.into_iter().map(named).collect()
    }

    /// The name of a known role node.
    pub(super) fn name(&self, role_node: NodeId) -> String {
        self.names.get(self.roles.node(role_node)).into_owned()
    }

    /// The warm nodes in the role of a node that are most similar to its attribute embedding, with their cosines, without one.
    pub(super) fn most_similar(
        &self,
        own: &[f32],
        count: usize,
        node: NodeId,
        without: Option<NodeId>,
    ) -> Vec<(NodeId, f32)> {
        let role = self.roles.role(node);
        let length = |row: &[f32]| row.iter().map(|value| value * value).sum::<f32>().sqrt();
        let own_length = length(own);
        let cosine = |other: NodeId| {
            let row = self.attribute_embedding(other);
            let product: f32 = own.iter().zip(row).map(|(a, b)| a * b).sum();
            (other, product / (own_length * length(row)).max(f32::MIN_POSITIVE))
        };
        let others = |nodes: &mut dyn Iterator<Item = NodeId>| {
            largest(nodes.filter(|&node| Some(node) != without).map(cosine), count)
        };
        match self.index.as_deref().and_then(LinkIndex::similar_nodes) {
            Some(similar) => {
                let breadth = similar.breadth.max(count.saturating_add(1));
                others(&mut similar.graphs[role].nearest(own, 0.0, breadth).into_iter().map(|found| found.0))
            }
            None => {
                let all = (0..self.summary.nodes as NodeId).map(|node| self.roles.at(node, role));
                others(&mut all.filter(|&node| self.is_warm_in_role(node)))
            }
        }
    }
}

/// The nodes with the largest cosines, largest first.
pub(super) fn largest(cosines: impl Iterator<Item = (NodeId, f32)>, count: usize) -> Vec<(NodeId, f32)> {
    best(cosines, count).into_iter().map(|hit| (hit.node, hit.score)).collect()
}
