//! The content encoder of Citeomatic (Bhagavatula et al., 2018): a bag of directions, trained on triplets.

use burn::module::{Module, Param};
use burn::tensor::{Tensor, activation};
use coldlink::config::Scaling;
use coldlink::graph::{Graph, NodeId};
use coldlink::random::{Purpose, stream};
use coldlink::score::Scorer;
use coldlink::split::TrainView;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::loss::{inner_products, unit_rows};
use super::mlp::check_pairs;
use super::optimiser::Trained;
use super::scorer::OwnEmbeddings;
use super::settings::{Checked, in_toml, is_share, wrong};
use super::{Learner, Method, MethodError, Training};
use crate::layer::{Features, Initial, Input};
use crate::tensor::{numbers, pick, rows};

/// Citeomatic's content encoder with its settings.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Citeomatic {
    /// Numbers in an embedding.
    pub width: usize,
    /// How rows of attributes are scaled.
    pub scaling: Scaling,
    /// Share of attributes set to zero in training.
    pub attribute_dropout: f32,
    /// How much closer than a negative the linked node has to be.
    pub margin: f64,
    /// Triplets of each kind of negative in a batch.
    pub batch: usize,
    /// A nearest negative is drawn from so many nearest nodes.
    pub nearest: usize,
    /// Steps after which all nodes are embedded anew, to find nearest ones.
    pub refresh: u64,
    /// How long it is trained.
    pub training: Training,
}

impl Default for Citeomatic {
    fn default() -> Self {
        Citeomatic {
            width: 64,
            scaling: Scaling::Raw,
            attribute_dropout: 0.5,
            margin: 0.5,
            batch: 256,
            nearest: 10,
            refresh: 50,
            training: Training { steps: 3000, validate_every: 50, patience: 6, learning_rate: 0.01 },
        }
    }
}

/// A magnitude and a direction for each attribute.
#[derive(Module, Debug)]
pub struct Bag {
    /// λ_t.
    pub magnitude: Param<Tensor<1>>,
    /// w_t, of which only the direction counts.
    pub direction: Param<Tensor<2>>,
}

impl Bag {
    /// Normal directions, magnitudes 1.
    pub fn new(inputs: usize, outputs: usize, initial: &mut Initial) -> Self {
        Bag { magnitude: initial.constant(inputs, 1.0), direction: initial.normal(inputs, outputs, 1.0) }
    }

    /// Σ_t x_t λ_t w_t / ‖w_t‖, of length 1.
    pub fn forward(&self, x: &Input) -> Tensor<2> {
        let weights = unit_rows(self.direction.val()) * self.magnitude.val().unsqueeze_dim(1);
        unit_rows(x.times(weights))
    }
}

impl Checked for Citeomatic {
    fn wrong(&self) -> Option<&'static str> {
        let fine = self.width > 0 && self.batch > 0 && self.nearest > 0 && self.refresh > 0;
        wrong([
            (!fine, "`width`, `batch`, `nearest` and `refresh` must be at least 1"),
            (!is_share(self.attribute_dropout), "`attribute_dropout` must be at least 0 and below 1"),
        ])
    }
}

impl Method for Citeomatic {
    fn training(&self) -> Training {
        self.training
    }

    fn settings(&self) -> String {
        in_toml(self)
    }

    fn start<'a>(&self, view: TrainView<'a>, seed: u64) -> Result<Box<dyn Learner<'a> + 'a>, MethodError> {
        let features = Features::new(view.attributes(), self.scaling);
        let bag = Bag::new(features.width(), self.width, &mut Initial::new(seed));
        check_pairs(view)?;
        let warm = view.warm();
        let trained = Trained::new(bag, self.training.learning_rate);
        let settings = self.clone();
        let embedded = None;
        Ok(Box::new(CiteomaticLearner {
            settings,
            features,
            graph: view.graph(),
            warm,
            embedded,
            trained,
            seed,
            step: 0,
        }))
    }
}

struct CiteomaticLearner<'a> {
    settings: Citeomatic,
    features: Features,
    graph: &'a Graph,
    warm: Vec<NodeId>,
    /// All warm nodes as they were embedded last.
    embedded: Option<Tensor<2>>,
    trained: Trained<Bag>,
    seed: u64,
    step: u64,
}

/// A node, one it is linked to, and one it is not.
struct Triplet {
    query: NodeId,
    linked: NodeId,
    unlinked: NodeId,
}

impl CiteomaticLearner<'_> {
    fn embed_seen(&mut self) {
        self.embedded = Some(self.trained.module().forward(&self.features.of(&self.warm)).without_autodiff());
    }

    /// For each query one linked node and three that are not: any, one near in the embedding, a neighbour's neighbour.
    fn triplets(&self) -> Vec<Triplet> {
        let random = &mut stream(self.seed, Purpose::Pairs, self.step, u64::MAX);
        let mut draw =
            |count: usize| -> Vec<u32> { (0..count).map(|_| random.random_range(0..self.warm.len() as u32)).collect() };
        let (queries, sample) = (draw(self.settings.batch), draw(SAMPLE));
        let similarities = self.similarities(&queries, &sample);
        let negatives = |(index, &place): (usize, &u32)| {
            let random = &mut stream(self.seed, Purpose::Pairs, self.step, index as u64);
            let query = self.warm[place as usize];
            let linked = one_of(self.graph.neighbors(query), random);
            let near = self.near(query, &sample, &similarities[index * SAMPLE..(index + 1) * SAMPLE], random);
            let negatives = [self.any(query, random), near, self.beyond(query, random)];
            negatives.into_iter().flatten().map(move |unlinked| Triplet { query, linked, unlinked }).collect::<Vec<_>>()
        };
        queries.par_iter().enumerate().flat_map_iter(negatives).collect()
    }

    /// Of each query with each node of the sample, as they were embedded last.
    fn similarities(&self, queries: &[u32], sample: &[u32]) -> Vec<f32> {
        let embedded = |places: &[u32]| {
            let all = self.embedded.clone().unwrap_or_else(|| unreachable!("nodes are embedded at the first step"));
            pick(all, places)
        };
        numbers(embedded(queries).matmul(embedded(sample).transpose()))
    }

    fn is_negative(&self, query: NodeId, node: NodeId) -> bool {
        node != query && !self.graph.has_link(query, node)
    }

    fn any(&self, query: NodeId, random: &mut Xoshiro256PlusPlus) -> Option<NodeId> {
        (0..TRIES).map(|_| one_of(&self.warm, random)).find(|&node| self.is_negative(query, node))
    }

    /// One of the nearest nodes of the sample that are not linked.
    fn near(
        &self,
        query: NodeId,
        sample: &[u32],
        similarities: &[f32],
        random: &mut Xoshiro256PlusPlus,
    ) -> Option<NodeId> {
        let mut order: Vec<usize> = (0..sample.len()).collect();
        let wanted = self.settings.nearest.clamp(1, sample.len());
        // Linked ones among the nearest are passed over, so some more are looked at.
        let looked = (4 * wanted).min(sample.len());
        order.select_nth_unstable_by(looked - 1, |&a, &b| similarities[b].total_cmp(&similarities[a]));
        order.truncate(looked);
        order.sort_by(|&a, &b| similarities[b].total_cmp(&similarities[a]));
        let nodes = order.into_iter().map(|place| self.warm[sample[place] as usize]);
        let nearest: Vec<NodeId> = nodes.filter(|&node| self.is_negative(query, node)).take(wanted).collect();
        (!nearest.is_empty()).then(|| one_of(&nearest, random))
    }

    fn beyond(&self, query: NodeId, random: &mut Xoshiro256PlusPlus) -> Option<NodeId> {
        let walk = |_| {
            let between = one_of(self.graph.neighbors(query), random);
            one_of(self.graph.neighbors(between), random)
        };
        (0..TRIES).map(walk).find(|&node| self.is_negative(query, node))
    }
}

/// Draws before a kind of negative is given up for a query.
const TRIES: usize = 10;
/// Nodes among which the nearest are looked for.
const SAMPLE: usize = 1024;

fn one_of(nodes: &[NodeId], random: &mut Xoshiro256PlusPlus) -> NodeId {
    nodes[random.random_range(0..nodes.len())]
}

impl<'a> Learner<'a> for CiteomaticLearner<'a> {
    fn step(&mut self) -> f64 {
        if self.step.is_multiple_of(self.settings.refresh) {
            self.embed_seen();
        }
        let triplets = self.triplets();
        self.step += 1;
        if triplets.is_empty() {
            return 0.0;
        }
        let mut nodes: Vec<NodeId> =
            triplets.iter().flat_map(|each| [each.query, each.linked, each.unlinked]).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let place = |node: NodeId| nodes.partition_point(|&other| other < node) as u32;
        let linked: Vec<_> = triplets.iter().map(|each| [place(each.query), place(each.linked)]).collect();
        let unlinked: Vec<_> = triplets.iter().map(|each| [place(each.query), place(each.unlinked)]).collect();
        let random = &mut stream(self.seed, Purpose::Dropout, self.step, 0);
        let x = self.features.of(&nodes).dropout(self.settings.attribute_dropout, random);
        let z = self.trained.module().forward(&x);
        let gap = inner_products(&z, &z, &unlinked) - inner_products(&z, &z, &linked);
        self.trained.update(activation::relu(gap + self.settings.margin).mean())
    }

    fn scorer(&self) -> Box<dyn Scorer + 'a> {
        Box::new(OwnEmbeddings::inner_product(rows(self.trained.module().forward(&self.features.all()))))
    }

    fn parameters(&self) -> usize {
        self.trained.parameters()
    }
}
