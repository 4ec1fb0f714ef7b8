//! Losses of pairs.

use burn::tensor::{Tensor, TensorData, activation};
use coldlink::sample::Batch;

use crate::tensor::{Sparse, device, product};

/// log(1 + eˣ) without overflow.
pub(super) fn softplus(x: Tensor<1>) -> Tensor<1> {
    activation::relu(x.clone()) + (-x.abs()).exp().log1p()
}

/// Inner products of rows of `a` with rows of `b`, at the given places.
pub(super) fn inner_products(a: &Tensor<2>, b: &Tensor<2>, places: &[[u32; 2]]) -> Tensor<1> {
    let side = |z: &Tensor<2>, end: usize| {
        let rows: Vec<u32> = places.iter().map(|ends| ends[end]).collect();
        product(&Sparse::selection(z.dims()[0], &rows), z.clone())
    };
    (side(a, 0) * side(b, 1)).sum_dim(1).squeeze_dim(1)
}

/// Rows of length 1, but for a millionth; a row of zeros stays one.
pub(super) fn unit_rows(z: Tensor<2>) -> Tensor<2> {
    let length = (z.clone().square().sum_dim(1) + 1e-12).sqrt();
    z / length
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
