//! GraphSAGE with the mean of neighbours (Hamilton et al., 2017).

use std::sync::Arc;

use burn::module::{Module, Param};
use burn::tensor::Tensor;

use super::{Initial, Input, Linear};
use crate::tensor::{Sparse, product};

/// y = mean(x of neighbours) W_n + x W_o + b, with the mean from [`super::means`].
#[derive(Module, Debug)]
pub struct Sage {
    /// W_o, b.
    pub own: Linear,
    /// W_n.
    pub neighbours: Param<Tensor<2>>,
}

impl Sage {
    /// Glorot's weights, no bias.
    pub fn new(inputs: usize, outputs: usize, initial: &mut Initial) -> Self {
        Sage { own: Linear::new(inputs, outputs, initial), neighbours: initial.glorot(inputs, outputs) }
    }

    /// A row for each node.
    pub fn forward(&self, x: &Input, means: &Arc<Sparse>) -> Tensor<2> {
        self.own.forward(x) + product(means, x.times(self.neighbours.val()))
    }
}
