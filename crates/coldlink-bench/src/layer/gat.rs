//! Graph attention (Veličković et al., 2018).

use burn::module::{Module, Param};
use burn::tensor::{Tensor, activation};

use super::{Attention, Initial, Input};
use crate::tensor::{product, row_softmax, weighted_product};

/// The slope of the leaky unit on negative numbers, as in the paper.
const SLOPE: f64 = 0.2;

/// Per head: y_i = Σ_j α_ij x_j W, α_ij = softmax_j(leaky(s · x_j W + t · x_i W)) over i's neighbours and i; heads side by side.
#[derive(Module, Debug)]
pub struct Gat {
    /// W, outputs of all heads side by side.
    pub weights: Param<Tensor<2>>,
    /// s, heads × outputs.
    pub source: Param<Tensor<2>>,
    /// t, heads × outputs.
    pub target: Param<Tensor<2>>,
    /// b, of all heads.
    pub bias: Param<Tensor<1>>,
}

impl Gat {
    /// Glorot's weights, no bias.
    pub fn new(inputs: usize, outputs: usize, heads: usize, initial: &mut Initial) -> Self {
        Gat {
            weights: initial.glorot(inputs, heads * outputs),
            source: initial.glorot(heads, outputs),
            target: initial.glorot(heads, outputs),
            bias: initial.constant(heads * outputs, 0.0),
        }
    }

    /// A row for each node.
    pub fn forward(&self, x: &Input, attention: &Attention) -> Tensor<2> {
        let x = x.times(self.weights.val());
        let heads = self.source.dims()[0];
        let all = (0..heads).map(|head| self.head(head, x.clone(), attention)).collect();
        Tensor::cat(all, 1) + self.bias.val().unsqueeze()
    }

    fn head(&self, head: usize, x: Tensor<2>, attention: &Attention) -> Tensor<2> {
        let [rows, width] = [x.dims()[0], self.source.dims()[1]];
        let x = x.slice([0..rows, head * width..(head + 1) * width]);
        let of_head = |weights: Tensor<2>| x.clone().matmul(weights.slice([head..head + 1, 0..width]).transpose());
        let attended = product(&attention.attended, of_head(self.source.val()));
        let attending = product(&attention.attending, of_head(self.target.val()));
        let scores = activation::leaky_relu((attended + attending).squeeze_dim::<1>(1), SLOPE);
        weighted_product(&attention.pattern, row_softmax(&attention.pattern, scores), x)
    }
}
