//! Votes of the warm nodes whose words are most like a new node's.

use super::Evidence;
use crate::graph::NodeId;

/// Warm nodes that vote.
const VOTERS: usize = 50;
/// Added to votes before their logarithm.
pub(crate) const SMALL_VOTE: f32 = 1e-2;
/// Other nodes' words that are looked at for voters through a search, rare ones first.
const MOST_WORDS: usize = 200_000;

impl Evidence<'_> {
    /// The warm nodes in a new node's role whose words are most like its own, with their cosines; and all cosines, where these are
    /// known.
    pub(super) fn voters(&self, node: NodeId, held: Option<NodeId>) -> (Vec<(NodeId, f32)>, Option<Vec<f32>>) {
        let (side, row) = self.side(node);
        let words = side.words.row(row);
        let rough = self.similar.is_some();
        let products = match rough {
            true => self.known.words.rough_products(words, MOST_WORDS).0,
            false => self.known.words.products(words),
        };
        let role = self.role(node);
        let votes = |other: &NodeId| {
            products[*other as usize] > 0.0 && Some(*other) != held && *other != node && self.role(*other) == role
        };
        let warm = self.warm.nodes().iter().copied().filter(votes);
        let mut voters: Vec<(NodeId, f32)> = warm.map(|other| (other, products[other as usize])).collect();
        if voters.len() > VOTERS {
            voters.select_nth_unstable_by(VOTERS - 1, |a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            voters.truncate(VOTERS);
        }
        voters.sort_unstable_by_key(|voter| voter.0);
        (voters, (!rough).then_some(products))
    }

    /// What they vote for, in the order of nodes.
    pub(super) fn votes_of(&self, voters: &[(NodeId, f32)]) -> Vec<f32> {
        if voters.is_empty() {
            return Vec::new();
        }
        let mut votes = vec![0.0; self.graph.nodes()];
        for &(voter, cosine) in voters {
            self.graph.neighbors(voter).iter().for_each(|&node| votes[node as usize] += cosine);
            if self.roles.is_plain() {
                votes[voter as usize] += cosine;
            }
        }
        votes
    }
}
