//! Unlinked pairs, each at most once in a split.

use std::collections::HashSet;

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use super::Pair;
use crate::graph::{Graph, NodeId};

/// How many times larger than what is refused a choice must be before it is made by trying: three tries in four succeed.
/// Where it is smaller, listing it costs no more than reading the graph.
const ROOM: u64 = 4;

/// Draws pairs that are no links of the full graph, no self-pairs, and were not drawn before.
pub(super) struct Negatives<'a> {
    full: &'a Graph,
    taken: HashSet<u64>,
    taken_at: Vec<u32>,
}

impl<'a> Negatives<'a> {
    /// None drawn so far.
    pub(super) fn of(full: &'a Graph) -> Self {
        Negatives { full, taken: HashSet::new(), taken_at: vec![0; full.nodes()] }
    }

    /// None drawn so far, and none of `pairs` will be.
    pub(super) fn avoiding(full: &'a Graph, pairs: &[Pair]) -> Self {
        let mut negatives = Negatives::of(full);
        for pair in pairs.iter().filter(|pair| !pair.linked) {
            negatives.take(*pair);
        }
        negatives
    }

    /// Up to `count` pairs of `source` with distinct nodes of `pool`; fewer only where there are no more.
    pub(super) fn keeping(&mut self, source: NodeId, pool: &[NodeId], count: usize, rng: &mut impl Rng) -> Vec<Pair> {
        let refused = 1 + self.full.degree(source) + self.taken_at[source as usize] as usize;
        if (pool.len() as u64) < ROOM * (refused + count) as u64 {
            let pairs = pool.iter().map(|&target| Pair::unlinked((source, target)));
            return self.choose(pairs, count, rng);
        }
        self.try_until(count, || Pair::unlinked((source, pool[rng.random_range(0..pool.len())])))
    }

    /// Up to `count` pairs of nodes of `pool`; fewer only where there are no more.
    pub(super) fn among(&mut self, pool: &[NodeId], count: usize, rng: &mut impl Rng) -> Vec<Pair> {
        let pairs = pool.len() as u64 * (pool.len() as u64).saturating_sub(1) / 2;
        if pairs < ROOM * (self.full.links() + self.taken.len() + count) as u64 {
            let pairs = pool.iter().enumerate().flat_map(|(index, &source)| {
                pool[index + 1..].iter().map(move |&target| Pair::unlinked((source, target)))
            });
            return self.choose(pairs, count, rng);
        }
        let mut end = || pool[rng.random_range(0..pool.len())];
        self.try_until(count, || Pair::unlinked((end(), end())))
    }

    fn choose(&mut self, pairs: impl Iterator<Item = Pair>, count: usize, rng: &mut impl Rng) -> Vec<Pair> {
        let mut free: Vec<Pair> = pairs.filter(|&pair| self.is_free(pair)).collect();
        let chosen = free.partial_shuffle(rng, count).0.to_vec();
        chosen.iter().for_each(|&pair| self.take(pair));
        chosen
    }

    /// Callers make sure that most tries succeed.
    fn try_until(&mut self, count: usize, mut propose: impl FnMut() -> Pair) -> Vec<Pair> {
        let mut pairs = Vec::with_capacity(count);
        while pairs.len() < count {
            let pair = propose();
            if self.is_free(pair) {
                self.take(pair);
                pairs.push(pair);
            }
        }
        pairs
    }

    fn is_free(&self, pair: Pair) -> bool {
        !pair.is_loop() && !self.taken.contains(&pair.key()) && !self.full.has_link(pair.source, pair.target)
    }

    fn take(&mut self, pair: Pair) {
        if self.taken.insert(pair.key()) {
            self.taken_at[pair.source as usize] += 1;
            self.taken_at[pair.target as usize] += 1;
        }
    }
}
