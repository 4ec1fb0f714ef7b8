//! Layers that look at one node at a time.

use burn::module::{Module, Param};
use burn::tensor::{Tensor, activation};
use rand::Rng;

use super::{Initial, Input, dropout};

/// y = x W + b.
#[derive(Module, Debug)]
pub struct Linear {
    /// W.
    pub weights: Param<Tensor<2>>,
    /// b.
    pub bias: Param<Tensor<1>>,
}

impl Linear {
    /// Glorot's weights, no bias.
    pub fn new(inputs: usize, outputs: usize, initial: &mut Initial) -> Self {
        Linear { weights: initial.glorot(inputs, outputs), bias: initial.constant(outputs, 0.0) }
    }

    /// x W + b.
    pub fn forward(&self, x: &Input) -> Tensor<2> {
        x.times(self.weights.val()) + self.bias.val().unsqueeze()
    }
}

/// The exponential linear unit, without the mask that burn's own makes: r + e^(x − r) − 1 with r = relu(x). Its slope at 0 is 1.
pub fn elu(x: Tensor<2>) -> Tensor<2> {
    let positive = activation::relu(x.clone());
    positive.clone() + ((x - positive).exp() - 1.0)
}

/// Linear layers with an exponential linear unit between them, and after the last where asked for (Eq. 1).
#[derive(Module, Debug)]
pub struct Mlp {
    /// At least one.
    pub layers: Vec<Linear>,
    /// Whether the last layer ends in a unit too.
    pub last_elu: bool,
}

impl Mlp {
    /// Of the given widths, from the attributes to the embedding.
    pub fn new(widths: &[usize], last_elu: bool, initial: &mut Initial) -> Self {
        let layers = widths.windows(2).map(|ends| Linear::new(ends[0], ends[1], initial)).collect();
        Mlp { layers, last_elu }
    }

    /// Embeds rows; `hidden_dropout` is the share of hidden units set to zero.
    pub fn forward(&self, x: &Input, hidden_dropout: f32, random: &mut impl Rng) -> Tensor<2> {
        let mut x = x.clone();
        let last = self.layers.len() - 1;
        for layer in &self.layers[..last] {
            let hidden = elu(layer.forward(&x));
            x = Input::Dense(dropout(hidden, hidden_dropout, random));
        }
        let out = self.layers[last].forward(&x);
        if self.last_elu { elu(out) } else { out }
    }
}
