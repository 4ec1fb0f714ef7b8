//! Graph isomorphism network (Xu et al., 2019).

use std::sync::Arc;

use burn::module::{Module, Param};
use burn::tensor::{Tensor, activation};

use super::{Initial, Input, Linear};
use crate::tensor::{Sparse, product};

/// y = relu(((1 + ε) x + A x) W₁ + b₁) W₂ + b₂, with A from [`super::sums`]; W₁ is applied before the sum, which is the same.
#[derive(Module, Debug)]
pub struct Gin {
    /// W₁, b₁.
    pub first: Linear,
    /// W₂, b₂.
    pub second: Linear,
    /// ε.
    pub own: Param<Tensor<1>>,
}

impl Gin {
    /// Glorot's weights, no bias, ε = 0.
    pub fn new(inputs: usize, outputs: usize, initial: &mut Initial) -> Self {
        Gin {
            first: Linear::new(inputs, outputs, initial),
            second: Linear::new(outputs, outputs, initial),
            own: initial.constant(1, 0.0),
        }
    }

    /// A row for each node.
    pub fn forward(&self, x: &Input, sums: &Arc<Sparse>) -> Tensor<2> {
        let x = x.times(self.first.weights.val());
        let own = x.clone() * (self.own.val() + 1.0).unsqueeze();
        let summed = own + product(sums, x) + self.first.bias.val().unsqueeze();
        self.second.forward(&Input::Dense(activation::relu(summed)))
    }
}
