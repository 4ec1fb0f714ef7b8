//! Where the walk of a node without links starts: the warm nodes that are most like it.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use rayon::prelude::*;

use super::Evidence;
use crate::graph::NodeId;
use crate::index::Similar;
use crate::kernel::{Chunk, Kernel, Matrix, Real, Simd, dot, normalise, prefetch};

/// Warm nodes that a new node's walk starts from: those whose attribute embedding is most like its own.
pub(crate) const STARTS: usize = 500;
/// Rows that are fetched before they are needed.
const AHEAD: usize = 2;
/// Nodes that look through the warm ones together.
const TOGETHER: usize = 16;
/// Numbers of the rows that they look at before the next: these stay in the nearest caches.
const NUMBERS_AT_ONCE: usize = 1 << 15;
/// Nodes whose starts are kept.
const MOST_EXPECTED: usize = 1 << 14;

/// Nodes that a walk starts from, with their cosines.
type Starts = Vec<(NodeId, f32)>;

/// The starts of nodes that were said to ask.
#[derive(Debug, Default)]
pub(super) struct ExpectedStarts(RwLock<HashMap<NodeId, Arc<Starts>>>);

impl ExpectedStarts {
    fn get(&self, node: NodeId) -> Option<Arc<Starts>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(&node).cloned()
    }

    fn lacks(&self, node: NodeId) -> bool {
        !self.0.read().unwrap_or_else(PoisonError::into_inner).contains_key(&node)
    }

    fn add(&self, found: impl Iterator<Item = (NodeId, Starts)>) {
        let mut kept = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let found = found.map(|(node, starts)| (node, Arc::new(starts)));
        kept.extend(found);
    }

    fn make_room(&self, wanted: usize) {
        let mut kept = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if kept.len() + wanted > MOST_EXPECTED {
            kept.clear();
        }
    }
}

impl Evidence<'_> {
    /// Looks for the starts of nodes that are about to ask, all together: each warm node is read once for many of them. What these
    /// find does not depend on it.
    pub(crate) fn expect(&self, sources: &[NodeId]) {
        if self.similar.is_some() {
            return;
        }
        // Who is none of its own starts looks alone.
        let held = |node| self.given.and_then(|given| given.of(node)).is_some_and(|links| links.held.is_some());
        let asks = |&node: &NodeId| {
            !self.is_warm(node) && !held(node) && self.has_attributes(node) && self.expected.lacks(node)
        };
        let mut sources: Vec<NodeId> = sources.iter().copied().filter(asks).collect();
        sources.sort_unstable();
        sources.dedup();
        sources.truncate(MOST_EXPECTED);
        self.expected.make_room(sources.len());
        let found = sources.par_chunks(TOGETHER).map(|sources| self.starts_together(sources));
        self.expected.add(sources.iter().copied().zip(found.collect::<Vec<_>>().into_iter().flatten()));
    }

    /// Where the walk of a node without links starts: the warm nodes whose attribute embeddings are most like its own, with their
    /// cosines, in no order. A node that is held as if it were new is none of its own starts.
    pub(crate) fn starts(&self, node: NodeId, held: Option<NodeId>) -> Starts {
        let Some(Similar { graphs, breadth }) = self.similar else {
            if let (Some(known), None) = (self.expected.get(node), held) {
                return known.to_vec();
            }
            let mut best = Best::without(held);
            self.look_through(0..self.warm.nodes().len(), &mut [(node, self.unit(node), &mut best)]);
            return best.into_starts();
        };
        let (side, row) = self.side(node);
        let breadth = breadth + usize::from(held.is_some());
        let found = graphs[self.role(node)].nearest(side.embeddings.attributes.row(row), 0.0, breadth);
        let nodes: Vec<NodeId> = found.into_iter().map(|found| found.0).collect();
        let (own, mut best) = (self.unit(node), Best::without(held));
        self.cosines(&own, &nodes, &mut best);
        best.into_starts()
    }

    /// The starts of several nodes.
    fn starts_together(&self, sources: &[NodeId]) -> Vec<Starts> {
        let mut best: Vec<Best> = sources.iter().map(|_| Best::without(None)).collect();
        let mut looking: Vec<_> =
            sources.iter().zip(&mut best).map(|(&source, best)| (source, self.unit(source), best)).collect();
        let row = self.known.embeddings.attributes.columns().max(1);
        let (warm, at_once) = (self.warm.nodes().len(), (NUMBERS_AT_ONCE / row).max(1));
        for first in (0..warm).step_by(at_once) {
            self.look_through(first..(first + at_once).min(warm), &mut looking);
        }
        best.into_iter().map(Best::into_starts).collect()
    }

    /// Shows some of the warm nodes to nodes that look for their starts.
    fn look_through(&self, warm: Range<usize>, looking: &mut [(NodeId, Vec<Chunk<f32>>, &mut Best)]) {
        let warm = &self.warm.nodes()[warm];
        for (source, own, best) in looking {
            if self.roles() == 1 {
                self.cosines(own, warm, best);
            } else {
                let role = self.role(*source);
                let of_role: Vec<NodeId> = warm.iter().copied().filter(|&start| self.role(start) == role).collect();
                self.cosines(own, &of_role, best);
            }
        }
    }

    /// The cosines of warm nodes' attribute embeddings with one of length 1.
    fn cosines(&self, own: &[Chunk<f32>], others: &[NodeId], best: &mut Best) {
        let rows = &self.known.embeddings.attributes;
        f32::run(Cosines { own, rows, inverse_lengths: &self.warm.inverse_lengths, others, best });
    }

    /// A node's attribute embedding at length 1.
    fn unit(&self, node: NodeId) -> Vec<Chunk<f32>> {
        let (side, row) = self.side(node);
        let mut own = side.embeddings.attributes.chunk_row(row).to_vec();
        f32::run(Normalise(&mut own));
        own
    }
}

/// The nodes with the largest cosines so far, and some that may not be among them in the end.
struct Best {
    found: Starts,
    /// What a node must exceed; nodes come in rising order, and of equal ones the first counts.
    least: f32,
    without: Option<NodeId>,
}

impl Best {
    fn without(held: Option<NodeId>) -> Self {
        Best { found: Vec::with_capacity(2 * STARTS), least: f32::NEG_INFINITY, without: held }
    }

    #[inline(always)]
    fn offer(&mut self, node: NodeId, cosine: f32) {
        if cosine > self.least && Some(node) != self.without {
            self.found.push((node, cosine));
            if self.found.len() == 2 * STARTS {
                self.shrink();
            }
        }
    }

    fn shrink(&mut self) {
        self.found.select_nth_unstable_by(STARTS - 1, |a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        self.found.truncate(STARTS);
        self.least = self.found[STARTS - 1].1;
    }

    fn into_starts(mut self) -> Starts {
        if self.found.len() > STARTS {
            self.shrink();
        }
        self.found
    }
}

struct Normalise<'a>(&'a mut [Chunk<f32>]);

impl Kernel<f32> for Normalise<'_> {
    type Output = ();
    #[inline(always)]
    fn on<S: Simd<Scalar = f32>>(self, simd: S) {
        normalise(simd, self.0);
    }
}

/// The cosines of rows with a row of length 1.
struct Cosines<'a> {
    own: &'a [Chunk<f32>],
    rows: &'a Matrix<f32>,
    inverse_lengths: &'a [f32],
    others: &'a [NodeId],
    best: &'a mut Best,
}

impl Kernel<f32> for Cosines<'_> {
    type Output = ();
    #[inline(always)]
    fn on<S: Simd<Scalar = f32>>(self, simd: S) {
        for (place, &other) in self.others.iter().enumerate() {
            if let Some(&soon) = self.others.get(place + AHEAD) {
                prefetch(self.rows.chunk_row(soon as usize));
            }
            let cosine =
                self.inverse_lengths[other as usize] * dot(simd, self.own, self.rows.chunk_row(other as usize));
            self.best.offer(other, cosine);
        }
    }
}
