//! Sparse products whose values are learned: what attention over neighbours is made of.

use std::sync::Arc;

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::NoCheckpointing;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind, binary, unary};
use burn::backend::flex::FlexTensor;
use burn::backend::{Autodiff, Flex};
use burn::tensor::Tensor;
use rayon::prelude::*;

use super::Pattern;
use super::flex::{Number, Primitive, by_number, primitive, slice, tensor};
use super::product::{Lists, Values};

/// The softmax of values over the entries of each row.
pub fn row_softmax(pattern: &Arc<Pattern>, values: Tensor<1>) -> Tensor<1> {
    match primitive(values) {
        Primitive::Plain(values) => Tensor::from_primitive::<Flex>(softmax(pattern, values)),
        Primitive::Tracked(values) => {
            let (values, node) = values.into_parts();
            let out = softmax(pattern, values);
            let out = match SoftmaxBackward.prepare::<NoCheckpointing>([node]).compute_bound().stateful() {
                OpsKind::Tracked(ready) => ready.finish((pattern.clone(), out.clone()), out),
                OpsKind::UnTracked(ready) => ready.finish(out),
            };
            Tensor::from_primitive::<Autodiff<Flex>>(out)
        }
    }
}

/// A x where A has the given values at the pattern's entries. The gradient of a value is the inner product of a row of g
/// and a row of x, that of x is Aᵀ g.
pub fn weighted_product(pattern: &Arc<Pattern>, values: Tensor<1>, x: Tensor<2>) -> Tensor<2> {
    match (primitive(values), primitive(x)) {
        (Primitive::Tracked(values), Primitive::Tracked(x)) => {
            let ((values, values_node), (x, x_node)) = (values.into_parts(), x.into_parts());
            let out = weighted(pattern, &values, &x);
            let ready = WeightedBackward.prepare::<NoCheckpointing>([values_node, x_node]).compute_bound().stateful();
            let out = match ready {
                OpsKind::Tracked(ready) => ready.finish((pattern.clone(), values, x), out),
                OpsKind::UnTracked(ready) => ready.finish(out),
            };
            Tensor::from_primitive::<Autodiff<Flex>>(out)
        }
        (Primitive::Plain(values), Primitive::Plain(x)) => {
            Tensor::from_primitive::<Flex>(weighted(pattern, &values, &x))
        }
        _ => unreachable!("both factors come from one model, with gradients or without"),
    }
}

#[derive(Debug)]
struct SoftmaxBackward;

impl Backward<Flex, 1> for SoftmaxBackward {
    type State = (Arc<Pattern>, FlexTensor);

    fn backward(self, ops: Ops<Self::State, 1>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let (pattern, out) = ops.state;
        unary::<Flex, _>(ops.parents, ops.node, gradients, |gradient| {
            let gradient = gradient.to_contiguous();
            let single = || softmax_backward::<f32>(&pattern, &out, &gradient);
            by_number(&gradient, single, || softmax_backward::<f64>(&pattern, &out, &gradient))
        });
    }
}

#[derive(Debug)]
struct WeightedBackward;

impl Backward<Flex, 2> for WeightedBackward {
    type State = (Arc<Pattern>, FlexTensor, FlexTensor);

    fn backward(self, ops: Ops<Self::State, 2>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let (pattern, values, x) = ops.state;
        let of_values = |gradient: FlexTensor| {
            let (gradient, x) = (gradient.to_contiguous(), x.to_contiguous());
            let single = || entry_products::<f32>(&pattern, &gradient, &x);
            by_number(&gradient, single, || entry_products::<f64>(&pattern, &gradient, &x))
        };
        let of_x = |gradient: FlexTensor| {
            let (gradient, values) = (gradient.to_contiguous(), values.to_contiguous());
            let back = pattern.by_column();
            let single = || transposed::<f32>(back, &values, &gradient);
            by_number(&gradient, single, || transposed::<f64>(back, &values, &gradient))
        };
        binary::<Flex, _, _>(ops.parents, ops.node, gradients, of_values, of_x);
    }
}

fn softmax(pattern: &Pattern, values: FlexTensor) -> FlexTensor {
    let values = values.to_contiguous();
    by_number(&values, || softmax_of::<f32>(pattern, &values), || softmax_of::<f64>(pattern, &values))
}

fn softmax_of<T: Number>(pattern: &Pattern, values: &FlexTensor) -> FlexTensor {
    let mut out = slice::<T>(values).to_vec();
    for row in rows_of(pattern) {
        let row = &mut out[row];
        let largest = row.iter().fold(T::of(f64::NEG_INFINITY), |most, &value| if value > most { value } else { most });
        row.iter_mut().for_each(|value| *value = (*value - largest).exp());
        let sum: T = row.iter().copied().sum();
        row.iter_mut().for_each(|value| *value = *value / sum);
    }
    tensor(out, [pattern.entries()])
}

/// s (g − Σ s g), the sum over a row.
fn softmax_backward<T: Number>(pattern: &Pattern, out: &FlexTensor, gradient: &FlexTensor) -> FlexTensor {
    let (out, gradient) = (slice::<T>(out), slice::<T>(gradient));
    let mut back = vec![T::ZERO; out.len()];
    for row in rows_of(pattern) {
        let mean: T = row.clone().map(|entry| out[entry] * gradient[entry]).sum();
        row.for_each(|entry| back[entry] = out[entry] * (gradient[entry] - mean));
    }
    tensor(back, [pattern.entries()])
}

fn rows_of(pattern: &Pattern) -> impl Iterator<Item = std::ops::Range<usize>> {
    pattern.offsets().windows(2).map(|ends| ends[0] as usize..ends[1] as usize)
}

fn weighted(pattern: &Pattern, values: &FlexTensor, x: &FlexTensor) -> FlexTensor {
    fn of<T: Number + Into<f64>>(pattern: &Pattern, values: &FlexTensor, x: &FlexTensor) -> FlexTensor {
        let values = Values::InOrder(slice::<T>(values));
        Lists { offsets: pattern.offsets(), indices: pattern.indices(), values }.sums::<T>(x)
    }
    let (values, x) = (values.to_contiguous(), x.to_contiguous());
    by_number(&x, || of::<f32>(pattern, &values, &x), || of::<f64>(pattern, &values, &x))
}

fn transposed<T: Number + Into<f64>>(
    back: &super::pattern::ByColumn,
    values: &FlexTensor,
    gradient: &FlexTensor,
) -> FlexTensor {
    let values = Values::At(&back.entries, slice::<T>(values));
    Lists { offsets: &back.offsets, indices: &back.rows, values }.sums::<T>(gradient)
}

/// For each entry the inner product of its row of `g` and its column's row of `x`.
fn entry_products<T: Number>(pattern: &Pattern, g: &FlexTensor, x: &FlexTensor) -> FlexTensor {
    let width = x.layout().shape()[1];
    let (g, x) = (slice::<T>(g), slice::<T>(x));
    let place = |row: u32| row as usize * width..(row as usize + 1) * width;
    let rows = pattern.row_of_entries();
    let products = rows
        .par_iter()
        .zip(pattern.indices())
        .with_min_len(1024)
        .map(|(&row, &column)| g[place(row)].iter().zip(&x[place(column)]).map(|(&g, &x)| g * x).sum::<T>());
    tensor(products.collect(), [pattern.entries()])
}
