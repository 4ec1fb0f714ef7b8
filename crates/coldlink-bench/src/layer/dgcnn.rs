//! The deep graph network with sort-pooling that SEAL classifies subgraphs with (Zhang et al., 2018).

use std::sync::Arc;

use burn::module::{Module, Param};
use burn::tensor::module::conv1d;
use burn::tensor::ops::ConvOptions;
use burn::tensor::{Tensor, activation};
use rand::Rng;

use super::{Gcn, Initial, Input, Linear, dropout};
use crate::tensor::{Pattern, Sparse, numbers, product};

/// Widths of a [`Dgcnn`].
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Inputs of a node.
    pub inputs: usize,
    /// Channels of each of the three convolutions.
    pub channels: usize,
    /// Nodes kept of each graph.
    pub kept: usize,
    /// Channels of the two one-dimensional convolutions.
    pub convolutions: [usize; 2],
    /// Width of the last hidden layer.
    pub hidden: usize,
}

/// The width of the second one-dimensional convolution.
const KERNEL: usize = 5;

/// Three graph convolutions and a fourth of one channel, by which nodes are sorted; the first `kept` nodes of each graph as a sequence
/// through two one-dimensional convolutions and two linear layers to one number.
#[derive(Module, Debug)]
pub struct Dgcnn {
    /// The graph convolutions; the last has one channel.
    pub graph: Vec<Gcn>,
    /// The first one-dimensional convolution, which looks at one node at a time.
    pub node: Linear,
    /// Weights of the second, outputs × inputs × 5.
    pub sequence: Param<Tensor<3>>,
    /// Its bias.
    pub sequence_bias: Param<Tensor<1>>,
    /// The last hidden layer.
    pub hidden: Linear,
    /// The outcome.
    pub outcome: Linear,
    /// Nodes kept of each graph.
    pub kept: usize,
}

impl Dgcnn {
    /// Glorot's weights, no bias.
    pub fn new(shape: Shape, initial: &mut Initial) -> Self {
        let Shape { inputs, channels, kept, convolutions: [first, second], hidden } = shape;
        let widths = [inputs, channels, channels, channels, 1];
        let graph = widths.windows(2).map(|ends| Gcn::new(ends[0], ends[1], initial)).collect();
        let flat = initial.glorot(first * KERNEL, second).val();
        let sequence = flat.transpose().reshape([second, first, KERNEL]).detach();
        Dgcnn {
            graph,
            node: Linear::new(3 * channels + 1, first, initial),
            sequence: Param::from_tensor(sequence),
            sequence_bias: initial.constant(second, 0.0),
            hidden: Linear::new(second * (kept / 2 - KERNEL + 1), hidden, initial),
            outcome: Linear::new(hidden, 1, initial),
            kept,
        }
    }

    /// One number for each graph of a batch, whose nodes stand one graph after the other.
    pub fn forward(&self, x: &Input, graphs: &Graphs<'_>, hidden_dropout: f32, random: &mut impl Rng) -> Tensor<1> {
        let Graphs { normalised, sizes } = *graphs;
        let mut x = x.clone();
        let mut channels = Vec::new();
        for layer in &self.graph {
            let out = layer.forward(&x, normalised).tanh();
            channels.push(out.clone());
            x = Input::Dense(out);
        }
        let sorted = sort_pool(Tensor::cat(channels, 1), sizes, self.kept);
        let nodes = activation::relu(self.node.forward(&Input::Dense(sorted)));
        let [_, width] = nodes.dims();
        let halved = self.kept / 2;
        let pairs = nodes.reshape([sizes.len(), self.kept, width]).slice([0..sizes.len(), 0..2 * halved, 0..width]);
        let pooled = pairs.reshape([sizes.len(), halved, 2, width]).max_dim(2).squeeze_dim::<3>(2).swap_dims(1, 2);
        let bias = Some(self.sequence_bias.val());
        let out = activation::relu(conv1d(pooled, self.sequence.val(), bias, ConvOptions::new([1], [0], [1], 1)));
        let hidden = activation::relu(self.hidden.forward(&Input::Dense(out.flatten(1, 2))));
        self.outcome.forward(&Input::Dense(dropout(hidden, hidden_dropout, random))).squeeze_dim(1)
    }
}

/// Graphs of a batch, put together into one.
pub struct Graphs<'a> {
    /// From [`super::normalised`], of all of them.
    pub normalised: &'a Arc<Sparse>,
    /// Nodes of each.
    pub sizes: &'a [usize],
}

/// The first `kept` nodes of each graph by their last channel, highest first; rows of zeros where a graph has fewer.
pub fn sort_pool(x: Tensor<2>, sizes: &[usize], kept: usize) -> Tensor<2> {
    let [nodes, width] = x.dims();
    let keys = numbers(x.clone().slice([0..nodes, width - 1..width]));
    let mut first = 0;
    let mut lists = Vec::with_capacity(sizes.len() * kept);
    for &size in sizes {
        let mut order: Vec<u32> = (first as u32..(first + size) as u32).collect();
        order.sort_by(|&a, &b| keys[b as usize].total_cmp(&keys[a as usize]));
        lists.extend((0..kept).map(|place| order.get(place).map_or(vec![], |&node| vec![node])));
        first += size;
    }
    let pattern = Pattern::from_lists(nodes, lists);
    let values = vec![1.0; pattern.entries()];
    product(&Sparse::new(Arc::new(pattern), values), x)
}
