//! The position-aware layer of P-GNN (You et al., 2019).

use std::sync::Arc;

use burn::module::{Module, Param};
use burn::tensor::{Tensor, activation};

use super::{Initial, Linear};
use crate::tensor::{Sparse, product};

/// For node v and anchor set k with nearest anchor u: m = relu(s x_u W₁ + x_v W₂ + b), s = 1 / (distance + 1).
/// Its place among the sets is m · p + c for each set, its hidden state the mean of m over the sets.
#[derive(Module, Debug)]
pub struct Position {
    /// W₁.
    pub anchors: Param<Tensor<2>>,
    /// W₂, b.
    pub own: Linear,
    /// p, c.
    pub place: Linear,
}

impl Position {
    /// Glorot's weights, no bias.
    pub fn new(inputs: usize, outputs: usize, initial: &mut Initial) -> Self {
        Position {
            anchors: initial.glorot(inputs, outputs),
            own: Linear::new(inputs, outputs, initial),
            place: Linear::new(outputs, 1, initial),
        }
    }

    /// Places (nodes × sets) and hidden states. `nearest` has a row for each node and set, with s in the anchor's column; `repeat`
    /// picks the node of each such row, and `mean` takes the mean over a node's rows.
    pub fn forward(&self, x: Tensor<2>, sets: &Sets) -> (Tensor<2>, Tensor<2>) {
        let of_anchors = product(&sets.nearest, x.clone().matmul(self.anchors.val()));
        let own = x.matmul(self.own.weights.val()) + self.own.bias.val().unsqueeze();
        let messages = activation::relu(of_anchors + product(&sets.repeat, own));
        let places = messages.clone().matmul(self.place.weights.val()) + self.place.bias.val().unsqueeze();
        let places = places.reshape([-1, sets.count as i32]);
        (places, product(&sets.mean, messages))
    }
}

/// Anchor sets of all nodes, as the layer multiplies by them.
#[derive(Debug)]
pub struct Sets {
    /// How many sets.
    pub count: usize,
    /// nodes · sets × nodes, s at the nearest anchor.
    pub nearest: Arc<Sparse>,
    /// nodes · sets × nodes, 1 at the node itself.
    pub repeat: Arc<Sparse>,
    /// nodes × nodes · sets, 1 / sets.
    pub mean: Arc<Sparse>,
}

impl Sets {
    /// From the nearest anchor of each node and set, and its weight; node by node.
    pub fn new(nodes: usize, count: usize, nearest: &[(u32, f32)]) -> Self {
        let (anchors, weights): (Vec<u32>, Vec<f32>) = nearest.iter().copied().unzip();
        let places: Vec<u32> = (0..nodes * count).map(|row| (row / count) as u32).collect();
        let selection = Sparse::selection(nodes, &anchors);
        let mean = crate::tensor::Pattern::new(
            nodes * count,
            (0..=nodes).map(|node| (node * count) as u32).collect(),
            (0..(nodes * count) as u32).collect(),
        );
        Sets {
            count,
            nearest: Sparse::new(selection.pattern().clone(), weights),
            repeat: Sparse::selection(nodes, &places),
            mean: Sparse::new(Arc::new(mean), vec![1.0 / count as f32; nodes * count]),
        }
    }
}
