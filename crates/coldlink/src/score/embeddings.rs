//! Embeddings of nodes, and the score of a pair (Eq. 10).

use rayon::prelude::*;

use super::Scorer;
use crate::config::Similarity;
use crate::graph::NodeId;
use crate::kernel::{Chunk, Kernel, Matrix, ROWS_PER_TASK, Real, Simd, add_scaled, dot, normalise};
use crate::network::{AttributeEncoder, Columns, Encoders, Features, Inputs, Weights};

/// Nodes that are encoded at a time.
const NODES_PER_ROUND: usize = 4_096;

/// Both embeddings of some nodes, as they enter inner products: of length 1 under cosine.
///
/// A node without a training link has no structure embedding; its attribute embedding stands in for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Embeddings {
    /// z_a, a row per node.
    pub attributes: Matrix<f32>,
    /// z_s, a row per node.
    pub structure: Matrix<f32>,
    /// Which nodes have a z_s of their own.
    pub warm: Vec<bool>,
}

impl Embeddings {
    /// Of `nodes`, of which `is_warm` tells whether they had a link in training.
    pub fn of<W: Weights<Number = f32>>(
        encoders: &Encoders<W>,
        features: &Features,
        nodes: &[NodeId],
        is_warm: impl Fn(NodeId) -> bool,
    ) -> Self {
        let attributes = embed_attributes(&encoders.attributes, encoders.similarity, features, nodes);
        let warm: Vec<bool> = nodes.iter().map(|&node| is_warm(node)).collect();
        let mut structure = attributes.clone();
        let width = structure.row_chunks();
        structure.chunks_mut().par_chunks_mut(width).zip(nodes.par_iter().zip(&warm)).for_each(
            |(out, (&node, &warm))| {
                if warm {
                    f32::run(EmbedStructure { encoders, node, out });
                }
            },
        );
        Embeddings { attributes, structure, warm }
    }

    /// Of nodes without links, whose attribute embeddings stand in for the others.
    pub(crate) fn of_cold(attributes: Matrix<f32>) -> Self {
        let warm = vec![false; attributes.rows()];
        Embeddings { structure: attributes.clone(), attributes, warm }
    }

    /// Those of several, one after the other.
    pub(crate) fn concatenated(parts: &[&Embeddings]) -> Option<Embeddings> {
        let rows = |of: fn(&Embeddings) -> &Matrix<f32>| {
            let chunks = parts.iter().map(|part| of(part).chunks()).collect::<Vec<_>>().concat();
            Matrix::from_chunks(parts.iter().map(|part| part.nodes()).sum(), of(parts.first()?).columns(), chunks)
        };
        let warm = parts.iter().flat_map(|part| part.warm.iter().copied()).collect();
        Some(Embeddings { attributes: rows(|part| &part.attributes)?, structure: rows(|part| &part.structure)?, warm })
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.warm.len()
    }

    /// The score of two rows with the weights λ of Eq. 10. λ₁ counts where both are warm; the third term takes z_s of the
    /// warm one and z_a of the other, and the mean of both orders where both are warm.
    pub fn score(&self, lambda: [f32; 3], pairs: &[(u32, u32)], out: &mut [f32]) {
        f32::run(ScorePairs { embeddings: self, lambda, pairs, out });
    }

    /// For a row `source` the vectors u and v for which its score with any row q is u · z_s(q) + v · z_a(q), as long as q is
    /// warm (`warm`) or not.
    fn query(&self, lambda: [f32; 3], source: usize, warm: bool) -> [Vec<Chunk<f32>>; 2] {
        let (own_s, own_a) = (self.structure.chunk_row(source), self.attributes.chunk_row(source));
        let zero = [0.0, 0.0];
        // Weights of (own z_s, own z_a) in u and in v.
        let (of_s, of_a) = match (self.warm[source], warm) {
            (true, true) => ([lambda[0], lambda[2] / 2.0], [lambda[2] / 2.0, lambda[1]]),
            (false, true) => ([0.0, lambda[2]], [0.0, lambda[1]]),
            (true, false) => (zero, [lambda[2], lambda[1]]),
            (false, false) => (zero, [0.0, lambda[1] + lambda[2]]),
        };
        [of_s, of_a].map(|weights| f32::run(Mix { rows: [own_s, own_a], weights }))
    }
}

/// z_a of some nodes, of length 1 under cosine.
pub(crate) fn embed_attributes(
    encoder: &AttributeEncoder<impl Weights<Number = f32>>,
    similarity: Similarity,
    features: &Features,
    nodes: &[NodeId],
) -> Matrix<f32> {
    let mut inputs = Inputs::new(features);
    let mut activations = encoder.activations();
    let mut out = Matrix::zeros(nodes.len(), encoder.width());
    let width = out.row_chunks();
    let rounds = out.chunks_mut().chunks_mut(NODES_PER_ROUND * width);
    for (nodes, out) in nodes.chunks(NODES_PER_ROUND).zip(rounds) {
        inputs.gather(features, nodes, None, Columns::None);
        encoder.forward(&inputs, nodes.len(), None, &mut activations);
        if let Some(embeddings) = activations.outputs.last() {
            out.copy_from_slice(embeddings.chunks());
        }
        if similarity == Similarity::Cosine {
            out.par_chunks_mut(ROWS_PER_TASK * width).for_each(|rows| f32::run(NormaliseRows { rows, width }));
        }
    }
    out
}

struct NormaliseRows<'a> {
    rows: &'a mut [Chunk<f32>],
    width: usize,
}

impl Kernel<f32> for NormaliseRows<'_> {
    type Output = ();
    #[inline(always)]
    fn on<S: Simd<Scalar = f32>>(self, simd: S) {
        for row in self.rows.chunks_exact_mut(self.width) {
            normalise(simd, row);
        }
    }
}

struct EmbedStructure<'a, W> {
    encoders: &'a Encoders<W>,
    node: NodeId,
    out: &'a mut [Chunk<f32>],
}

impl<W: Weights<Number = f32>> Kernel<f32> for EmbedStructure<'_, W> {
    type Output = ();
    #[inline(always)]
    fn on<S: Simd<Scalar = f32>>(self, simd: S) {
        self.encoders.structure.embed(simd, self.node, self.out);
        if self.encoders.similarity == Similarity::Cosine {
            normalise(simd, self.out);
        }
    }
}

/// w₀ row₀ + w₁ row₁.
struct Mix<'a> {
    rows: [&'a [Chunk<f32>]; 2],
    weights: [f32; 2],
}

impl Kernel<f32> for Mix<'_> {
    type Output = Vec<Chunk<f32>>;
    #[inline(always)]
    fn on<S: Simd<Scalar = f32>>(self, simd: S) -> Self::Output {
        let mut sum = vec![Chunk([0.0; crate::kernel::LANES]); self.rows[0].len()];
        for (row, weight) in self.rows.into_iter().zip(self.weights) {
            add_scaled(simd, &mut sum, weight, row);
        }
        sum
    }
}

struct ScorePairs<'a> {
    embeddings: &'a Embeddings,
    lambda: [f32; 3],
    pairs: &'a [(u32, u32)],
    out: &'a mut [f32],
}

impl Kernel<f32> for ScorePairs<'_> {
    type Output = ();
    #[inline(always)]
    fn on<S: Simd<Scalar = f32>>(self, simd: S) {
        let Embeddings { attributes, structure, warm } = self.embeddings;
        let [of_structure, of_attributes, of_both] = self.lambda;
        for (out, &(p, q)) in self.out.iter_mut().zip(self.pairs) {
            let (p, q) = (p as usize, q as usize);
            let s = |node: usize| structure.chunk_row(node);
            let a = |node: usize| attributes.chunk_row(node);
            let own = dot(simd, a(p), a(q));
            let both = match (warm[p], warm[q]) {
                (true, true) => (dot(simd, s(p), a(q)) + dot(simd, a(p), s(q))) / 2.0,
                (true, false) => dot(simd, s(p), a(q)),
                (false, true) => dot(simd, a(p), s(q)),
                (false, false) => own,
            };
            let links = if warm[p] && warm[q] { dot(simd, s(p), s(q)) } else { 0.0 };
            *out = of_structure * links + of_attributes * own + of_both * both;
        }
    }
}

/// Embeddings with the weights of Eq. 10: scores any pair of a graph's nodes.
pub struct EmbeddingScorer<'a> {
    /// A row per node of the graph.
    pub embeddings: &'a Embeddings,
    /// λ.
    pub lambda: [f32; 3],
}

impl Scorer for EmbeddingScorer<'_> {
    fn scores(&self, pairs: &[(NodeId, NodeId)]) -> Vec<f32> {
        let mut out = vec![0.0; pairs.len()];
        let tasks = out.par_chunks_mut(1024).zip(pairs.par_chunks(1024));
        tasks.for_each(|(out, pairs)| self.embeddings.score(self.lambda, pairs, out));
        out
    }

    fn scores_against(&self, source: NodeId, candidates: &[NodeId], out: &mut [f32]) {
        let queries = [false, true].map(|warm| self.embeddings.query(self.lambda, source as usize, warm));
        f32::run(ScoreCandidates { embeddings: self.embeddings, queries: &queries, candidates, out });
    }
}

struct ScoreCandidates<'a> {
    embeddings: &'a Embeddings,
    queries: &'a [[Vec<Chunk<f32>>; 2]; 2],
    candidates: &'a [NodeId],
    out: &'a mut [f32],
}

impl Kernel<f32> for ScoreCandidates<'_> {
    type Output = ();
    #[inline(always)]
    fn on<S: Simd<Scalar = f32>>(self, simd: S) {
        let Embeddings { attributes, structure, warm } = self.embeddings;
        for (out, &candidate) in self.out.iter_mut().zip(self.candidates) {
            let candidate = candidate as usize;
            let [of_s, of_a] = &self.queries[usize::from(warm[candidate])];
            *out = dot(simd, of_a, attributes.chunk_row(candidate));
            if warm[candidate] {
                *out += dot(simd, of_s, structure.chunk_row(candidate));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn embeddings() -> Embeddings {
        let value =
            |salt: usize| move |row: usize, column: usize| ((row * 5 + column * 3 + salt) % 11) as f32 / 7.0 - 0.6;
        let attributes = Matrix::from_fn(4, 20, value(1));
        let mut structure = Matrix::from_fn(4, 20, value(6));
        let warm = vec![true, true, false, false];
        for row in 2..4 {
            structure.row_mut(row).copy_from_slice(attributes.row(row));
        }
        Embeddings { attributes, structure, warm }
    }

    /// Eq. 10 as evaluation reads it, term by term.
    fn expected(e: &Embeddings, [l1, l2, l3]: [f32; 3], p: usize, q: usize) -> f32 {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        let (sp, sq) = (e.structure.row(p), e.structure.row(q));
        let (ap, aq) = (e.attributes.row(p), e.attributes.row(q));
        match (e.warm[p], e.warm[q]) {
            (true, true) => l1 * dot(sp, sq) + l2 * dot(ap, aq) + l3 * (dot(sp, aq) + dot(sq, ap)) / 2.0,
            (true, false) => l2 * dot(ap, aq) + l3 * dot(sp, aq),
            (false, true) => l2 * dot(ap, aq) + l3 * dot(ap, sq),
            (false, false) => (l2 + l3) * dot(ap, aq),
        }
    }

    #[test]
    fn scores_are_equation_ten_for_every_kind_of_pair_and_symmetric() {
        let embeddings = embeddings();
        let lambda = [0.2, 0.5, 0.3];
        let scorer = EmbeddingScorer { embeddings: &embeddings, lambda };
        for p in 0..4 {
            let mut against = [0.0; 4];
            scorer.scores_against(p, &[0, 1, 2, 3], &mut against);
            for q in 0..4 {
                let score = scorer.scores(&[(p, q)])[0];
                assert!((score - expected(&embeddings, lambda, p as usize, q as usize)).abs() < 1e-5, "{p} {q}");
                assert!((against[q as usize] - score).abs() < 1e-5, "{p} {q}");
                assert!((scorer.scores(&[(q, p)])[0] - score).abs() < 1e-6);
            }
        }
    }
}
