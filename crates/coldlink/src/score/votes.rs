//! Votes of the warm nodes whose words are most like a new node's.

use super::Evidence;
use super::field::Field;
use crate::graph::NodeId;
use crate::kernel::Entry;

/// Warm nodes that vote.
const VOTERS: usize = 50;
/// Added to votes before their logarithm.
pub(crate) const SMALL_VOTE: f32 = 1e-2;
/// Other nodes' words that are looked at for voters through a search, rare ones first.
const MOST_WORDS: usize = 200_000;

impl Evidence<'_> {
    /// The warm nodes in a new node's role whose words are most like its own, with their cosines; and all cosines, where these are
    /// known.
    pub(super) fn voters(&self, node: NodeId, held: Option<NodeId>) -> (Vec<(NodeId, f32)>, Option<Field>) {
        let (side, row) = self.side(node);
        let (words, nodes) = (side.words.row(row), self.graph.nodes());
        let rough = self.similar.is_some();
        let mut products = match rough {
            true => self.rough_products(words, MOST_WORDS),
            false => {
                let mut products = self.room.field(nodes);
                self.known.words.products_into(words, &mut products);
                products
            }
        };
        let role = self.role(node);
        let touched = products.touched().to_vec();
        let cosine = |node: NodeId| products.values()[node as usize];
        let votes = |other: &NodeId| {
            cosine(*other) > 0.0
                && self.is_warm(*other)
                && Some(*other) != held
                && *other != node
                && self.role(*other) == role
        };
        let mut voters: Vec<(NodeId, f32)> =
            touched.into_iter().filter(votes).map(|other| (other, cosine(other))).collect();
        if voters.len() > VOTERS {
            voters.select_nth_unstable_by(VOTERS - 1, |a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            voters.truncate(VOTERS);
        }
        voters.sort_unstable_by_key(|voter| voter.0);
        (voters, (!rough).then_some(products))
    }

    /// Roughly the products of a row of words with those of all nodes, from few entries of other rows.
    pub(crate) fn rough_products(&self, words: &[Entry<f32>], most: usize) -> Field {
        let mut products = self.room.field(self.graph.nodes());
        // A node has its words in every role.
        self.known.words.rough_products_into(words, most * self.roles.count(), &mut products);
        products
    }

    /// What they vote for.
    pub(super) fn votes_of(&self, voters: &[(NodeId, f32)]) -> Option<Field> {
        if voters.is_empty() {
            return None;
        }
        let mut votes = self.room.field(self.graph.nodes());
        for &(voter, cosine) in voters {
            self.graph.each_neighbor(voter, |node, weight| votes.add(node, cosine * weight));
            if self.roles.is_plain() {
                votes.add(voter, cosine);
            }
        }
        Some(votes)
    }
}
