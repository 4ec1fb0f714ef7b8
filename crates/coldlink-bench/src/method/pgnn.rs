//! P-GNN (You et al., 2019): where a node stands among random sets of anchors.

use std::collections::VecDeque;

use burn::module::Module;
use burn::tensor::Tensor;
use coldlink::config::{BatchSize, Scaling};
use coldlink::graph::{Graph, NodeId};
use coldlink::random::{Purpose, stream};
use coldlink::sample::Sampler;
use coldlink::score::Scorer;
use coldlink::split::TrainView;
use rand::seq::index::sample;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::loss::{inner_products, logistic_loss, pairs_of, unit_rows};
use super::mlp::pairs_only;
use super::optimiser::Trained;
use super::scorer::OwnEmbeddings;
use super::settings::{Checked, in_toml, wrong};
use super::{Learner, Method, MethodError, Training};
use crate::layer::{Features, Initial, Input, Linear, Position, Sets};
use crate::tensor::rows;

/// P-GNN with its settings.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pgnn {
    /// Width of hidden states.
    pub hidden: usize,
    /// Sets of each size, as a share of log₂ n: c of the released code.
    pub copies: f64,
    /// Paths are followed up to so many links (the fast variant has 2); 0 follows them to the end.
    pub distance_bound: u32,
    /// Steps after which anchors are drawn anew.
    pub redraw: u64,
    /// How rows of attributes are scaled.
    pub scaling: Scaling,
    /// How long it is trained.
    pub training: Training,
}

impl Default for Pgnn {
    fn default() -> Self {
        Pgnn {
            hidden: 32,
            copies: 0.5,
            distance_bound: 2,
            redraw: 10,
            scaling: Scaling::Unit,
            training: Training { steps: 400, validate_every: 10, patience: 8, learning_rate: 0.01 },
        }
    }
}

impl Checked for Pgnn {
    fn wrong(&self) -> Option<&'static str> {
        wrong([
            (self.hidden == 0 || self.redraw == 0, "`hidden` and `redraw` must be at least 1"),
            (!(self.copies > 0.0 && self.copies <= 4.0), "`copies` must be above 0 and at most 4"),
        ])
    }
}

impl Method for Pgnn {
    fn training(&self) -> Training {
        self.training
    }

    fn settings(&self) -> String {
        in_toml(self)
    }

    fn start<'a>(&self, view: TrainView<'a>, seed: u64) -> Result<Box<dyn Learner<'a> + 'a>, MethodError> {
        let features = Features::new(view.attributes(), self.scaling);
        let initial = &mut Initial::new(seed);
        let network = Network {
            input: Linear::new(features.width(), self.hidden, initial),
            first: Position::new(self.hidden, self.hidden, initial),
            second: Position::new(self.hidden, self.hidden, initial),
        };
        let pairs = BatchSize::Pairs(2 * view.graph().links());
        let sampler = Sampler::new(view, &pairs_only(pairs, 0.5), seed)?;
        Ok(Box::new(PgnnLearner {
            settings: self.clone(),
            x: features.all(),
            graph: view.graph(),
            sets: self.anchor_sets(view.graph(), seed, 0),
            sampler,
            places: vec![0; view.graph().nodes()],
            trained: Trained::new(network, self.training.learning_rate),
            seed,
            step: 0,
        }))
    }
}

/// A linear layer, and two position-aware ones; the second's places are the embedding.
#[derive(Module, Debug)]
struct Network {
    input: Linear,
    first: Position,
    second: Position,
}

impl Network {
    fn forward(&self, x: &Input, sets: &Sets) -> Tensor<2> {
        let (_, hidden) = self.first.forward(self.input.forward(x), sets);
        // A mean of rectified messages is not negative, so no unit stands between the layers.
        let (places, _) = self.second.forward(hidden, sets);
        unit_rows(places)
    }
}

struct PgnnLearner<'a> {
    settings: Pgnn,
    x: Input,
    graph: &'a Graph,
    sets: Sets,
    sampler: Sampler<'a>,
    places: Vec<u32>,
    trained: Trained<Network>,
    seed: u64,
    step: u64,
}

impl<'a> Learner<'a> for PgnnLearner<'a> {
    fn step(&mut self) -> f64 {
        if self.step > 0 && self.step.is_multiple_of(self.settings.redraw) {
            self.sets = self.settings.anchor_sets(self.graph, self.seed, self.step);
        }
        let batch = self.sampler.draw(self.step, &mut self.places);
        let z = self.trained.module().forward(&self.x, &self.sets);
        self.step += 1;
        self.trained.update(logistic_loss(inner_products(&z, &z, &pairs_of(&batch)), batch.linked))
    }

    fn scorer(&self) -> Box<dyn Scorer + 'a> {
        let z = self.trained.module().forward(&self.x, &self.sets);
        Box::new(OwnEmbeddings::inner_product(rows(z)))
    }

    fn parameters(&self) -> usize {
        self.trained.parameters()
    }
}

impl Pgnn {
    /// `copies` · log₂ n sets of each of the sizes n / 2, n / 4, …, and for each node and set the nearest anchor.
    fn anchor_sets(&self, graph: &Graph, seed: u64, step: u64) -> Sets {
        let nodes = graph.nodes();
        let sizes = (nodes as f64).log2().floor().max(1.0) as usize;
        let copies = (self.copies * sizes as f64).floor().max(1.0) as usize;
        let set = |index: usize| {
            let random = &mut stream(seed, Purpose::Anchors, step, index as u64);
            let count = (nodes >> (index / copies + 1)).max(1);
            sample(random, nodes, count).into_iter().map(|node| node as NodeId).collect::<Vec<_>>()
        };
        let found: Vec<Vec<(u32, f32)>> =
            (0..sizes * copies).into_par_iter().map(|index| nearest(graph, &set(index), self.distance_bound)).collect();
        let by_node: Vec<_> = (0..nodes).flat_map(|node| found.iter().map(move |set| set[node])).collect();
        Sets::new(nodes, found.len(), &by_node)
    }
}

/// The nearest anchor of each node with 1 / (distance + 1); any anchor with 0 where none can be reached.
fn nearest(graph: &Graph, anchors: &[NodeId], distance_bound: u32) -> Vec<(u32, f32)> {
    let mut found = vec![(anchors[0], 0.0); graph.nodes()];
    let mut queue = VecDeque::new();
    for &anchor in anchors {
        if found[anchor as usize].1 == 0.0 {
            found[anchor as usize] = (anchor, 1.0);
            queue.push_back((anchor, 0));
        }
    }
    while let Some((node, distance)) = queue.pop_front() {
        if distance_bound > 0 && distance >= distance_bound {
            continue;
        }
        for &next in graph.neighbors(node) {
            if found[next as usize].1 == 0.0 {
                found[next as usize] = (found[node as usize].0, 1.0 / (distance + 2) as f32);
                queue.push_back((next, distance + 1));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_anchor_is_found_within_the_bound() {
        let path = Graph::from_links(6, [(0, 1), (1, 2), (2, 3), (3, 4)]);
        let found = nearest(&path, &[0, 4], 0);
        assert_eq!(found, [(0, 1.0), (0, 0.5), (0, 1.0 / 3.0), (4, 0.5), (4, 1.0), (0, 0.0)]);
        assert_eq!(nearest(&path, &[0], 2)[3], (0, 0.0));
    }
}
