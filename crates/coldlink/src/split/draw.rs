//! Draws nodes for a split.

use rand::Rng;

use crate::graph::NodeId;

/// A tenth of a count, rounded down, but at least one.
pub(super) fn tenth(count: usize) -> usize {
    (count / 10).max(1)
}

/// `count` distinct nodes of `pool`, uniformly, in the order drawn.
pub(super) fn draw(pool: &[NodeId], count: usize, rng: &mut impl Rng) -> Vec<NodeId> {
    let chosen = rand::seq::index::sample(rng, pool.len(), count.min(pool.len()));
    chosen.iter().map(|index| pool[index]).collect()
}
