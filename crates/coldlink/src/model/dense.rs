//! The dense part of a score: what one inner product with a vector per node gives, here and in any vector database.

use rayon::prelude::*;

use super::Model;
use crate::config::Term;
use crate::graph::NodeId;
use crate::kernel::{Chunk, Kernel, Matrix, Real, Simd, add_scaled};
use crate::score::{SMALL_CHANCE, SMALL_VOTE};
use crate::split::PairClass;

impl Model {
    /// For each node a vector whose inner product with a new node's query vector is the dense part of their score: all but the
    /// tf-idf cosine and what walks add, for a new node of mean closeness. Where the score is by λ, it is the whole. Links run to the node, in
    /// the first relation.
    ///
    /// The vector is w_a z_a + w_c z_s, followed by what is added to any pair with the node, that for its number of links included.
    pub fn search_vectors(&self) -> Matrix<f32> {
        let model = self.in_one();
        let (vectors, biases) = (model.dense_vectors(), model.dense_biases());
        self.in_role(with_column(&vectors, |row| biases[row]), self.roles.ends(0).1)
    }

    /// What [`Model::search_vectors`] are multiplied with, from [`Model::embed`]: z_a followed by 1.
    pub fn query_vectors(&self, embedded: &Matrix<f32>) -> Matrix<f32> {
        with_column(embedded, |_| 1.0)
    }

    /// The same vectors without their last number.
    pub(super) fn dense_vectors(&self) -> Matrix<f32> {
        let (attributes, structure) = (&self.embeddings.attributes, &self.embeddings.structure);
        let mut vectors = Matrix::zeros(attributes.rows(), attributes.columns());
        let width = vectors.row_chunks().max(1);
        vectors.chunks_mut().par_chunks_mut(width).enumerate().for_each(|(node, out)| {
            let rows = [attributes.chunk_row(node), structure.chunk_row(node)];
            f32::run(Combine { rows, weights: self.dense_weights(node), out });
        });
        vectors
    }

    /// And their last numbers.
    pub(super) fn dense_biases(&self) -> Vec<f32> {
        let Some(memory) = &self.memory else { return vec![0.0; self.embeddings.nodes()] };
        let bias = |node: usize| {
            let weights = memory.weights.of(self.class_with_new(node), self.role_with(node));
            let of = |term: Term| weights.terms[term as usize];
            let popularity = f64::from(memory.graph.popularity(node as NodeId));
            let unreached = (of(Term::Near) + of(Term::Far)) * f64::from(SMALL_CHANCE.ln())
                + of(Term::Votes) * f64::from(SMALL_VOTE.ln());
            (of(Term::Degree) * popularity + unreached + weights.intercept) as f32
        };
        (0..self.embeddings.nodes()).into_par_iter().map(bias).collect()
    }

    fn dense_weights(&self, node: usize) -> [f32; 2] {
        match &self.memory {
            Some(memory) => {
                let terms = &memory.weights.of(self.class_with_new(node), self.role_with(node)).terms;
                [Term::Attributes, Term::Cross].map(|term| terms[term as usize] as f32)
            }
            None => [self.lambda()[1], self.lambda()[2]],
        }
    }

    /// The role whose weights count for a new node that may be linked with a role node: its own, or the source's where the other has
    /// no links either.
    fn role_with(&self, node: usize) -> usize {
        let role = self.roles.role(node as NodeId);
        let own = self.roles.opposite(role);
        if self.embeddings.warm[node] { own } else { own.min(role) }
    }

    fn class_with_new(&self, node: usize) -> PairClass {
        if self.is_warm_in_role(node as NodeId) { PairClass::ColdWarm } else { PairClass::ColdCold }
    }
}

fn with_column(matrix: &Matrix<f32>, last: impl Fn(usize) -> f32) -> Matrix<f32> {
    let columns = matrix.columns();
    let mut wider = Matrix::zeros(matrix.rows(), columns + 1);
    for row in 0..matrix.rows() {
        let out = wider.row_mut(row);
        out[..columns].copy_from_slice(matrix.row(row));
        out[columns] = last(row);
    }
    wider
}

struct Combine<'a> {
    rows: [&'a [Chunk<f32>]; 2],
    weights: [f32; 2],
    out: &'a mut [Chunk<f32>],
}

impl Kernel<f32> for Combine<'_> {
    type Output = ();
    #[inline(always)]
    fn on<S: Simd<Scalar = f32>>(self, simd: S) {
        for (row, weight) in self.rows.into_iter().zip(self.weights) {
            add_scaled(simd, self.out, weight, row);
        }
    }
}
