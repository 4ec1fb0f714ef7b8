//! Graph convolution (Kipf & Welling, 2017).

use std::sync::Arc;

use burn::module::{Module, Param};
use burn::tensor::Tensor;

use super::{Initial, Input};
use crate::tensor::{Sparse, product};

/// y = Â x W + b, with Â from [`super::normalised`].
#[derive(Module, Debug)]
pub struct Gcn {
    /// W.
    pub weights: Param<Tensor<2>>,
    /// b.
    pub bias: Param<Tensor<1>>,
}

impl Gcn {
    /// Glorot's weights, no bias.
    pub fn new(inputs: usize, outputs: usize, initial: &mut Initial) -> Self {
        Gcn { weights: initial.glorot(inputs, outputs), bias: initial.constant(outputs, 0.0) }
    }

    /// A row for each node.
    pub fn forward(&self, x: &Input, normalised: &Arc<Sparse>) -> Tensor<2> {
        product(normalised, x.times(self.weights.val())) + self.bias.val().unsqueeze()
    }
}
