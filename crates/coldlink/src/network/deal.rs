//! One step of DEAL: forward, loss, backward and update (Eqs. 4 to 9).

use rayon::prelude::*;

use super::encoder::Activations;
use super::softmax::{Sides, SoftmaxLoss, SoftmaxSpace};
use super::{Dropout, Encoders, Inputs, PairLoss, Parameter};
use crate::config::{AdamRows, Alignment, Config, Loss, Similarity};
use crate::kernel::{
    Adam, AdamStep, Chunk, Entry, Kernel, Matrix, ROWS_PER_TASK, Real, Simd, dot, normalise, normalise_backward,
    prefetch, weighted_row_sum,
};
use crate::sample::Batch;

/// Rows of the table that are asked for before they are needed.
const ROWS_AHEAD: usize = 6;
/// Pairs that one task scores.
const PAIRS_PER_TASK: usize = 256;

/// Both encoders, and how they are trained.
#[derive(Clone, Debug, PartialEq)]
pub struct Deal<T: Real> {
    /// H_a and H_s.
    pub encoders: Encoders<Parameter<T>>,
    alignment: Alignment,
    objective: Objective,
    theta: [f64; 3],
    rows: AdamRows,
}

/// What is made small.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Objective {
    Pairs(PairLoss),
    Softmax(SoftmaxLoss),
}

/// The three terms of Eq. 9, not yet weighted, and their weighted sum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Losses {
    /// L_B(Z_s).
    pub structure: f64,
    /// L_B(Z_a).
    pub attributes: f64,
    /// L_align(Z_s, Z_a).
    pub alignment: f64,
    /// θ · the three.
    pub total: f64,
}

/// Memory that steps use again and again.
pub struct Workspace<T: Real> {
    activations: Activations<T>,
    /// What enters the inner products: of batch node i, z_s in row 2 i and z_a in row 2 i + 1, of length 1 under cosine.
    vectors: Matrix<T>,
    /// 1 / length of each of these before.
    inverse: Vec<T>,
    /// Of each pair: z_s·z_s, z_a·z_a, z_s·z_a.
    scores: Vec<[T; 3]>,
    /// The derivative of the whole loss by each score.
    slopes: Vec<[T; 3]>,
    gradient: Matrix<T>,
    softmax: SoftmaxSpace<T>,
}

impl<T: Real> Deal<T> {
    /// A model with first weights.
    pub fn new(nodes: usize, attributes: usize, config: &Config, seed: u64) -> Self {
        Deal {
            encoders: Encoders::new(nodes, attributes, config, seed),
            alignment: config.alignment,
            objective: match config.loss {
                Loss::Pairs => Objective::Pairs(PairLoss::of(config)),
                Loss::Softmax => Objective::Softmax(SoftmaxLoss::of(config)),
            },
            theta: config.theta,
            rows: config.adam,
        }
    }

    /// Numbers in an embedding.
    pub fn width(&self) -> usize {
        self.encoders.width()
    }

    /// Memory for steps.
    pub fn workspace(&self) -> Workspace<T> {
        Workspace {
            activations: self.encoders.attributes.activations(),
            vectors: Matrix::zeros(0, self.width()),
            inverse: Vec::new(),
            scores: Vec::new(),
            slopes: Vec::new(),
            gradient: Matrix::zeros(0, self.width()),
            softmax: SoftmaxSpace::new(self.width()),
        }
    }

    /// One step of training.
    pub fn step(
        &mut self,
        batch: &Batch,
        inputs: &Inputs<T>,
        dropout: Option<Dropout>,
        adam: &AdamStep<T>,
        space: &mut Workspace<T>,
    ) {
        self.forward(batch, inputs, dropout, space);
        let nodes = batch.nodes.len();
        space.gradient.resize_rows(nodes);
        match self.objective {
            Objective::Pairs(_) => self.pair_gradients(batch, space),
            Objective::Softmax(loss) => {
                let sides = Sides {
                    vectors: &space.vectors,
                    inverse: (self.encoders.similarity == Similarity::Cosine).then_some(&space.inverse),
                    structure: &mut space.gradient,
                    attributes: self.encoders.attributes.gradient(&mut space.activations, nodes),
                };
                loss.backward(batch, &mut space.softmax, sides);
            }
        }
        self.encoders.structure.update(&batch.nodes, &mut space.gradient, self.rows, adam);
        self.encoders.attributes.backward(inputs, dropout, &mut space.activations, adam);
    }

    /// From the slopes of pairs to the gradients of both embeddings.
    fn pair_gradients(&self, batch: &Batch, space: &mut Workspace<T>) {
        let nodes = batch.nodes.len();
        let attribute_gradient = self.encoders.attributes.gradient(&mut space.activations, nodes);
        let width = space.vectors.row_chunks();
        let tasks = space.gradient.chunks_mut().par_chunks_mut(ROWS_PER_TASK * width);
        tasks.zip(attribute_gradient.chunks_mut().par_chunks_mut(ROWS_PER_TASK * width)).enumerate().for_each(
            |(task, (structure, attributes))| {
                T::run(NodeGradients {
                    batch,
                    first: task * ROWS_PER_TASK,
                    slopes: &space.slopes,
                    alignment: self.alignment,
                    tight: T::of(-self.theta[2] / nodes as f64),
                    cosine: self.encoders.similarity == Similarity::Cosine,
                    vectors: space.vectors.chunks(),
                    inverse: &space.inverse,
                    structure,
                    attributes,
                    width,
                });
            },
        );
    }

    /// The losses of a batch as the model stands.
    pub fn losses(
        &self,
        batch: &Batch,
        inputs: &Inputs<T>,
        dropout: Option<Dropout>,
        space: &mut Workspace<T>,
    ) -> Losses {
        self.forward(batch, inputs, dropout, space);
        self.losses_of(batch, space)
    }

    /// The losses of the batch whose scores a step has left behind.
    pub fn losses_of(&self, batch: &Batch, space: &Workspace<T>) -> Losses {
        let [structure, attributes, alignment] = match self.objective {
            Objective::Pairs(loss) => self.pair_losses(loss, batch, space),
            Objective::Softmax(loss) => loss.losses(&space.softmax),
        };
        let total = self.theta[0] * structure + self.theta[1] * attributes + self.theta[2] * alignment;
        Losses { structure, attributes, alignment, total }
    }

    fn pair_losses(&self, loss: PairLoss, batch: &Batch, space: &Workspace<T>) -> [f64; 3] {
        let mean = |term: usize| {
            let weighted = |(pair, scores): (usize, &[T; 3])| {
                let linked = pair < batch.linked;
                let weight = if linked { 1.0 } else { f64::from(batch.weights[pair - batch.linked]) };
                weight * loss.value(linked, scores[term].wide())
            };
            space.scores.iter().enumerate().map(weighted).sum::<f64>() / batch.pairs.len() as f64
        };
        let alignment = match self.alignment {
            Alignment::Loose => mean(2),
            Alignment::Tight => {
                let own = (0..batch.nodes.len()).map(|node| {
                    let rows = [2 * node, 2 * node + 1].map(|row| space.vectors.row(row));
                    rows[0].iter().zip(rows[1]).map(|(a, b)| a.wide() * b.wide()).sum::<f64>()
                });
                -own.sum::<f64>() / batch.nodes.len() as f64
            }
        };
        [mean(0), mean(1), alignment]
    }

    fn forward(&self, batch: &Batch, inputs: &Inputs<T>, dropout: Option<Dropout>, space: &mut Workspace<T>) {
        let nodes = batch.nodes.len();
        self.encoders.attributes.forward(inputs, nodes, dropout, &mut space.activations);
        let Some(embeddings) = space.activations.outputs.last() else { return };
        space.vectors.resize_rows(2 * nodes);
        space.inverse.resize(2 * nodes, T::ONE);
        let width = space.vectors.row_chunks();
        let tasks = space.vectors.chunks_mut().par_chunks_mut(2 * ROWS_PER_TASK * width);
        tasks.zip(space.inverse.par_chunks_mut(2 * ROWS_PER_TASK)).enumerate().for_each(
            |(task, (vectors, inverse))| {
                let first = task * ROWS_PER_TASK;
                T::run(Vectors { model: self, batch, embeddings, first, vectors, inverse, width });
            },
        );
        match self.objective {
            Objective::Pairs(loss) => self.pair_slopes(loss, batch, space),
            Objective::Softmax(loss) => loss.forward(batch, &space.vectors, &mut space.softmax),
        }
    }

    /// The scores of pairs, and the loss's derivatives by them.
    fn pair_slopes(&self, loss: PairLoss, batch: &Batch, space: &mut Workspace<T>) {
        let width = space.vectors.row_chunks();
        space.scores.resize(batch.pairs.len(), [T::ZERO; 3]);
        space.slopes.resize(batch.pairs.len(), [T::ZERO; 3]);
        let theta = self.theta.map(|theta| T::of(theta / batch.pairs.len() as f64));
        let cross = self.alignment == Alignment::Loose;
        let tasks = space.scores.par_chunks_mut(PAIRS_PER_TASK).zip(space.slopes.par_chunks_mut(PAIRS_PER_TASK));
        let vectors = space.vectors.chunks();
        tasks.enumerate().for_each(|(task, (scores, slopes))| {
            let first = task * PAIRS_PER_TASK;
            T::run(Scores { batch, first, vectors, width, cross, loss: &loss, theta, scores, slopes });
        });
    }
}

/// Adam's constants for a step of training, counted from 0.
pub(crate) fn adam_step<T: Real>(config: &Config, step: u64) -> AdamStep<T> {
    let adam = Adam { weight_decay: config.weight_decay, ..Adam::default() };
    adam.at(step + 1, config.learning_rate * config.schedule.factor(step, config.steps))
}

/// Puts both embeddings of some batch nodes side by side, of length 1 under cosine.
struct Vectors<'a, T: Real> {
    model: &'a Deal<T>,
    batch: &'a Batch,
    embeddings: &'a Matrix<T>,
    first: usize,
    vectors: &'a mut [Chunk<T>],
    inverse: &'a mut [T],
    width: usize,
}

impl<T: Real> Kernel<T> for Vectors<'_, T> {
    type Output = ();
    #[inline(always)]
    fn on<S: Simd<Scalar = T>>(self, simd: S) {
        let rows = self.vectors.chunks_exact_mut(2 * self.width).zip(self.inverse.chunks_exact_mut(2));
        for (index, (rows, inverse)) in rows.enumerate() {
            let place = self.first + index;
            let (structure, attributes) = rows.split_at_mut(self.width);
            if let Some(&soon) = self.batch.nodes.get(place + ROWS_AHEAD) {
                prefetch(self.model.encoders.structure.table.weights.chunk_row(soon as usize));
            }
            self.model.encoders.structure.embed(simd, self.batch.nodes[place], structure);
            attributes.copy_from_slice(self.embeddings.chunk_row(place));
            if self.model.encoders.similarity == Similarity::Cosine {
                inverse[0] = normalise(simd, structure);
                inverse[1] = normalise(simd, attributes);
            }
        }
    }
}

/// The scores s of some pairs, and ∂L / ∂s of each.
struct Scores<'a, T> {
    batch: &'a Batch,
    first: usize,
    vectors: &'a [Chunk<T>],
    width: usize,
    cross: bool,
    loss: &'a PairLoss,
    theta: [T; 3],
    scores: &'a mut [[T; 3]],
    slopes: &'a mut [[T; 3]],
}

impl<T: Real> Kernel<T> for Scores<'_, T> {
    type Output = ();
    #[inline(always)]
    fn on<S: Simd<Scalar = T>>(self, simd: S) {
        let vectors = |node: u32| self.vectors[2 * node as usize * self.width..][..2 * self.width].split_at(self.width);
        for (index, (scores, slopes)) in self.scores.iter_mut().zip(self.slopes).enumerate() {
            let pair = self.first + index;
            let [source, target] = self.batch.pairs[pair];
            let ((source_s, source_a), (target_s, target_a)) = (vectors(source), vectors(target));
            scores[0] = dot(simd, source_s, target_s);
            scores[1] = dot(simd, source_a, target_a);
            scores[2] = if self.cross { dot(simd, source_s, target_a) } else { T::ZERO };
            let linked = pair < self.batch.linked;
            let weight = if linked { T::ONE } else { T::of(f64::from(self.batch.weights[pair - self.batch.linked])) };
            let terms = if self.cross { 3 } else { 2 };
            for term in 0..terms {
                slopes[term] = self.theta[term] * weight * self.loss.slope(linked, scores[term]);
            }
        }
    }
}

/// The gradients of both embeddings of some batch nodes.
struct NodeGradients<'a, T> {
    batch: &'a Batch,
    first: usize,
    slopes: &'a [[T; 3]],
    alignment: Alignment,
    tight: T,
    cosine: bool,
    vectors: &'a [Chunk<T>],
    inverse: &'a [T],
    structure: &'a mut [Chunk<T>],
    attributes: &'a mut [Chunk<T>],
    width: usize,
}

impl<T: Real> Kernel<T> for NodeGradients<'_, T> {
    type Output = ();
    #[inline(always)]
    fn on<S: Simd<Scalar = T>>(self, simd: S) {
        let [mut of_structure, mut of_attributes] = [const { Vec::new() }; 2];
        let entry = |index: u32, weight: T| Entry { index, weight };
        let rows = self.structure.chunks_exact_mut(self.width).zip(self.attributes.chunks_exact_mut(self.width));
        for (index, (structure, attributes)) in rows.enumerate() {
            let place = self.first + index;
            of_structure.clear();
            of_attributes.clear();
            for incidence in self.batch.incidences(place) {
                let [structure, attributes, cross] = self.slopes[incidence.pair as usize];
                let (other_s, other_a) = (2 * incidence.other, 2 * incidence.other + 1);
                of_structure.push(entry(other_s, structure));
                of_attributes.push(entry(other_a, attributes));
                match (self.alignment, incidence.source) {
                    (Alignment::Loose, true) => of_structure.push(entry(other_a, cross)),
                    (Alignment::Loose, false) => of_attributes.push(entry(other_s, cross)),
                    (Alignment::Tight, _) => {}
                }
            }
            let (own_s, own_a) = (2 * place, 2 * place + 1);
            if self.alignment == Alignment::Tight {
                of_structure.push(entry(own_a as u32, self.tight));
                of_attributes.push(entry(own_s as u32, self.tight));
            }
            let sides = [(own_s, structure, &of_structure), (own_a, attributes, &of_attributes)];
            for (own, gradient, terms) in sides {
                weighted_row_sum(simd, terms, self.vectors, gradient);
                if self.cosine {
                    let unit = &self.vectors[own * self.width..][..self.width];
                    normalise_backward(simd, gradient, unit, self.inverse[own]);
                }
            }
        }
    }
}
