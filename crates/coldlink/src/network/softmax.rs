//! The softmax loss: each linked pair's other end among uniform negatives that the whole batch shares.
//!
//! With S the similarities of all sources' embeddings (z_s and z_a of each) with all negatives' (z_s and z_a of each), the four
//! quarters of S are the terms z_s·z_s, z_s·z_a, z_a·z_s and z_a·z_a. S is one dense product, and so are both gradients. A
//! candidate's offset, the same in all four, is added to its similarities / temperature.

use rayon::prelude::*;

use crate::config::Config;
use crate::kernel::{
    Chunk, Entry, Kernel, LANES, Left, Matrix, ROWS_PER_TASK, Real, Simd, add_scaled, dot, normalise_backward, product,
    weighted_row_sum,
};
use crate::sample::Batch;

/// Below any similarity: what a masked negative is set to.
const MASKED: f64 = -1e30;

/// −log of the softmax share of a pair's true end, for each of the four terms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SoftmaxLoss {
    temperature: f64,
    /// Weights of z_s·z_s, z_s·z_a, z_a·z_s and z_a·z_a: the cross term counts in both directions.
    theta: [f64; 4],
}

/// Memory that steps use again and again.
pub(super) struct SoftmaxSpace<T: Real> {
    /// Of pair i's source, z_s in row 2 i and z_a in row 2 i + 1.
    sources: Matrix<T>,
    /// z_s of all negatives, then z_a; each half filled up to whole chunks.
    negatives: Matrix<T>,
    /// Similarities, then the loss's derivatives by them: a row per row of `sources`, a column per row of `negatives`.
    slopes: Matrix<T>,
    /// The derivative by the true pair's own four similarities.
    own_slopes: Vec<[T; 4]>,
    losses: Vec<[T; 4]>,
    /// The offset of each negative times the temperature, filled up to whole chunks; none where nothing is added.
    offsets: Vec<Chunk<T>>,
    source_gradient: Matrix<T>,
    negative_gradient: Matrix<T>,
}

impl<T: Real> SoftmaxSpace<T> {
    pub(super) fn new(width: usize) -> Self {
        let empty = || Matrix::zeros(0, width);
        SoftmaxSpace {
            sources: empty(),
            negatives: empty(),
            slopes: Matrix::zeros(0, 0),
            own_slopes: Vec::new(),
            losses: Vec::new(),
            offsets: Vec::new(),
            source_gradient: empty(),
            negative_gradient: empty(),
        }
    }
}

/// Where both embeddings of a batch's nodes stand before and after.
pub(super) struct Sides<'a, T: Real> {
    /// z_s in row 2 i and z_a in row 2 i + 1, as they enter inner products.
    pub vectors: &'a Matrix<T>,
    /// 1 / length of each before, where they are of length 1.
    pub inverse: Option<&'a [T]>,
    pub structure: &'a mut Matrix<T>,
    pub attributes: &'a mut Matrix<T>,
}

impl SoftmaxLoss {
    pub(super) fn of(config: &Config) -> Self {
        let [structure, attributes, cross] = config.theta;
        SoftmaxLoss { temperature: config.temperature, theta: [structure, cross, cross, attributes] }
    }

    /// Fills the losses and the slopes.
    pub(super) fn forward<T: Real>(&self, batch: &Batch, vectors: &Matrix<T>, space: &mut SoftmaxSpace<T>) {
        let pairs = batch.pairs.len();
        let half = batch.negatives.places.len().next_multiple_of(LANES);
        space.sources.resize_rows(2 * pairs);
        for (pair, &[source, _]) in batch.pairs.iter().enumerate() {
            for side in 0..2 {
                let row = vectors.chunk_row(2 * source as usize + side);
                space.sources.chunk_row_mut(2 * pair + side).copy_from_slice(row);
            }
        }
        space.negatives.resize_rows(2 * half);
        space.negatives.chunks_mut().fill(Chunk([T::ZERO; LANES]));
        for (index, &place) in batch.negatives.places.iter().enumerate() {
            for side in 0..2 {
                let row = vectors.chunk_row(2 * place as usize + side);
                space.negatives.chunk_row_mut(side * half + index).copy_from_slice(row);
            }
        }
        if (space.slopes.rows(), space.slopes.columns()) != (2 * pairs, 2 * half) {
            space.slopes = Matrix::zeros(2 * pairs, 2 * half);
        }
        product(Left::Plain(&space.sources), &space.negatives.transposed(), &mut space.slopes);
        space.offsets.clear();
        if !batch.offsets_of.is_empty() {
            space.offsets.resize(half / LANES, Chunk([T::ZERO; LANES]));
            let offset = |&place: &u32| T::of(f64::from(batch.offsets_of[place as usize]) * self.temperature);
            let offsets = T::flat_mut(&mut space.offsets).iter_mut();
            offsets.zip(&batch.negatives.places).for_each(|(out, place)| *out = offset(place));
        }
        space.own_slopes.resize(pairs, [T::ZERO; 4]);
        space.losses.resize(pairs, [T::ZERO; 4]);
        let width = space.slopes.row_chunks();
        let offsets = &space.offsets[..];
        let rows = space.slopes.chunks_mut().par_chunks_mut(2 * width);
        let own = space.own_slopes.par_iter_mut().zip(&mut space.losses);
        rows.zip(own).enumerate().for_each(|(pair, (rows, (own_slopes, losses)))| {
            T::run(Shares { loss: self, batch, pair, vectors, offsets, rows, own_slopes, losses });
        });
    }

    /// The mean losses of z_s·z_s, z_a·z_a and the cross term's two directions together.
    pub(super) fn losses<T: Real>(&self, space: &SoftmaxSpace<T>) -> [f64; 3] {
        let mean = |term: usize| {
            space.losses.iter().map(|losses| losses[term].wide()).sum::<f64>() / space.losses.len().max(1) as f64
        };
        [mean(0), mean(3), mean(1) + mean(2)]
    }

    /// From the slopes to the gradients of both embeddings.
    pub(super) fn backward<T: Real>(&self, batch: &Batch, space: &mut SoftmaxSpace<T>, sides: Sides<'_, T>) {
        space.source_gradient.resize_rows(space.sources.rows());
        product(Left::Plain(&space.slopes), &space.negatives, &mut space.source_gradient);
        space.negative_gradient.resize_rows(space.negatives.rows());
        product(Left::Transposed(&space.slopes), &space.sources, &mut space.negative_gradient);
        let mut negative_of = vec![None; batch.nodes.len()];
        for (index, &place) in batch.negatives.places.iter().enumerate() {
            negative_of[place as usize] = Some(index);
        }
        let width = sides.vectors.row_chunks();
        let tasks = sides.structure.chunks_mut().par_chunks_mut(ROWS_PER_TASK * width);
        let tasks = tasks.zip(sides.attributes.chunks_mut().par_chunks_mut(ROWS_PER_TASK * width));
        let (vectors, inverse, negative_of, space) = (sides.vectors, sides.inverse, &negative_of[..], &*space);
        tasks.enumerate().for_each(|(task, (structure, attributes))| {
            let first = task * ROWS_PER_TASK;
            T::run(Gather { batch, first, vectors, inverse, negative_of, space, sides: [structure, attributes] });
        });
    }
}

/// The losses of one pair, and the slopes in place of its similarities.
struct Shares<'a, T: Real> {
    loss: &'a SoftmaxLoss,
    batch: &'a Batch,
    pair: usize,
    vectors: &'a Matrix<T>,
    offsets: &'a [Chunk<T>],
    rows: &'a mut [Chunk<T>],
    own_slopes: &'a mut [T; 4],
    losses: &'a mut [T; 4],
}

impl<T: Real> Kernel<T> for Shares<'_, T> {
    type Output = ();
    #[inline(always)]
    fn on<S: Simd<Scalar = T>>(self, simd: S) {
        let [source, target] = self.batch.pairs[self.pair].map(|place| 2 * place as usize);
        let quarter = self.rows.len() / 4;
        let filling = self.batch.negatives.places.len()..quarter * LANES;
        let sharper = 1.0 / self.loss.temperature;
        let sharpness = T::of(sharper);
        let offset = self.batch.offsets_of.get(target / 2).map(|offset| f64::from(*offset) * self.loss.temperature);
        for (term, quarter) in self.rows.chunks_exact_mut(quarter.max(1)).enumerate() {
            for (chunk, offset) in quarter.iter_mut().zip(self.offsets) {
                let raised = simd.add(simd.load(chunk), simd.load(offset));
                simd.store(chunk, raised);
            }
            let values = T::flat_mut(quarter);
            for &masked in self.batch.negatives.masked(self.pair) {
                values[masked as usize] = T::of(MASKED);
            }
            values[filling.clone()].fill(T::of(MASKED));
            let own = dot(simd, self.vectors.chunk_row(source + term / 2), self.vectors.chunk_row(target + term % 2));
            let own = offset.map_or(own, |offset| own + T::of(offset));
            let mut largest = simd.splat(own);
            for chunk in &*quarter {
                largest = simd.max(largest, simd.load(chunk));
            }
            let mut lanes = Chunk([T::ZERO; LANES]);
            simd.store(&mut lanes, largest);
            let largest = lanes.0.into_iter().fold(own, |a, b| if b > a { b } else { a });
            let (shift, scale) = (simd.splat(-largest * sharpness), simd.splat(sharpness));
            let mut sum = simd.splat(T::ZERO);
            for chunk in &mut *quarter {
                let share = simd.exp(simd.mul_add(simd.load(chunk), scale, shift));
                sum = simd.add(sum, share);
                simd.store(chunk, share);
            }
            let own_share = ((own - largest) * sharpness).exp();
            let sum = simd.sum(sum) + own_share;
            self.losses[term] = T::of(sum.wide().ln()) - (own - largest) * sharpness;
            let weight = T::of(self.loss.theta[term] * sharper / self.batch.pairs.len() as f64);
            self.own_slopes[term] = weight * (own_share / sum - T::ONE);
            let factor = simd.splat(weight / sum);
            for chunk in quarter {
                let slope = simd.mul(factor, simd.load(chunk));
                simd.store(chunk, slope);
            }
        }
    }
}

/// The gradients of both embeddings of some batch nodes, from all that they took part in.
struct Gather<'a, T: Real> {
    batch: &'a Batch,
    first: usize,
    vectors: &'a Matrix<T>,
    inverse: Option<&'a [T]>,
    negative_of: &'a [Option<usize>],
    space: &'a SoftmaxSpace<T>,
    sides: [&'a mut [Chunk<T>]; 2],
}

impl<T: Real> Kernel<T> for Gather<'_, T> {
    type Output = ();
    #[inline(always)]
    fn on<S: Simd<Scalar = T>>(self, simd: S) {
        let width = self.vectors.row_chunks();
        let half = self.space.negatives.rows() / 2;
        let mut terms = Vec::new();
        for (side, gradients) in self.sides.into_iter().enumerate() {
            for (index, gradient) in gradients.chunks_exact_mut(width).enumerate() {
                let place = self.first + index;
                terms.clear();
                for incidence in self.batch.incidences(place) {
                    let slopes = self.space.own_slopes[incidence.pair as usize];
                    for other_side in 0..2 {
                        // A source's own side is the first of the term, a target's the second.
                        let term = if incidence.source { 2 * side + other_side } else { 2 * other_side + side };
                        terms.push(Entry { index: 2 * incidence.other + other_side as u32, weight: slopes[term] });
                    }
                }
                weighted_row_sum(simd, &terms, self.vectors.chunks(), gradient);
                for incidence in self.batch.incidences(place).iter().filter(|incidence| incidence.source) {
                    let row = self.space.source_gradient.chunk_row(2 * incidence.pair as usize + side);
                    add_scaled(simd, gradient, T::ONE, row);
                }
                if let Some(negative) = self.negative_of[place] {
                    let row = self.space.negative_gradient.chunk_row(side * half + negative);
                    add_scaled(simd, gradient, T::ONE, row);
                }
                if let Some(inverse) = self.inverse {
                    let own = 2 * place + side;
                    normalise_backward(simd, gradient, self.vectors.chunk_row(own), inverse[own]);
                }
            }
        }
    }
}
