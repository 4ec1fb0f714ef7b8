//! Unlinked pairs, each at most once in a split.

use std::collections::HashSet;

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use super::{Pair, Whole};
use crate::graph::{NodeId, by_type, type_of};

/// How many times larger than what is refused a choice must be before it is made by trying: three tries in four succeed.
/// Where it is smaller, listing it costs no more than reading the graph.
const ROOM: u64 = 4;

/// Draws pairs that are no links of the full graph, no self-pairs, and were not drawn before.
pub(super) struct Negatives<'a> {
    full: Whole<'a>,
    taken: HashSet<u64>,
    taken_at: Vec<u32>,
}

impl<'a> Negatives<'a> {
    /// None drawn so far.
    pub(super) fn of(full: Whole<'a>) -> Self {
        Negatives { full, taken: HashSet::new(), taken_at: vec![0; full.graph.nodes()] }
    }

    /// None drawn so far, and none of `pairs` will be.
    pub(super) fn avoiding(full: Whole<'a>, pairs: &[Pair]) -> Self {
        let mut negatives = Negatives::of(full);
        for pair in pairs.iter().filter(|pair| !pair.linked) {
            negatives.take(*pair);
        }
        negatives
    }

    /// Nodes by their types, to draw from.
    pub(super) fn pools(&self, nodes: &[NodeId]) -> Vec<Vec<NodeId>> {
        by_type(self.full.types, nodes)
    }

    /// For each of `others` a pair of `source` with another node of its type, from `pools`; fewer only where there are no more.
    pub(super) fn like(
        &mut self,
        source: NodeId,
        others: impl Iterator<Item = NodeId>,
        pools: &[Vec<NodeId>],
        rng: &mut impl Rng,
    ) -> Vec<Pair> {
        let mut wanted = vec![0; pools.len()];
        others.for_each(|other| wanted[type_of(self.full.types, other)] += 1);
        let mut pairs = Vec::new();
        for (pool, &count) in pools.iter().zip(&wanted).filter(|(_, count)| **count > 0) {
            pairs.extend(self.keeping(source, pool, count, rng));
        }
        pairs
    }

    /// For each of `links` a pair of nodes of the types of its ends, from `nodes`; fewer only where there are no more.
    pub(super) fn as_many_as(&mut self, links: &[Pair], nodes: &[NodeId], rng: &mut impl Rng) -> Vec<Pair> {
        let pools = self.pools(nodes);
        let mut wanted = vec![0; pools.len() * pools.len()];
        for link in links {
            let types = [link.source, link.target].map(|end| type_of(self.full.types, end));
            wanted[types[0].min(types[1]) * pools.len() + types[0].max(types[1])] += 1;
        }
        let mut pairs = Vec::new();
        for (types, &count) in wanted.iter().enumerate().filter(|(_, count)| **count > 0) {
            let (one, other) = (types / pools.len(), types % pools.len());
            pairs.extend(match one == other {
                true => self.among(&pools[one], count, rng),
                false => self.between(&pools[one], &pools[other], count, rng),
            });
        }
        pairs
    }

    /// Up to `count` pairs of a node of one pool and one of the other; fewer only where there are no more.
    fn between(&mut self, one: &[NodeId], other: &[NodeId], count: usize, rng: &mut impl Rng) -> Vec<Pair> {
        let pairs = one.len() as u64 * other.len() as u64;
        if pairs < ROOM * (self.full.graph.links() + self.taken.len() + count) as u64 {
            let pairs =
                one.iter().flat_map(|&source| other.iter().map(move |&target| Pair::unlinked((source, target))));
            return self.choose(pairs, count, rng);
        }
        let mut pick = |pool: &[NodeId]| pool[rng.random_range(0..pool.len())];
        self.try_until(count, || Pair::unlinked((pick(one), pick(other))))
    }

    /// Up to `count` pairs of `source` with distinct nodes of `pool`; fewer only where there are no more.
    fn keeping(&mut self, source: NodeId, pool: &[NodeId], count: usize, rng: &mut impl Rng) -> Vec<Pair> {
        let refused = 1 + self.full.graph.degree(source) + self.taken_at[source as usize] as usize;
        if (pool.len() as u64) < ROOM * (refused + count) as u64 {
            let pairs = pool.iter().map(|&target| Pair::unlinked((source, target)));
            return self.choose(pairs, count, rng);
        }
        self.try_until(count, || Pair::unlinked((source, pool[rng.random_range(0..pool.len())])))
    }

    /// Up to `count` pairs of nodes of `pool`; fewer only where there are no more.
    fn among(&mut self, pool: &[NodeId], count: usize, rng: &mut impl Rng) -> Vec<Pair> {
        let pairs = pool.len() as u64 * (pool.len() as u64).saturating_sub(1) / 2;
        if pairs < ROOM * (self.full.graph.links() + self.taken.len() + count) as u64 {
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
        !pair.is_loop() && !self.taken.contains(&pair.key()) && !self.full.graph.has_link(pair.source, pair.target)
    }

    fn take(&mut self, pair: Pair) {
        if self.taken.insert(pair.key()) {
            self.taken_at[pair.source as usize] += 1;
            self.taken_at[pair.target as usize] += 1;
        }
    }
}
