//! From two nodes to the terms of their score.

use std::borrow::Cow;
use std::sync::OnceLock;

use rayon::prelude::*;

use super::tfidf::inner;
use super::{Term, Terms, TfIdfRows};
use crate::graph::{Graph, NodeId};
use crate::kernel::{Chunk, Kernel, Matrix, Real, Simd, dot, normalise};
use crate::model::Embeddings;
use crate::split::PairKind;

/// Seen nodes that a new node's walk starts from: those whose attribute embedding is most like its own.
const STARTS: usize = 500;
/// A start's share is e^(cosine / this).
const START_TEMPERATURE: f32 = 0.05;
/// Added to a walk's chance before its logarithm: of the order of one link among all that start.
pub(crate) const SMALL_CHANCE: f32 = 1e-5;

/// Numbers of all walks from nodes without links that are kept.
const MOST_KEPT: usize = 1 << 27;

/// Some nodes with all that is known of them apart from links.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// Both embeddings.
    pub embeddings: &'a Embeddings,
    /// tf-idf rows.
    pub words: &'a TfIdfRows,
}

/// All that is known of the nodes of a training graph, and of new nodes that are numbered after them.
pub struct Evidence<'a> {
    graph: &'a Graph,
    known: Side<'a>,
    new: Option<Side<'a>>,
    /// Nodes with a link, and their z_a of length 1, in the same order.
    seen: Vec<NodeId>,
    seen_attributes: Matrix<f32>,
    /// The walk of a node that is like no other: from anywhere.
    walk_from_anywhere: OnceLock<Vec<f32>>,
    /// Walks from nodes of the graph that have no link, for seen nodes that look at them.
    unseen_walks: Vec<OnceLock<Vec<f32>>>,
}

/// A node from which links are looked for.
struct Source<'a> {
    node: NodeId,
    seen: bool,
    side: Side<'a>,
    row: usize,
    /// The chance that a walk along one link from its starts ends at each node.
    near: Vec<f32>,
}

impl<'a> Evidence<'a> {
    /// Of the nodes of a training graph. Nodes without a link in it are new ones.
    pub fn new(graph: &'a Graph, known: Side<'a>) -> Self {
        let seen: Vec<NodeId> = (0..graph.nodes() as NodeId).filter(|&node| graph.degree(node) > 0).collect();
        let mut seen_attributes = Matrix::zeros(seen.len(), known.embeddings.attributes.columns());
        let width = seen_attributes.row_chunks().max(1);
        seen_attributes.chunks_mut().par_chunks_mut(width).zip(&seen).for_each(|(row, &node)| {
            row.copy_from_slice(known.embeddings.attributes.chunk_row(node as usize));
            f32::run(Normalise(row));
        });
        let unseen = graph.nodes() - seen.len();
        let kept = if unseen * graph.nodes() > MOST_KEPT { 0 } else { graph.nodes() };
        Evidence {
            graph,
            known,
            new: None,
            seen,
            seen_attributes,
            walk_from_anywhere: OnceLock::new(),
            unseen_walks: (0..kept).map(|_| OnceLock::new()).collect(),
        }
    }

    /// The same with nodes that are in no graph; the first of them is numbered after the last of the graph.
    pub fn with_new(self, new: Side<'a>) -> Self {
        Evidence { new: Some(new), ..self }
    }

    fn side(&self, node: NodeId) -> (Side<'a>, usize) {
        let (node, known) = (node as usize, self.graph.nodes());
        match self.new {
            Some(new) if node >= known => (new, node - known),
            _ => (self.known, node),
        }
    }

    /// Whether a node has a link.
    pub fn is_seen(&self, node: NodeId) -> bool {
        self.degree(node) > 0
    }

    /// How many links a node has.
    pub fn degree(&self, node: NodeId) -> usize {
        if (node as usize) < self.graph.nodes() { self.graph.degree(node) } else { 0 }
    }

    /// ln(1 + degree): what the number of its links alone says for a node.
    pub fn popularity(&self, node: NodeId) -> f32 {
        (self.degree(node) as f32).ln_1p()
    }

    /// Which ends of a pair are seen.
    pub fn kind(&self, source: NodeId, target: NodeId) -> PairKind {
        match (self.is_seen(source), self.is_seen(target)) {
            (true, true) => PairKind::OldOld,
            (false, false) => PairKind::NewNew,
            _ => PairKind::NewOld,
        }
    }

    /// The terms of each pair, in order. They are the same for both orders of a pair.
    pub fn terms(&self, pairs: &[(NodeId, NodeId)]) -> Vec<Terms> {
        // The new end looks for the other; where both or neither is new, the one with the smaller number does.
        let looks_first = |&(a, b): &(NodeId, NodeId)| (self.is_seen(a), a) <= (self.is_seen(b), b);
        let mut order: Vec<(NodeId, NodeId, usize)> = pairs
            .iter()
            .enumerate()
            .map(|(place, pair)| if looks_first(pair) { (pair.0, pair.1, place) } else { (pair.1, pair.0, place) })
            .collect();
        order.par_sort_unstable();
        let groups: Vec<_> = order.chunk_by(|a, b| a.0 == b.0).collect();
        let terms: Vec<Vec<Terms>> = groups
            .par_iter()
            .map(|group| {
                let source = self.source(group[0].0);
                let targets: Vec<NodeId> = group.iter().map(|&(_, target, _)| target).collect();
                let mut out = vec![Terms::default(); targets.len()];
                self.fill(&source, &targets, None, &mut out);
                out
            })
            .collect();
        let mut out = vec![Terms::default(); pairs.len()];
        for (&(.., place), terms) in order.iter().zip(terms.into_iter().flatten()) {
            out[place] = terms;
        }
        out
    }

    /// The terms of `source` with each candidate.
    pub fn terms_against(&self, source: NodeId, candidates: &[NodeId], out: &mut [Terms]) {
        let source = self.source(source);
        // A few candidates are not worth a number for every node.
        let few = candidates.len() < self.graph.nodes() / 16;
        let products = (!few).then(|| self.known.words.products(source.side.words.row(source.row)));
        self.fill(&source, candidates, products.as_deref(), out);
    }

    fn source(&self, node: NodeId) -> Source<'a> {
        let (side, row) = self.side(node);
        Source { node, seen: self.is_seen(node), side, row, near: self.walk_from(node) }
    }

    /// The chance that a walk along one link from a node's starts ends at each node.
    fn walk_from(&self, node: NodeId) -> Vec<f32> {
        if self.is_seen(node) {
            let neighbors = self.graph.neighbors(node);
            let share = 1.0 / neighbors.len() as f32;
            self.walk(neighbors.iter().map(|&start| (start, share)))
        } else {
            let (side, row) = self.side(node);
            let attributes = side.embeddings.attributes.chunk_row(row);
            if f32::flat(attributes).iter().any(|value| *value != 0.0) {
                return self.walk(self.starts(attributes));
            }
            // Without attributes all nodes are alike.
            let share = 1.0 / self.seen.len().max(1) as f32;
            let anywhere = || self.walk(self.seen.iter().map(|&start| (start, share)));
            self.walk_from_anywhere.get_or_init(anywhere).clone()
        }
    }

    /// The same of a node without links, kept for the next time unless all of these would take too much room.
    fn walk_from_unseen(&self, node: NodeId) -> Cow<'_, [f32]> {
        match self.unseen_walks.get(node as usize) {
            Some(kept) => Cow::Borrowed(kept.get_or_init(|| self.walk_from(node))),
            None => Cow::Owned(self.walk_from(node)),
        }
    }

    /// The seen nodes most like a new one, each with its share.
    fn starts(&self, attributes: &[Chunk<f32>]) -> impl Iterator<Item = (NodeId, f32)> {
        let mut cosines = vec![(0.0_f32, 0); self.seen.len()];
        let mut own = attributes.to_vec();
        f32::run(Normalise(&mut own));
        f32::run(Cosines { own: &own, rows: &self.seen_attributes, out: &mut cosines });
        let best_first = |a: &(f32, u32), b: &(f32, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if cosines.len() > STARTS {
            cosines.select_nth_unstable_by(STARTS - 1, best_first);
            cosines.truncate(STARTS);
        }
        // In the order of nodes, so that sums do not depend on how the best were found.
        cosines.sort_unstable_by_key(|(_, place)| *place);
        let largest = cosines.iter().fold(f32::MIN, |largest, (cosine, _)| largest.max(*cosine));
        for (cosine, _) in &mut cosines {
            *cosine = ((*cosine - largest) / START_TEMPERATURE).exp();
        }
        let sum: f32 = cosines.iter().map(|(share, _)| share).sum();
        cosines.into_iter().map(move |(share, place)| (self.seen[place as usize], share / sum))
    }

    /// Where a step along a link from these starts ends.
    fn walk(&self, starts: impl Iterator<Item = (NodeId, f32)>) -> Vec<f32> {
        let mut chances = vec![0.0; self.graph.nodes()];
        for (start, share) in starts {
            let neighbors = self.graph.neighbors(start);
            let share = share / neighbors.len() as f32;
            neighbors.iter().for_each(|&end| chances[end as usize] += share);
        }
        chances
    }

    fn fill(&self, source: &Source<'_>, targets: &[NodeId], products: Option<&[f32]>, out: &mut [Terms]) {
        f32::run(Similarities { evidence: self, source, targets, out });
        let words = source.side.words.row(source.row);
        for (terms, &target) in out.iter_mut().zip(targets) {
            let (side, row) = self.side(target);
            let known = products.filter(|_| (target as usize) < self.graph.nodes());
            let cosine = known.map_or_else(|| inner(words, side.words.row(row)), |products| products[row]);
            terms[Term::Tfidf as usize] = cosine;
            terms[Term::Degree as usize] = self.popularity(source.node) + self.popularity(target);
            let (near, far) = match (source.seen, self.is_seen(target)) {
                (true, true) => {
                    // Scaled to be the same in both directions.
                    let scale = (self.degree(source.node) as f32 / self.degree(target) as f32).sqrt();
                    let (near, far) = self.chances(&source.near, target);
                    (near * scale, far * scale)
                }
                (false, true) => self.chances(&source.near, target),
                (true, false) => self.chances(&self.walk_from_unseen(target), source.node),
                (false, false) => (0.0, 0.0),
            };
            terms[Term::Near as usize] = (near + SMALL_CHANCE).ln();
            terms[Term::Far as usize] = (far + SMALL_CHANCE).ln();
        }
    }

    /// The chances that a walk, of which `near` has the first step, is at a seen node after one step and after two.
    fn chances(&self, near: &[f32], target: NodeId) -> (f32, f32) {
        let step = |&from: &NodeId| near[from as usize] / self.graph.degree(from) as f32;
        (near[target as usize], self.graph.neighbors(target).iter().map(step).sum())
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

/// The inner product of a row with every row of a matrix, beside the row's number.
struct Cosines<'a> {
    own: &'a [Chunk<f32>],
    rows: &'a Matrix<f32>,
    out: &'a mut [(f32, u32)],
}

impl Kernel<f32> for Cosines<'_> {
    type Output = ();
    #[inline(always)]
    fn on<S: Simd<Scalar = f32>>(self, simd: S) {
        for (row, out) in self.out.iter_mut().enumerate() {
            *out = (dot(simd, self.own, self.rows.chunk_row(row)), row as u32);
        }
    }
}

/// The terms that are inner products of embeddings.
struct Similarities<'a> {
    evidence: &'a Evidence<'a>,
    source: &'a Source<'a>,
    targets: &'a [NodeId],
    out: &'a mut [Terms],
}

impl Kernel<f32> for Similarities<'_> {
    type Output = ();
    #[inline(always)]
    fn on<S: Simd<Scalar = f32>>(self, simd: S) {
        let own = self.source.side.embeddings;
        let (own_a, own_s) = (own.attributes.chunk_row(self.source.row), own.structure.chunk_row(self.source.row));
        for (terms, &target) in self.out.iter_mut().zip(self.targets) {
            let (side, row) = self.evidence.side(target);
            let (a, s) = (side.embeddings.attributes.chunk_row(row), side.embeddings.structure.chunk_row(row));
            let attributes = dot(simd, own_a, a);
            let seen = (self.source.seen, self.evidence.is_seen(target));
            terms[Term::Attributes as usize] = attributes;
            terms[Term::Cross as usize] = match seen {
                (true, true) => (dot(simd, own_s, a) + dot(simd, own_a, s)) / 2.0,
                (true, false) => dot(simd, own_s, a),
                (false, true) => dot(simd, own_a, s),
                (false, false) => attributes,
            };
            terms[Term::Structure as usize] = if seen == (true, true) { dot(simd, own_s, s) } else { 0.0 };
        }
    }
}
