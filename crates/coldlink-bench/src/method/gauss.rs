//! Graph2Gauss (Bojchevski & Günnemann, 2018): a Gaussian per node, nearer nodes at lower energy.

use burn::module::Module;
use burn::tensor::{Tensor, activation};
use coldlink::config::Scaling;
use coldlink::graph::{Graph, NodeId};
use coldlink::kernel::Matrix;
use coldlink::random::{Purpose, stream};
use coldlink::score::Scorer;
use coldlink::split::TrainView;
use rand::RngExt;
use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::loss::pick_ends;
use super::mlp::check_pairs;
use super::optimiser::Trained;
use super::settings::{Checked, in_toml, is_share, wrong};
use super::{Learner, Method, MethodError, Training};
use crate::layer::{Features, Initial, Input, Linear, elu};
use crate::tensor::rows;

/// Graph2Gauss with its settings.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gauss {
    /// Numbers in a mean, and in a variance.
    pub width: usize,
    /// Width of the hidden layer.
    pub hidden: usize,
    /// How rows of attributes are scaled.
    pub scaling: Scaling,
    /// Share of attributes set to zero in training.
    pub attribute_dropout: f32,
    /// K: nodes up to so many links away are told apart by their distance.
    pub hops: usize,
    /// Nodes in a batch, each with one other at each distance.
    pub batch: usize,
    /// How long it is trained.
    pub training: Training,
}

impl Default for Gauss {
    fn default() -> Self {
        Gauss {
            width: 64,
            hidden: 512,
            scaling: Scaling::Unit,
            attribute_dropout: 0.5,
            hops: 2,
            batch: 512,
            training: Training { steps: 2000, validate_every: 25, patience: 8, learning_rate: 0.001 },
        }
    }
}

/// From attributes to a Gaussian.
#[derive(Module, Debug)]
pub struct Gaussian {
    hidden: Linear,
    mean: Linear,
    variance: Linear,
}

impl Gaussian {
    /// Glorot's weights, no bias.
    pub fn new(inputs: usize, hidden: usize, width: usize, initial: &mut Initial) -> Self {
        Gaussian {
            hidden: Linear::new(inputs, hidden, initial),
            mean: Linear::new(hidden, width, initial),
            variance: Linear::new(hidden, width, initial),
        }
    }

    /// μ, and σ = elu(·) + 1.
    pub fn forward(&self, x: &Input) -> [Tensor<2>; 2] {
        let hidden = Input::Dense(activation::relu(self.hidden.forward(x)));
        [self.mean.forward(&hidden), elu(self.variance.forward(&hidden)) + (1.0 + LEAST)]
    }
}

/// Keeps variances from zero.
const LEAST: f64 = 1e-6;

/// E_ij = KL(N_j ‖ N_i) of each pair of places (i, j).
pub fn energies(mean: &Tensor<2>, variance: &Tensor<2>, places: &[[u32; 2]]) -> Tensor<1> {
    let [of_i, of_j] = [0, 1].map(|end| pick_ends(variance, places, end));
    let apart = (pick_ends(mean, places, 0) - pick_ends(mean, places, 1)).square();
    let ratio = of_j / of_i.clone();
    let terms = ratio.clone() + apart / of_i - ratio.log() - 1.0;
    terms.sum_dim(1).squeeze_dim::<1>(1) * 0.5
}

impl Checked for Gauss {
    fn wrong(&self) -> Option<&'static str> {
        let fine = self.width > 0 && self.hidden > 0 && self.hops > 0 && self.batch > 0;
        wrong([
            (!fine, "`width`, `hidden`, `hops` and `batch` must be at least 1"),
            (!is_share(self.attribute_dropout), "`attribute_dropout` must be at least 0 and below 1"),
        ])
    }
}

impl Method for Gauss {
    fn training(&self) -> Training {
        self.training
    }

    fn settings(&self) -> String {
        in_toml(self)
    }

    fn start<'a>(&self, view: TrainView<'a>, seed: u64) -> Result<Box<dyn Learner<'a> + 'a>, MethodError> {
        let features = Features::new(view.attributes(), self.scaling);
        let network = Gaussian::new(features.width(), self.hidden, self.width, &mut Initial::new(seed));
        check_pairs(view)?;
        let warm = view.warm();
        let hops = warm.par_iter().map(|&node| Hops::around(view.graph(), node, self.hops)).collect();
        let trained = Trained::new(network, self.training.learning_rate);
        let (settings, nodes) = (self.clone(), view.graph().nodes());
        Ok(Box::new(GaussLearner { settings, features, nodes, warm, hops, trained, seed, step: 0 }))
    }
}

/// The nodes around one, by distance.
struct Hops {
    /// At distance 1, 2, …; sorted.
    at: Vec<Vec<NodeId>>,
}

impl Hops {
    fn around(graph: &Graph, node: NodeId, most: usize) -> Self {
        let own = [node];
        let mut known = own.to_vec();
        let mut at: Vec<Vec<NodeId>> = Vec::new();
        for _ in 0..most {
            let last = at.last().map_or(&own[..], Vec::as_slice);
            let mut next: Vec<NodeId> = last.iter().flat_map(|&node| graph.neighbors(node)).copied().collect();
            next.par_sort_unstable();
            next.dedup();
            next.retain(|node| known.binary_search(node).is_err());
            known.extend(&next);
            known.sort_unstable();
            at.push(next);
        }
        Hops { at }
    }

    fn holds(&self, node: NodeId) -> bool {
        self.at.iter().any(|nodes| nodes.binary_search(&node).is_ok())
    }
}

struct GaussLearner {
    settings: Gauss,
    features: Features,
    nodes: usize,
    warm: Vec<NodeId>,
    /// Of each warm node.
    hops: Vec<Hops>,
    trained: Trained<Gaussian>,
    seed: u64,
    step: u64,
}

/// Draws of a far node before it is given up.
const TRIES: usize = 20;

impl GaussLearner {
    /// For each anchor one node at each distance and one beyond, and of these every pair of a nearer and a farther one.
    fn triplets(&self) -> Vec<[NodeId; 3]> {
        let mut anchors: Vec<usize> = (0..self.warm.len()).collect();
        let count = self.settings.batch.min(anchors.len());
        let random = &mut stream(self.seed, Purpose::Pairs, self.step, u64::MAX);
        let (anchors, _) = anchors.partial_shuffle(random, count);
        let draw = |(index, &place): (usize, &usize)| {
            let random = &mut stream(self.seed, Purpose::Pairs, self.step, index as u64);
            let (anchor, hops) = (self.warm[place], &self.hops[place]);
            let mut drawn: Vec<NodeId> = Vec::new();
            for nodes in hops.at.iter().filter(|nodes| !nodes.is_empty()) {
                drawn.push(nodes[random.random_range(0..nodes.len())]);
            }
            let mut far = (0..TRIES).map(|_| self.warm[random.random_range(0..self.warm.len())]);
            drawn.extend(far.find(|&node| node != anchor && !hops.holds(node)));
            let pair = |near: usize| (near + 1..drawn.len()).map(move |far| (near, far));
            (0..drawn.len()).flat_map(pair).map(|(near, far)| [anchor, drawn[near], drawn[far]]).collect::<Vec<_>>()
        };
        anchors.par_iter().enumerate().flat_map_iter(draw).collect()
    }
}

impl<'a> Learner<'a> for GaussLearner {
    fn step(&mut self) -> f64 {
        let triplets = self.triplets();
        self.step += 1;
        if triplets.is_empty() {
            return 0.0;
        }
        let mut nodes = triplets.as_flattened().to_vec();
        nodes.sort_unstable();
        nodes.dedup();
        let place = |node: NodeId| nodes.partition_point(|&other| other < node) as u32;
        let near: Vec<_> = triplets.iter().map(|&[anchor, near, _]| [place(anchor), place(near)]).collect();
        let far: Vec<_> = triplets.iter().map(|&[anchor, _, far]| [place(anchor), place(far)]).collect();
        let random = &mut stream(self.seed, Purpose::Dropout, self.step, 0);
        let x = self.features.of(&nodes).dropout(self.settings.attribute_dropout, random);
        let [mean, variance] = self.trained.module().forward(&x);
        let pull = energies(&mean, &variance, &near).square();
        let push = (-energies(&mean, &variance, &far)).exp();
        self.trained.update((pull + push).mean())
    }

    fn scorer(&self) -> Box<dyn Scorer + 'a> {
        let all: Vec<NodeId> = (0..self.nodes as NodeId).collect();
        let mut parts = Vec::new();
        for nodes in all.chunks(NODES_PER_ROUND) {
            parts.push(self.trained.module().forward(&self.features.of(nodes)).map(Tensor::without_autodiff));
        }
        let [mean, variance] = [0, 1]
            .map(|side| rows(Tensor::cat(parts.iter().map(|part: &[Tensor<2>; 2]| part[side].clone()).collect(), 0)));
        Box::new(Energies::new(mean, variance))
    }

    fn parameters(&self) -> usize {
        self.trained.parameters()
    }
}

/// Nodes that are embedded at a time.
const NODES_PER_ROUND: usize = 4096;

/// The negated mean of both directions' energies, in which the logarithms cancel:
/// −¼ Σ (σ_j / σ_i + σ_i / σ_j + (μ_i − μ_j)² (1 / σ_i + 1 / σ_j) − 2).
struct Energies {
    mean: Matrix<f32>,
    variance: Matrix<f32>,
    inverse: Matrix<f32>,
}

impl Energies {
    fn new(mean: Matrix<f32>, variance: Matrix<f32>) -> Self {
        let inverse =
            Matrix::from_fn(variance.rows(), variance.columns(), |row, column| 1.0 / variance.row(row)[column]);
        Energies { mean, variance, inverse }
    }

    fn score(&self, a: NodeId, b: NodeId) -> f32 {
        let (a, b) = (a as usize, b as usize);
        let means = self.mean.row(a).iter().zip(self.mean.row(b));
        let variances = self.variance.row(a).iter().zip(self.variance.row(b));
        let inverses = self.inverse.row(a).iter().zip(self.inverse.row(b));
        let sum: f32 = means
            .zip(variances.zip(inverses))
            .map(|((ma, mb), ((va, vb), (ia, ib)))| va * ib + vb * ia + (ma - mb) * (ma - mb) * (ia + ib) - 2.0)
            .sum();
        -0.25 * sum
    }
}

impl Scorer for Energies {
    fn scores(&self, pairs: &[(NodeId, NodeId)]) -> Vec<f32> {
        pairs.par_iter().map(|&(a, b)| self.score(a, b)).collect()
    }

    fn scores_against(&self, source: NodeId, candidates: &[NodeId], out: &mut [f32]) {
        for (out, &candidate) in out.iter_mut().zip(candidates) {
            *out = self.score(source, candidate);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::{device, from_matrix};

    #[test]
    fn nodes_are_sorted_by_their_distance() {
        let graph = Graph::from_links(7, [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (5, 6)]);
        let hops = Hops::around(&graph, 0, 2);
        assert_eq!(hops.at, [vec![1, 2], vec![3]]);
        assert!(hops.holds(3) && !hops.holds(4) && !hops.holds(5));
        assert_eq!(Hops::around(&graph, 5, 2).at, [vec![6], vec![]]);
    }

    #[test]
    fn a_score_is_the_negated_mean_of_both_directions_energies() {
        let mean = Matrix::from_fn(3, 4, |row, column| (row * 3 + column * 2) as f32 / 7.0 - 0.5);
        let variance = Matrix::from_fn(3, 4, |row, column| 0.3 + (row + column) as f32 / 5.0);
        let of = |pair| {
            let [mean, variance] = [&mean, &variance].map(|matrix| from_matrix(matrix, &device()));
            energies(&mean, &variance, &[pair]).into_scalar::<f32>()
        };
        let expected = -0.5 * (of([0, 2]) + of([2, 0]));
        let scorer = Energies::new(mean.clone(), variance.clone());
        assert!((scorer.score(0, 2) - expected).abs() < 1e-5 && scorer.score(0, 2) == scorer.score(2, 0));
    }
}
