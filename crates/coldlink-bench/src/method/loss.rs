//! Losses of pairs.

use burn::tensor::{Tensor, TensorData, activation};
use coldlink::sample::Batch;

use crate::tensor::{device, pick};

/// log(1 + eˣ) without overflow.
pub(super) fn softplus(x: Tensor<1>) -> Tensor<1> {
    activation::relu(x.clone()) + (-x.abs()).exp().log1p()
}

/// Inner products of rows of `a` with rows of `b`, at the given places.
pub(super) fn inner_products(a: &Tensor<2>, b: &Tensor<2>, places: &[[u32; 2]]) -> Tensor<1> {
    (pick_ends(a, places, 0) * pick_ends(b, places, 1)).sum_dim(1).squeeze_dim(1)
}

/// The rows of one end of each pair of places.
pub(super) fn pick_ends(z: &Tensor<2>, places: &[[u32; 2]], end: usize) -> Tensor<2> {
    pick(z.clone(), &places.iter().map(|ends| ends[end]).collect::<Vec<_>>())
}

/// Rows of length 1; a row of zeros stays one, and its gradient is zero.
pub(super) fn unit_rows(z: Tensor<2>) -> Tensor<2> {
    let squares = z.clone().square().sum_dim(1);
    let mask: Tensor<2> = squares.clone().greater_elem(0.0).float().cast(z.dtype());
    let length = (squares + (-mask.clone() + 1.0)).sqrt();
    z * (mask / length)
}

/// −log of the logistic function of linked pairs' scores and of the negated scores of unlinked ones, on average; linked
/// pairs come first.
pub(super) fn logistic_loss(scores: Tensor<1>, linked: usize) -> Tensor<1> {
    let count = scores.dims()[0];
    let signs = (0..count).map(|pair| if pair < linked { -1.0 } else { 1.0 }).collect();
    let signs = constant(signs, &scores);
    softplus(scores * signs).mean()
}

/// The pairs of a batch in the graph's numbering.
pub(super) fn pairs_of(batch: &Batch) -> Vec<[u32; 2]> {
    batch.pairs.iter().map(|pair| pair.map(|place| batch.nodes[place as usize])).collect()
}

/// A constant, of the same kind of numbers as `like`.
pub(super) fn constant(values: Vec<f32>, like: &Tensor<1>) -> Tensor<1> {
    let count = values.len();
    Tensor::from_data(TensorData::new(values, [count]), (&device(), like.dtype()))
}
