//! The structure-oriented encoder (Eq. 2): a table with a row per node, weight-normalised by node.

use super::encoder::{UpdateFromRows, normal};
use super::{Parameter, Weights};
use crate::config::{AdamRows, Config, Similarity};
use crate::graph::NodeId;
use crate::kernel::{
    AdamStep, Chunk, Kernel, LANES, Matrix, Real, RowTask, Simd, dot, normalise, normalise_backward, update_rows,
};

/// z_s of node i is g_i W_i / ‖W_i‖, or W_i where normalisation is off. Under cosine the length has no effect, so there
/// is neither a gain nor a difference between the two.
#[derive(Clone, Debug, PartialEq)]
pub struct StructureEncoder<W> {
    /// W, nodes × width.
    pub table: W,
    /// g, nodes × 1: under the inner product with normalisation.
    pub gains: Option<W>,
}

impl<T: Real> StructureEncoder<Parameter<T>> {
    /// First weights N(0, 1); gains start at the rows' lengths, so that normalisation changes nothing at first.
    pub fn new(nodes: usize, config: &Config, seed: u64) -> Self {
        let table = normal(nodes, config.width, 1.0, seed, 0);
        let gained = config.normalised_table && config.similarity == Similarity::Dot;
        let length = |row: usize| table.row(row).iter().map(|v| *v * *v).sum::<T>().sqrt();
        let gains = gained.then(|| Parameter::new(Matrix::from_fn(nodes, 1, |row, _| length(row))));
        StructureEncoder { table: Parameter::new(table), gains }
    }

    /// Moves the rows of `nodes` (in rising order) against the gradients of their z_s; under [`AdamRows::Dense`] all other
    /// rows move as well, by their moments.
    pub fn update(&mut self, nodes: &[NodeId], gradient: &mut Matrix<T>, rows: AdamRows, adam: &AdamStep<T>) {
        if let Some(gains) = &mut self.gains {
            let slopes = through_gains(&self.table.weights, &gains.weights, nodes, gradient);
            move_rows(gains, nodes, &slopes, rows, adam);
        }
        move_rows(&mut self.table, nodes, gradient, rows, adam);
    }
}

impl<T: Real, W: Weights<Number = T>> StructureEncoder<W> {
    /// z_s of a node, before any cosine.
    #[inline(always)]
    pub fn embed<S: Simd<Scalar = T>>(&self, simd: S, node: NodeId, out: &mut [Chunk<T>]) {
        out.copy_from_slice(self.table.matrix().chunk_row(node as usize));
        if let Some(gains) = &self.gains {
            normalise(simd, out);
            let gain = simd.splat(gains.matrix().row(node as usize)[0]);
            for chunk in out {
                let scaled = simd.mul(gain, simd.load(chunk));
                simd.store(chunk, scaled);
            }
        }
    }
}

fn move_rows<T: Real>(
    parameter: &mut Parameter<T>,
    nodes: &[NodeId],
    gradient: &Matrix<T>,
    rows: AdamRows,
    adam: &AdamStep<T>,
) {
    let Parameter { weights, moments } = parameter;
    let gradient = gradient.chunks();
    match rows {
        AdamRows::Touched => {
            update_rows(nodes, weights, moments, &|task| T::run(UpdateFromRows { task, rows: gradient, adam }));
        }
        AdamRows::Dense => {
            let all: Vec<u32> = (0..weights.rows() as u32).collect();
            update_rows(&all, weights, moments, &|task| T::run(UpdateAll { task, nodes, gradient, adam }));
        }
    }
}

/// Turns the gradient of z_s = g u into that of W, in place, and yields that of g. Here u = W / ‖W‖.
fn through_gains<T: Real>(
    table: &Matrix<T>,
    gains: &Matrix<T>,
    nodes: &[NodeId],
    gradient: &mut Matrix<T>,
) -> Matrix<T> {
    struct ThroughGain<'a, T> {
        unit: Vec<Chunk<T>>,
        gain: T,
        gradient: &'a mut [Chunk<T>],
    }
    impl<T: Real> Kernel<T> for ThroughGain<'_, T> {
        type Output = T;
        #[inline(always)]
        fn on<S: Simd<Scalar = T>>(mut self, simd: S) -> T {
            let inverse = normalise(simd, &mut self.unit);
            let slope = dot(simd, self.gradient, &self.unit);
            normalise_backward(simd, self.gradient, &self.unit, inverse * self.gain);
            slope
        }
    }
    Matrix::from_fn(nodes.len(), 1, |place, _| {
        let node = nodes[place] as usize;
        let (unit, gain) = (table.chunk_row(node).to_vec(), gains.row(node)[0]);
        T::run(ThroughGain { unit, gain, gradient: gradient.chunk_row_mut(place) })
    })
}

/// Adam on every row: those of the batch's nodes with their gradients, the others with none.
struct UpdateAll<'a, T> {
    task: RowTask<'a, T>,
    nodes: &'a [NodeId],
    gradient: &'a [Chunk<T>],
    adam: &'a AdamStep<T>,
}

impl<T: Real> Kernel<T> for UpdateAll<'_, T> {
    type Output = ();
    #[inline(always)]
    fn on<S: Simd<Scalar = T>>(mut self, simd: S) {
        let Some(&first) = self.task.rows.first() else { return };
        let mut place = self.nodes.partition_point(|&node| node < first);
        let mut zero = Vec::new();
        for &row in self.task.rows {
            let (weights, moments) = self.task.row(row);
            let width = weights.len();
            zero.resize(width, Chunk([T::ZERO; LANES]));
            let gradient = if self.nodes.get(place) == Some(&row) {
                place += 1;
                &self.gradient[(place - 1) * width..][..width]
            } else {
                &zero
            };
            self.adam.update(simd, weights, moments, gradient);
        }
    }
}
