//! SEAL (Zhang & Chen, 2018): a link is looked up in the subgraph around it.

use std::collections::HashMap;
use std::sync::Arc;

use burn::tensor::Tensor;
use coldlink::config::BatchSize;
use coldlink::graph::{Attributes, Graph, NodeId};
use coldlink::random::{Purpose, stream};
use coldlink::sample::Sampler;
use coldlink::score::Scorer;
use coldlink::split::TrainView;
use rand::seq::SliceRandom;
use rand::seq::index::sample;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::loss::{logistic_loss, pairs_of};
use super::mlp::pairs_only;
use super::optimiser::Trained;
use super::settings::{Checked, in_toml, is_share, wrong};
use super::{Learner, Method, MethodError, Training};
use crate::layer::{Dgcnn, DgcnnShape, Graphs, Initial, Input, normalised};
use crate::tensor::{Pattern, Sparse, numbers};

/// SEAL with its settings.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seal {
    /// h: nodes up to so many links from either end are in the subgraph.
    pub hops: usize,
    /// Of each hop so many nodes are taken at the most.
    pub nodes_per_hop: usize,
    /// Training links that are looked at, with as many unlinked pairs.
    pub links: usize,
    /// Channels of the graph convolutions.
    pub channels: usize,
    /// Share of training subgraphs that have no more nodes than are kept by sort-pooling.
    pub kept_share: f64,
    /// Whether attributes stand beside the labels.
    pub attributes: bool,
    /// Share of the last hidden layer set to zero in training.
    pub hidden_dropout: f32,
    /// Subgraphs in a batch.
    pub batch: usize,
    /// How long it is trained.
    pub training: Training,
}

impl Default for Seal {
    fn default() -> Self {
        Seal {
            hops: 1,
            nodes_per_hop: 100,
            links: 2000,
            channels: 32,
            kept_share: 0.6,
            attributes: true,
            hidden_dropout: 0.5,
            batch: 50,
            training: Training { steps: 800, validate_every: 80, patience: 4, learning_rate: 0.001 },
        }
    }
}

/// Labels above this count as this.
const LABELS: usize = 64;
/// The least number of nodes kept: below, the second convolution has nothing to slide over.
const LEAST_KEPT: usize = 10;

impl Checked for Seal {
    fn wrong(&self) -> Option<&'static str> {
        let counts = [self.hops, self.nodes_per_hop, self.links, self.channels, self.batch];
        wrong([
            (counts.contains(&0), "`hops`, `nodes_per_hop`, `links`, `channels` and `batch` must be at least 1"),
            (!(0.0..=1.0).contains(&self.kept_share), "`kept_share` must be between 0 and 1"),
            (!is_share(self.hidden_dropout), "`hidden_dropout` must be at least 0 and below 1"),
        ])
    }
}

impl Method for Seal {
    fn training(&self) -> Training {
        self.training
    }

    fn settings(&self) -> String {
        in_toml(self)
    }

    fn start<'a>(&self, view: TrainView<'a>, seed: u64) -> Result<Box<dyn Learner<'a> + 'a>, MethodError> {
        let around = Around { graph: view.graph(), attributes: view.attributes(), settings: self.clone(), seed };
        let links = self.links.min(view.graph().links());
        let sampler = Sampler::new(view, &pairs_only(BatchSize::Pairs(2 * links), 0.5), seed)?;
        let batch = sampler.draw(0, &mut vec![0; view.graph().nodes()]);
        let all: Vec<[NodeId; 2]> = view.graph().iter_links().map(|(a, b)| [a, b]).collect();
        let chosen = sample(&mut stream(seed, Purpose::Order, 0, 1), all.len(), links);
        let linked = chosen.into_iter().map(|link| all[link]);
        let pairs: Vec<[NodeId; 2]> = linked.chain(pairs_of(&batch).split_off(batch.linked)).collect();
        let subgraphs: Vec<Subgraph> = pairs.par_iter().map(|&[a, b]| around.subgraph(a, b)).collect();
        let mut sizes: Vec<usize> = subgraphs.iter().map(|subgraph| subgraph.nodes.len()).collect();
        sizes.sort_unstable();
        let place = (self.kept_share * (sizes.len() - 1) as f64) as usize;
        let shape = DgcnnShape {
            inputs: around.inputs(),
            channels: self.channels,
            kept: sizes[place].max(LEAST_KEPT),
            convolutions: [16, 32],
            hidden: 128,
        };
        let network = Dgcnn::new(shape, &mut Initial::new(seed));
        let trained = Trained::new(network, self.training.learning_rate);
        let order = Vec::new();
        Ok(Box::new(SealLearner { around, subgraphs, linked: links, order, trained, seed, step: 0 }))
    }
}

/// The nodes around a pair, the links between them, and their labels.
#[derive(Clone, Debug)]
struct Subgraph {
    /// In the whole graph's numbering; the two ends come first.
    nodes: Vec<NodeId>,
    /// Between places in `nodes`; never the pair itself.
    links: Vec<(u32, u32)>,
    /// See [`double_radius_labels`].
    labels: Vec<u32>,
}

/// Looks up what is around pairs.
#[derive(Clone)]
struct Around<'a> {
    graph: &'a Graph,
    attributes: &'a Attributes,
    settings: Seal,
    seed: u64,
}

impl Around<'_> {
    fn inputs(&self) -> usize {
        LABELS + 1 + if self.settings.attributes { self.attributes.width() } else { 0 }
    }

    fn subgraph(&self, source: NodeId, target: NodeId) -> Subgraph {
        let random = &mut stream(self.seed, Purpose::Negatives, u64::from(source), u64::from(target));
        let mut nodes = vec![source, target];
        let mut places: HashMap<NodeId, u32> = HashMap::from([(source, 0), (target, 1)]);
        let mut last = nodes.clone();
        for _ in 0..self.settings.hops {
            let mut next: Vec<NodeId> = last.iter().flat_map(|&node| self.graph.neighbors(node)).copied().collect();
            next.sort_unstable();
            next.dedup();
            next.retain(|node| !places.contains_key(node));
            if next.len() > self.settings.nodes_per_hop {
                next = next.partial_shuffle(random, self.settings.nodes_per_hop).0.to_vec();
            }
            for &node in &next {
                places.insert(node, nodes.len() as u32);
                nodes.push(node);
            }
            last = next;
        }
        let mut links = Vec::new();
        for (place, &node) in nodes.iter().enumerate() {
            let others = self.graph.neighbors(node).iter().filter_map(|other| places.get(other));
            links.extend(others.filter(|&&other| other > place as u32).map(|&other| (place as u32, other)));
        }
        links.retain(|&ends| ends != (0, 1));
        let labels = double_radius_labels(nodes.len(), &links, 0, 1);
        Subgraph { nodes, links, labels }
    }

    /// A batch of subgraphs as one graph: its nodes' inputs, its matrix, and the size of each part.
    fn batch(&self, subgraphs: &[&Subgraph]) -> (Input, Arc<Sparse>, Vec<usize>) {
        let sizes: Vec<usize> = subgraphs.iter().map(|subgraph| subgraph.nodes.len()).collect();
        let starts = sizes.iter().scan(0, |next, size| Some(std::mem::replace(next, *next + size)));
        let links = subgraphs.iter().zip(starts).flat_map(|(subgraph, start)| {
            subgraph.links.iter().map(move |&(a, b)| (a + start as u32, b + start as u32))
        });
        let graph = Graph::from_links(sizes.iter().sum(), links);
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for subgraph in subgraphs {
            for (&node, &label) in subgraph.nodes.iter().zip(&subgraph.labels) {
                columns.push(label.min(LABELS as u32));
                values.push(1.0);
                if self.settings.attributes {
                    for (column, amount) in self.attributes.iter_row(node) {
                        columns.push(column + LABELS as u32 + 1);
                        values.push(amount);
                    }
                }
                offsets.push(columns.len() as u32);
            }
        }
        let input = Sparse::new(Arc::new(Pattern::new(self.inputs(), offsets, columns)), values);
        (Input::Sparse(input), normalised(&graph), sizes)
    }

    fn logits(&self, network: &Dgcnn, subgraphs: &[&Subgraph], share: f32, step: u64) -> Tensor<1> {
        let (x, matrix, sizes) = self.batch(subgraphs);
        let random = &mut stream(self.seed, Purpose::Dropout, step, 0);
        network.forward(&x, &Graphs { normalised: &matrix, sizes: &sizes }, share, random)
    }
}

/// Double-radius node labels: 1 for both ends, and for others 1 + min(dₓ, d_y) + (d / 2)(d / 2 + d % 2 − 1), d = dₓ + d_y, where
/// the distance to one end is measured without the other; 0 where one cannot be reached.
pub fn double_radius_labels(nodes: usize, links: &[(u32, u32)], source: u32, target: u32) -> Vec<u32> {
    let graph = Graph::from_links(nodes, links.iter().copied());
    let (of_source, of_target) = (distances(&graph, source, target), distances(&graph, target, source));
    let label = |node: u32| match (of_source[node as usize], of_target[node as usize]) {
        _ if node == source || node == target => 1,
        (Some(a), Some(b)) => {
            let (half, odd) = ((a + b) / 2, (a + b) % 2);
            1 + a.min(b) + half * (half + odd - 1)
        }
        _ => 0,
    };
    (0..nodes as u32).map(label).collect()
}

/// Distances from a node, never through `without`.
fn distances(graph: &Graph, from: u32, without: u32) -> Vec<Option<u32>> {
    let mut found = vec![None; graph.nodes()];
    found[from as usize] = Some(0);
    let mut level = vec![from];
    for distance in 1.. {
        let mut next = Vec::new();
        for &node in level.iter().flat_map(|&node| graph.neighbors(node)) {
            if node != without && found[node as usize].is_none() {
                found[node as usize] = Some(distance);
                next.push(node);
            }
        }
        if next.is_empty() {
            break;
        }
        level = next;
    }
    found
}

struct SealLearner<'a> {
    around: Around<'a>,
    /// Of linked pairs first.
    subgraphs: Vec<Subgraph>,
    linked: usize,
    /// What is left of this round through the subgraphs.
    order: Vec<usize>,
    trained: Trained<Dgcnn>,
    seed: u64,
    step: u64,
}

impl SealLearner<'_> {
    fn draw(&mut self) -> Vec<usize> {
        if self.order.len() < self.around.settings.batch {
            self.order = (0..self.subgraphs.len()).collect();
            self.order.shuffle(&mut stream(self.seed, Purpose::Order, self.step, 0));
        }
        let keep = self.order.len().saturating_sub(self.around.settings.batch);
        let mut drawn = self.order.split_off(keep);
        drawn.sort_unstable();
        drawn
    }
}

impl<'a> Learner<'a> for SealLearner<'a> {
    fn step(&mut self) -> f64 {
        let drawn = self.draw();
        let linked = drawn.partition_point(|&index| index < self.linked);
        let subgraphs: Vec<&Subgraph> = drawn.iter().map(|&index| &self.subgraphs[index]).collect();
        let share = self.around.settings.hidden_dropout;
        let logits = self.around.logits(self.trained.module(), &subgraphs, share, self.step);
        self.step += 1;
        self.trained.update(logistic_loss(logits, linked))
    }

    fn scorer(&self) -> Box<dyn Scorer + 'a> {
        Box::new(SealScorer { around: self.around.clone(), network: self.trained.module().clone() })
    }

    fn parameters(&self) -> usize {
        self.trained.parameters()
    }

    fn can_rank(&self) -> bool {
        false
    }
}

struct SealScorer<'a> {
    around: Around<'a>,
    network: Dgcnn,
}

/// Pairs that are scored at a time.
const PAIRS_PER_ROUND: usize = 64;

impl Scorer for SealScorer<'_> {
    fn scores(&self, pairs: &[(NodeId, NodeId)]) -> Vec<f32> {
        let score = |pairs: &[(NodeId, NodeId)]| {
            let subgraphs: Vec<Subgraph> =
                pairs.iter().map(|&(a, b)| self.around.subgraph(a.min(b), a.max(b))).collect();
            numbers(self.around.logits(&self.network, &subgraphs.iter().collect::<Vec<_>>(), 0.0, 0))
        };
        pairs.par_chunks(PAIRS_PER_ROUND).flat_map_iter(score).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_link_that_is_asked_about_is_not_in_its_subgraph() {
        let graph = Graph::from_links(5, [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4)]);
        let attributes = Attributes::from_rows(1, &vec![vec![(0, 1.0)]; 5]).unwrap();
        let around = Around { graph: &graph, attributes: &attributes, settings: Seal::default(), seed: 0 };
        let subgraph = around.subgraph(0, 1);
        assert_eq!((&subgraph.nodes[..], &subgraph.links[..]), (&[0, 1, 2][..], &[(0, 2), (1, 2)][..]));
        assert_eq!(subgraph.labels, [1, 1, 2]);
    }

    #[test]
    fn large_surroundings_are_sampled() {
        let graph = Graph::from_links(60, (2..60).map(|node| (0, node)));
        let attributes = Attributes::from_rows(1, &vec![vec![]; 60]).unwrap();
        let settings = Seal { nodes_per_hop: 7, ..Seal::default() };
        let around = Around { graph: &graph, attributes: &attributes, settings, seed: 0 };
        assert_eq!(around.subgraph(0, 1).nodes.len(), 9);
    }
}
