//! One stream of random numbers per purpose, so that no choice depends on how many numbers another one took.

use rand::{Rng, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

use crate::graph::NodeId;

/// What a stream is for. The numbers are part of what a seed means: never change one.
#[derive(Clone, Copy)]
pub(super) enum Purpose {
    TestNodes = 1,
    TestLinks = 2,
    TestNegatives = 3,
    ValidationNodes = 4,
    ValidationLinks = 5,
    ValidationNegatives = 6,
    ValidationHalves = 7,
}

/// The stream of a seed for a purpose.
pub(super) fn stream(seed: u64, purpose: Purpose) -> Xoshiro256PlusPlus {
    let mixed = SplitMix64::seed_from_u64(seed).next_u64();
    Xoshiro256PlusPlus::seed_from_u64(mixed ^ purpose as u64)
}

/// A tenth of a count, rounded down, but at least one.
pub(super) fn tenth(count: usize) -> usize {
    (count / 10).max(1)
}

/// `count` distinct nodes of `pool`, uniformly, in the order drawn.
pub(super) fn draw(pool: &[NodeId], count: usize, rng: &mut impl Rng) -> Vec<NodeId> {
    let chosen = rand::seq::index::sample(rng, pool.len(), count.min(pool.len()));
    chosen.iter().map(|index| pool[index]).collect()
}
