//! The attribute-oriented encoder (Eq. 1): z_a = σ(… σ(x W¹ + b¹) … Wᴸ + bᴸ), linear where there is no hidden layer.

use std::ops::Range;

use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use super::inputs::SparseInputs;
use super::{Inputs, Parameter, Weights};
use crate::config::Config;
use crate::kernel::{
    self, AdamStep, Chunk, Kernel, LANES, Left, Matrix, ROWS_PER_TASK, Real, RowTask, Simd, product, product_from,
    sum_rows, update_rows, weighted_row_sum,
};
use crate::random::{Purpose, seed_for, stream};

/// Shares of numbers set to zero, and the seed of one step's choices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dropout {
    /// Of the attributes.
    pub attributes: f32,
    /// Of each hidden layer.
    pub hidden: f32,
    /// Of the embedding.
    pub embedding: f32,
    /// Of this step.
    pub seed: u64,
}

impl Dropout {
    /// What a configuration asks for, in one step.
    pub fn of(config: &Config, seed: u64, step: u64) -> Self {
        Dropout {
            attributes: config.attribute_dropout,
            hidden: config.hidden_dropout,
            embedding: config.embedding_dropout,
            seed: seed_for(seed, Purpose::Dropout, step, 0),
        }
    }

    /// Nothing is dropped.
    pub fn none(seed: u64) -> Self {
        Dropout { attributes: 0.0, hidden: 0.0, embedding: 0.0, seed }
    }

    /// The seed for a row of a layer's output; layer 0 stands for the attributes.
    pub fn seed(&self, layer: usize, row: usize) -> u64 {
        seed_for(self.seed, Purpose::Dropout, layer as u64, row as u64)
    }
}

/// y = x W + b.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer<W> {
    /// W, inputs × outputs.
    pub weights: W,
    /// b, 1 × outputs.
    pub bias: Option<W>,
}

/// The attribute-oriented encoder.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributeEncoder<W> {
    /// At least one.
    pub layers: Vec<Layer<W>>,
    /// Whether the last layer ends in a unit too.
    pub last_elu: bool,
}

/// What the backward pass needs of the forward pass, layer by layer.
#[derive(Clone, Debug)]
pub struct Activations<T: Real> {
    /// Outputs of each layer; the last are the embeddings.
    pub outputs: Vec<Matrix<T>>,
    gradients: Vec<Matrix<T>>,
}

impl<T: Real> AttributeEncoder<Parameter<T>> {
    /// First weights: N(0, 1) on the attributes, N(0, 1 / inputs) in later layers, no bias.
    pub fn new(attributes: usize, config: &Config, seed: u64) -> Self {
        let mut inputs = attributes;
        let widths = config.hidden.iter().copied().chain([config.width]);
        let layer = |(index, outputs): (usize, usize)| {
            let scale = if index == 0 { 1.0 } else { 1.0 / (inputs as f64).sqrt() };
            let weights = normal(inputs, outputs, scale, seed, index as u64 + 1);
            inputs = outputs;
            Layer {
                weights: Parameter::new(weights),
                bias: config.bias.then(|| Parameter::new(Matrix::zeros(1, outputs))),
            }
        };
        AttributeEncoder { layers: widths.enumerate().map(layer).collect(), last_elu: config.last_elu }
    }
}

impl<T: Real, W: Weights<Number = T>> AttributeEncoder<W> {
    /// The same with every weight replaced.
    pub(super) fn map<V>(&self, mut each: impl FnMut(&W) -> V) -> AttributeEncoder<V> {
        let mut layer =
            |layer: &Layer<W>| Layer { weights: each(&layer.weights), bias: layer.bias.as_ref().map(&mut each) };
        AttributeEncoder { layers: self.layers.iter().map(&mut layer).collect(), last_elu: self.last_elu }
    }

    /// All weights by their names, in a fixed order.
    pub fn parameters(&self) -> Vec<(String, &W)> {
        let mut all = Vec::new();
        for (index, layer) in self.layers.iter().enumerate() {
            all.push((format!("attributes.{index}.weights"), &layer.weights));
            all.extend(layer.bias.as_ref().map(|bias| (format!("attributes.{index}.bias"), bias)));
        }
        all
    }

    /// The same, to write.
    pub fn parameters_mut(&mut self) -> Vec<(String, &mut W)> {
        let mut all = Vec::new();
        for (index, layer) in self.layers.iter_mut().enumerate() {
            all.push((format!("attributes.{index}.weights"), &mut layer.weights));
            all.extend(layer.bias.as_mut().map(|bias| (format!("attributes.{index}.bias"), bias)));
        }
        all
    }

    /// The number of attributes.
    pub fn attributes(&self) -> usize {
        self.layers[0].weights.matrix().rows()
    }

    /// Numbers in an embedding.
    pub fn width(&self) -> usize {
        self.layers[self.layers.len() - 1].weights.matrix().columns()
    }

    /// Room for the passes of a batch.
    pub fn activations(&self) -> Activations<T> {
        let outputs: Vec<_> =
            self.layers.iter().map(|layer| Matrix::zeros(0, layer.weights.matrix().columns())).collect();
        Activations { gradients: outputs.clone(), outputs }
    }

    /// Whether a layer ends in a unit.
    pub(crate) fn has_elu(&self, layer: usize) -> bool {
        layer + 1 < self.layers.len() || self.last_elu
    }

    fn dropout_share(&self, layer: usize, dropout: Option<Dropout>) -> f32 {
        let share = |dropout: Dropout| if layer + 1 < self.layers.len() { dropout.hidden } else { dropout.embedding };
        dropout.map_or(0.0, share)
    }

    /// Embeds the inputs' nodes, `nodes` of them, into the last of `outputs`.
    pub fn forward(
        &self,
        inputs: &Inputs<T>,
        nodes: usize,
        dropout: Option<Dropout>,
        activations: &mut Activations<T>,
    ) {
        for (index, layer) in self.layers.iter().enumerate() {
            let (before, after) = activations.outputs.split_at_mut(index);
            let out = &mut after[0];
            out.resize_rows(nodes);
            let weights = layer.weights.matrix();
            match (before.last(), &inputs.dense) {
                (Some(before), _) => product(Left::Plain(before), weights, out),
                (None, Some(dense)) => product_from(dense.rows(), weights, dense.first, out),
                (None, None) => {}
            }
            let sparse = inputs.sparse.as_ref().filter(|_| index == 0);
            let share = self.dropout_share(index, dropout);
            let width = out.row_chunks();
            out.chunks_mut().par_chunks_mut(ROWS_PER_TASK * width).enumerate().for_each(|(task, rows)| {
                let first = task * ROWS_PER_TASK;
                if let Some(sparse) = sparse {
                    let (lists, add) = (&sparse.rows, inputs.dense.is_some());
                    T::run(EncodeRows { lists, first, weights: weights.chunks(), width, add, out: rows });
                }
                if let Some(bias) = &layer.bias {
                    T::run(AddToRows { row: bias.matrix().chunks(), rows });
                }
                if self.has_elu(index) {
                    kernel::elu(rows);
                }
                if let Some(dropout) = dropout.filter(|_| share > 0.0) {
                    for (place, row) in rows.chunks_exact_mut(width).enumerate() {
                        kernel::keep_at_random(row, share, dropout.seed(index + 1, first + place));
                    }
                }
            });
        }
    }

    /// Where the caller puts the embeddings' gradient before [`AttributeEncoder::backward`].
    pub fn gradient<'a>(&self, activations: &'a mut Activations<T>, nodes: usize) -> &'a mut Matrix<T> {
        let last = &mut activations.gradients[self.layers.len() - 1];
        last.resize_rows(nodes);
        last
    }
}

impl<T: Real> AttributeEncoder<Parameter<T>> {
    /// Moves every layer against the gradient of the embeddings.
    pub fn backward(
        &mut self,
        inputs: &Inputs<T>,
        dropout: Option<Dropout>,
        activations: &mut Activations<T>,
        adam: &AdamStep<T>,
    ) {
        for index in (0..self.layers.len()).rev() {
            let share = self.dropout_share(index, dropout);
            let (elu, has_bias) = (self.has_elu(index), self.layers[index].bias.is_some());
            let (before, after) = activations.gradients.split_at_mut(index);
            let gradient = &mut after[0];
            through_unit(
                gradient,
                &activations.outputs[index],
                elu,
                dropout.filter(|_| share > 0.0),
                (share, index + 1),
            );
            if let Some(before) = before.last_mut() {
                before.resize_rows(gradient.rows());
                product(Left::Plain(gradient), &self.layers[index].weights.weights.transposed(), before);
            }
            let layer = &mut self.layers[index];
            if has_bias {
                update_bias(layer, gradient, adam);
            }
            let before = index.checked_sub(1).map(|below| &activations.outputs[below]);
            update_weights(&mut layer.weights, before, inputs, gradient, adam);
        }
    }
}

/// From the gradient of a layer's final output to that of its sums, in place.
fn through_unit<T: Real>(
    gradient: &mut Matrix<T>,
    output: &Matrix<T>,
    elu: bool,
    dropout: Option<Dropout>,
    (share, layer): (f32, usize),
) {
    if !elu && dropout.is_none() {
        return;
    }
    let width = gradient.row_chunks();
    let tasks = gradient.chunks_mut().par_chunks_mut(ROWS_PER_TASK * width);
    tasks.zip(output.chunks().par_chunks(ROWS_PER_TASK * width)).enumerate().for_each(|(task, (gradient, output))| {
        if let Some(dropout) = dropout {
            for (place, row) in gradient.chunks_exact_mut(width).enumerate() {
                kernel::keep_at_random(row, share, dropout.seed(layer, task * ROWS_PER_TASK + place));
            }
        }
        if elu {
            // A number that dropout kept was divided by its chance to be kept.
            let kept = if dropout.is_some() { kernel::kept_share(share) } else { 1.0 };
            kernel::elu_backward(gradient, output, T::of(kept));
        }
    });
}

fn update_bias<T: Real>(layer: &mut Layer<Parameter<T>>, gradient: &Matrix<T>, adam: &AdamStep<T>) {
    let Some(bias) = &mut layer.bias else { return };
    let mut sum = vec![Chunk([T::ZERO; LANES]); gradient.row_chunks()];
    sum_rows(gradient.chunks(), &mut sum);
    update_rows(&[0], &mut bias.weights, &mut bias.moments, &|task| T::run(UpdateFromRows { task, rows: &sum, adam }));
}

fn update_weights<T: Real>(
    weights: &mut Parameter<T>,
    before: Option<&Matrix<T>>,
    inputs: &Inputs<T>,
    gradient: &Matrix<T>,
    adam: &AdamStep<T>,
) {
    if let Some(before) = before {
        return update_from_product(weights, Left::Transposed(before), 0..before.columns(), gradient, adam);
    }
    if let Some(dense) = &inputs.dense {
        let rows = dense.first..dense.first + dense.width();
        update_from_product(weights, dense.columns(), rows, gradient, adam);
    }
    if let Some(SparseInputs { columns, touched, .. }) = &inputs.sparse {
        update_rows(touched, &mut weights.weights, &mut weights.moments, &|task| {
            T::run(UpdateFromColumns { task, columns, gradient: gradient.chunks(), adam });
        });
    }
}

/// Moves some rows of W, whose gradient is `left` · G.
fn update_from_product<T: Real>(
    weights: &mut Parameter<T>,
    left: Left<'_, T>,
    rows: Range<usize>,
    gradient: &Matrix<T>,
    adam: &AdamStep<T>,
) {
    let mut sums = Matrix::zeros(rows.len(), weights.weights.columns());
    product(left, gradient, &mut sums);
    let rows: Vec<u32> = (rows.start as u32..rows.end as u32).collect();
    update_rows(&rows, &mut weights.weights, &mut weights.moments, &|task| {
        T::run(UpdateFromRows { task, rows: sums.chunks(), adam });
    });
}

/// out = X W for some rows of X, or out += X W.
struct EncodeRows<'a, T> {
    lists: &'a super::inputs::Lists<T>,
    first: usize,
    weights: &'a [Chunk<T>],
    width: usize,
    add: bool,
    out: &'a mut [Chunk<T>],
}

impl<T: Real> Kernel<T> for EncodeRows<'_, T> {
    type Output = ();
    #[inline(always)]
    fn on<S: Simd<Scalar = T>>(self, simd: S) {
        let mut sum = vec![Chunk([T::ZERO; LANES]); if self.add { self.width } else { 0 }];
        for (place, out) in self.out.chunks_exact_mut(self.width).enumerate() {
            let entries = self.lists.get(self.first + place);
            if self.add {
                weighted_row_sum(simd, entries, self.weights, &mut sum);
                kernel::add_scaled(simd, out, T::ONE, &sum);
            } else {
                weighted_row_sum(simd, entries, self.weights, out);
            }
        }
    }
}

/// Adds one row to each.
struct AddToRows<'a, T> {
    row: &'a [Chunk<T>],
    rows: &'a mut [Chunk<T>],
}

impl<T: Real> Kernel<T> for AddToRows<'_, T> {
    type Output = ();
    #[inline(always)]
    fn on<S: Simd<Scalar = T>>(self, simd: S) {
        for row in self.rows.chunks_exact_mut(self.row.len()) {
            kernel::add_scaled(simd, row, T::ONE, self.row);
        }
    }
}

/// Adam on rows whose gradients lie in a matrix, in the order of the list.
pub(super) struct UpdateFromRows<'a, T> {
    pub task: RowTask<'a, T>,
    pub rows: &'a [Chunk<T>],
    pub adam: &'a AdamStep<T>,
}

impl<T: Real> Kernel<T> for UpdateFromRows<'_, T> {
    type Output = ();
    #[inline(always)]
    fn on<S: Simd<Scalar = T>>(mut self, simd: S) {
        for (place, &row) in self.task.rows.iter().enumerate() {
            self.task.prefetch(self.task.rows.get(place + 3));
            let first = self.task.first;
            let (weights, moments) = self.task.row(row);
            let width = weights.len();
            let gradient = &self.rows[(first + place) * width..][..width];
            self.adam.update(simd, weights, moments, gradient);
        }
    }
}

/// Adam on rows of W, with the gradient Xᵀ G made row by row on the way and never stored.
struct UpdateFromColumns<'a, T> {
    task: RowTask<'a, T>,
    columns: &'a super::inputs::Lists<T>,
    gradient: &'a [Chunk<T>],
    adam: &'a AdamStep<T>,
}

impl<T: Real> Kernel<T> for UpdateFromColumns<'_, T> {
    type Output = ();
    #[inline(always)]
    fn on<S: Simd<Scalar = T>>(mut self, simd: S) {
        let mut sum = Vec::new();
        for (place, &row) in self.task.rows.iter().enumerate() {
            self.task.prefetch(self.task.rows.get(place + 1));
            let entries = self.columns.get(self.task.first + place);
            let (weights, moments) = self.task.row(row);
            sum.resize(weights.len(), Chunk([T::ZERO; LANES]));
            weighted_row_sum(simd, entries, self.gradient, &mut sum);
            self.adam.update(simd, weights, moments, &sum);
        }
    }
}

/// Independent normal numbers; the same for every number type, up to rounding.
pub(super) fn normal<T: Real>(rows: usize, columns: usize, scale: f64, seed: u64, part: u64) -> Matrix<T> {
    let mut matrix = Matrix::zeros(rows, columns);
    let width = matrix.row_chunks();
    matrix.chunks_mut().par_chunks_mut(width).enumerate().for_each(|(row, chunks)| {
        let mut random = stream(seed, Purpose::Weights, part, row as u64);
        for value in &mut T::flat_mut(chunks)[..columns] {
            let normal: f32 = StandardNormal.sample(&mut random);
            *value = T::of(f64::from(normal) * scale);
        }
    });
    matrix
}
