//! Draws nodes for a split.

use rand::Rng;

use crate::graph::NodeId;

/// A tenth of a count, rounded down, but at least one.
pub(super) fn tenth(count: usize) -> usize {
    (count / 10).max(1)
}

/// Nodes that are hidden for validation at the most: more would not tell settings apart any better, and every node that is not
/// hidden is one more to train on.
const MOST_VALIDATION_NODES: usize = 10_000;
/// Links that are held back for validation at the most.
const MOST_VALIDATION_LINKS: usize = 100_000;

/// How many of so many nodes are hidden for validation.
pub(super) fn validation_nodes(count: usize) -> usize {
    tenth(count).min(MOST_VALIDATION_NODES)
}

/// How many links are held back for validation, where a share of all of them would be `wanted`.
pub(super) fn validation_links(wanted: usize) -> usize {
    wanted.min(MOST_VALIDATION_LINKS)
}

/// `count` distinct nodes of `pool`, uniformly, in the order drawn.
pub(super) fn draw(pool: &[NodeId], count: usize, rng: &mut impl Rng) -> Vec<NodeId> {
    let chosen = rand::seq::index::sample(rng, pool.len(), count.min(pool.len()));
    chosen.iter().map(|index| pool[index]).collect()
}
