//! The product of a sparse matrix, whose values are constant, with a dense one.

use std::sync::Arc;

use burn::backend::Flex;
use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::NoCheckpointing;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind, unary};
use burn::backend::flex::FlexTensor;
use burn::tensor::Tensor;
use coldlink::kernel::{Kernel, Simd};
use rayon::prelude::*;

use super::Pattern;
use super::flex::{Number, Primitive, by_number, primitive, slice, tensor};

/// A sparse matrix with constant values.
#[derive(Debug)]
pub struct Sparse {
    pattern: Arc<Pattern>,
    values: Vec<f32>,
    values_by_column: Vec<f32>,
}

impl Sparse {
    /// One value for each entry of a pattern.
    pub fn new(pattern: Arc<Pattern>, values: Vec<f32>) -> Arc<Self> {
        let values_by_column = pattern.by_column().entries.iter().map(|&entry| values[entry as usize]).collect();
        Arc::new(Sparse { pattern, values, values_by_column })
    }

    /// The matrix that picks rows: row i of its product is row `indices[i]`.
    pub fn selection(columns: usize, indices: &[u32]) -> Arc<Self> {
        let offsets = (0..=indices.len() as u32).collect();
        Sparse::new(Arc::new(Pattern::new(columns, offsets, indices.to_vec())), vec![1.0; indices.len()])
    }

    /// Where the entries are.
    pub fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    /// The entries' values, row by row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    fn by_row(&self) -> Lists<'_> {
        Lists {
            offsets: self.pattern.offsets(),
            indices: self.pattern.indices(),
            values: Values::InOrder(&self.values),
        }
    }

    fn by_column(&self) -> Lists<'_> {
        let back = self.pattern.by_column();
        Lists { offsets: &back.offsets, indices: &back.rows, values: Values::InOrder(&self.values_by_column) }
    }
}

/// A x, with the gradient Aᵀ g.
pub fn product(matrix: &Arc<Sparse>, x: Tensor<2>) -> Tensor<2> {
    match primitive(x) {
        Primitive::Plain(x) => Tensor::from_primitive::<Flex>(matrix.by_row().times(x)),
        Primitive::Tracked(x) => {
            let (x, node) = x.into_parts();
            let out = matrix.by_row().times(x);
            let out = match Transposed.prepare::<NoCheckpointing>([node]).compute_bound().stateful() {
                OpsKind::Tracked(ready) => ready.finish(matrix.clone(), out),
                OpsKind::UnTracked(ready) => ready.finish(out),
            };
            Tensor::from_primitive::<burn::backend::Autodiff<Flex>>(out)
        }
    }
}

/// Some rows of `x`, in the given order; one may be given twice.
pub fn pick(x: Tensor<2>, rows: &[u32]) -> Tensor<2> {
    product(&Sparse::selection(x.dims()[0], rows), x)
}

#[derive(Debug)]
struct Transposed;

impl Backward<Flex, 1> for Transposed {
    type State = Arc<Sparse>;

    fn backward(self, ops: Ops<Self::State, 1>, gradients: &mut Gradients, _: &mut Checkpointer) {
        unary::<Flex, _>(ops.parents, ops.node, gradients, |gradient| ops.state.by_column().times(gradient));
    }
}

/// Values of the entries of [`Lists`].
pub(super) enum Values<'a, T = f32> {
    /// One after the other.
    InOrder(&'a [T]),
    /// At the places given for each entry.
    At(&'a [u32], &'a [T]),
}

/// For each row of an outcome, which rows of an input it sums, and how much of each.
pub(super) struct Lists<'a, T = f32> {
    pub offsets: &'a [u32],
    pub indices: &'a [u32],
    pub values: Values<'a, T>,
}

/// Rows that one task sums.
const ROWS_PER_TASK: usize = 64;

impl Lists<'_> {
    /// The sums over the rows of a tensor.
    fn times(&self, x: FlexTensor) -> FlexTensor {
        let x = x.to_contiguous();
        by_number(&x, || self.sums::<f32>(&x), || self.sums::<f64>(&x))
    }
}

impl<V: Copy + Into<f64> + Sync> Lists<'_, V> {
    pub(super) fn sums<T: Number>(&self, x: &FlexTensor) -> FlexTensor {
        let width = x.layout().shape()[1];
        let rows = self.offsets.len() - 1;
        let mut out = vec![T::ZERO; rows * width];
        let tasks = out.par_chunks_mut(ROWS_PER_TASK * width.max(1)).enumerate();
        tasks.for_each(|(task, out)| {
            T::run(RowSums { lists: self, first: task * ROWS_PER_TASK, x: slice(x), out, width });
        });
        tensor(out, [rows, width])
    }
}

/// Some rows of a product, as plain loops that the compiler turns into the machine's widest instructions.
struct RowSums<'a, V, T> {
    lists: &'a Lists<'a, V>,
    first: usize,
    x: &'a [T],
    out: &'a mut [T],
    width: usize,
}

impl<V: Copy + Into<f64>, T: Number> Kernel<T> for RowSums<'_, V, T> {
    type Output = ();
    #[inline(always)]
    fn on<S: Simd<Scalar = T>>(self, _: S) {
        let Lists { offsets, indices, values } = self.lists;
        for (row, out) in self.out.chunks_exact_mut(self.width.max(1)).enumerate() {
            let ends = [0, 1].map(|next| offsets[self.first + row + next] as usize);
            for entry in ends[0]..ends[1] {
                let value = match values {
                    Values::InOrder(values) => values[entry],
                    Values::At(places, values) => values[places[entry] as usize],
                };
                let (value, from) = (T::of(value.into()), indices[entry] as usize * self.width);
                for (out, x) in out.iter_mut().zip(&self.x[from..from + self.width]) {
                    *out += value * *x;
                }
            }
        }
    }
}
