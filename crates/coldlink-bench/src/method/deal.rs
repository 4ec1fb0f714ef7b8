//! DEAL with other encoders, in autodiff: the paper's variants, and the second implementation of its loss.

use std::sync::Arc;

use burn::module::{Module, Param};
use burn::tensor::Tensor;
use coldlink::Config;
use coldlink::config::{Alignment, BatchSize, Preset, Scaling};
use coldlink::graph::NodeId;
use coldlink::random::{Purpose, stream};
use coldlink::sample::{Batch, Sampler};
use coldlink::score::{Embeddings, Scorer};
use coldlink::split::TrainView;
use rand::Rng;
use serde::{Deserialize, Serialize};

use super::autoencoder::{Links, Network};
use super::loss::{constant, inner_products, softplus, unit_rows};
use super::optimiser::Trained;
use super::scorer::OwnEmbeddings;
use super::settings::{Checked, in_toml, wrong};
use super::{Autoencoder, Encoder, Learner, Method, MethodError, Training};
use crate::layer::{Features, Initial, Input, Mlp, normalised};
use crate::tensor::{Sparse, pick, product, rows};

/// What z_s comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StructureSide {
    /// A row per node.
    Table,
    /// A graph convolution over a row per node.
    Gcn,
}

/// What z_a comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AttributeSide {
    /// An MLP over a node's own attributes.
    Mlp,
    /// Two graph convolutions.
    Gcn,
    /// Two layers of graph attention.
    Gat,
}

/// A variant of DEAL with its settings; what they mean is said in [`Config`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct DealVariant {
    /// What z_s comes from.
    pub structure: StructureSide,
    /// What z_a comes from.
    pub attributes: AttributeSide,
    pub width: usize,
    pub hidden: usize,
    pub scaling: Scaling,
    pub attribute_dropout: f32,
    pub gamma: f64,
    pub b: f64,
    pub beta: f64,
    pub alignment: Alignment,
    pub theta: [f64; 3],
    pub lambda: [f64; 3],
    pub batch: BatchSize,
    pub linked_share: f64,
    /// How long it is trained.
    pub training: Training,
}

impl Default for DealVariant {
    fn default() -> Self {
        let Config { width, gamma1, b1, beta, theta, lambda, linked_share, .. } = Preset::Paper.config();
        DealVariant {
            structure: StructureSide::Table,
            attributes: AttributeSide::Mlp,
            width,
            hidden: 64,
            scaling: Scaling::Unit,
            attribute_dropout: 0.0,
            gamma: gamma1,
            b: b1,
            beta,
            alignment: Alignment::Loose,
            theta,
            lambda,
            batch: BatchSize::Share(0.5),
            linked_share,
            training: Training { steps: 1500, validate_every: 20, patience: 10, learning_rate: 0.01 },
        }
    }
}

impl DealVariant {
    /// The settings of the loss and the sampler, as the core knows them.
    fn config(&self) -> Config {
        let DealVariant { width, scaling, gamma, b, beta, alignment, theta, lambda, batch, linked_share, .. } = *self;
        let (gamma1, gamma2, b1, b2) = (gamma, gamma, b, b);
        let paper = Preset::Paper.config();
        Config { width, scaling, gamma1, gamma2, b1, b2, beta, alignment, theta, lambda, batch, linked_share, ..paper }
    }

    fn graph_layers(&self, encoder: Encoder) -> Autoencoder {
        Autoencoder { encoder, width: self.width, hidden: self.hidden, ..Autoencoder::default() }
    }
}

impl Checked for DealVariant {
    fn wrong(&self) -> Option<&'static str> {
        let graph_layers = self.attributes == AttributeSide::Gat;
        let heads = Autoencoder::default().heads;
        let config = Config { attribute_dropout: self.attribute_dropout, ..self.config() };
        wrong([
            (self.hidden == 0, "`hidden` must be at least 1"),
            (
                graph_layers && !self.hidden.is_multiple_of(heads),
                "`hidden` must be a multiple of 4, the number of heads",
            ),
            (config.check().is_err(), "a setting is outside the range that `coldlink train --help` states"),
        ])
    }
}

impl Method for DealVariant {
    fn training(&self) -> Training {
        self.training
    }

    fn settings(&self) -> String {
        in_toml(self)
    }

    fn start<'a>(&self, view: TrainView<'a>, seed: u64) -> Result<Box<dyn Learner<'a> + 'a>, MethodError> {
        let (features, initial) = (Features::new(view.attributes(), self.scaling), &mut Initial::new(seed));
        let attributes = match self.attributes {
            AttributeSide::Mlp => {
                Attributes::Mlp(Mlp::new(&[features.width(), self.hidden, self.width], true, initial))
            }
            AttributeSide::Gcn => {
                Attributes::Graph(Network::new(&self.graph_layers(Encoder::Gcn), features.width(), initial))
            }
            AttributeSide::Gat => {
                Attributes::Graph(Network::new(&self.graph_layers(Encoder::Gat), features.width(), initial))
            }
        };
        let links = match self.attributes {
            AttributeSide::Mlp => None,
            AttributeSide::Gcn => Some(Links::of(view.graph(), Encoder::Gcn)),
            AttributeSide::Gat => Some(Links::of(view.graph(), Encoder::Gat)),
        };
        let encoders = Encoders { table: initial.normal(view.graph().nodes(), self.width, 1.0), attributes };
        let config = self.config();
        Ok(Box::new(DealLearner {
            sampler: Sampler::new(view, &config, seed)?,
            config,
            attribute_dropout: self.attribute_dropout,
            x: features.all(),
            features,
            smoothing: (self.structure == StructureSide::Gcn).then(|| normalised(view.graph())),
            links,
            view,
            places: vec![0; view.graph().nodes()],
            trained: Trained::new(encoders, self.training.learning_rate),
            seed,
            step: 0,
        }))
    }
}

#[derive(Module, Debug)]
enum Attributes {
    Mlp(Mlp),
    Graph(Network),
}

#[derive(Module, Debug)]
struct Encoders {
    table: Param<Tensor<2>>,
    attributes: Attributes,
}

struct DealLearner<'a> {
    config: Config,
    attribute_dropout: f32,
    x: Input,
    features: Features,
    /// What the table is multiplied by, where z_s comes from a graph convolution.
    smoothing: Option<Arc<Sparse>>,
    links: Option<Links>,
    view: TrainView<'a>,
    sampler: Sampler<'a>,
    places: Vec<u32>,
    trained: Trained<Encoders>,
    seed: u64,
    step: u64,
}

impl DealLearner<'_> {
    /// z_s of all nodes.
    fn structure(&self) -> Tensor<2> {
        let table = self.trained.module().table.val();
        self.smoothing.as_ref().map_or_else(|| table.clone(), |matrix| product(matrix, table.clone()))
    }

    /// z_a of some nodes; of all where none are given.
    fn attributes(&self, nodes: Option<&[NodeId]>, share: f32, random: &mut impl Rng) -> Tensor<2> {
        match (&self.trained.module().attributes, &self.links) {
            (Attributes::Graph(network), Some(links)) => {
                let z = network.forward(&self.x, links, [share, 0.0], random);
                nodes.map_or_else(|| z.clone(), |nodes| pick(z.clone(), nodes))
            }
            (Attributes::Mlp(network), _) => {
                let x = nodes.map_or_else(|| self.x.clone(), |nodes| self.features.of(nodes));
                network.forward(&x.dropout(share, random), 0.0, random)
            }
            _ => unreachable!("links are made for graph layers"),
        }
    }
}

impl<'a> Learner<'a> for DealLearner<'a> {
    fn step(&mut self) -> f64 {
        let batch = self.sampler.draw(self.step, &mut self.places);
        let random = &mut stream(self.seed, Purpose::Dropout, self.step, 0);
        let structure = pick(self.structure(), &batch.nodes);
        let attributes = self.attributes(Some(&batch.nodes), self.attribute_dropout, random);
        let losses = deal_losses(structure, attributes, &batch, &self.config);
        let [of_structure, of_attributes, of_alignment] = losses;
        let [first, second, third] = self.config.theta;
        self.step += 1;
        self.trained.update(of_structure * first + of_attributes * second + of_alignment * third)
    }

    fn scorer(&self) -> Box<dyn Scorer + 'a> {
        let random = &mut stream(0, Purpose::Dropout, 0, 0);
        let nodes = self.view.graph().nodes() as NodeId;
        let embeddings = Embeddings {
            attributes: rows(unit_rows(self.attributes(None, 0.0, random))),
            structure: rows(unit_rows(self.structure())),
            warm: (0..nodes).map(|node| self.view.is_warm(node)).collect(),
        };
        Box::new(OwnEmbeddings { embeddings, lambda: self.config.lambda.map(|weight| weight as f32) })
    }

    fn parameters(&self) -> usize {
        self.trained.parameters()
    }
}

/// L_B(Z_s), L_B(Z_a) and L_align of a batch under cosine (Eqs. 4 to 8), from both embeddings of its nodes.
pub fn deal_losses(structure: Tensor<2>, attributes: Tensor<2>, batch: &Batch, config: &Config) -> [Tensor<1>; 3] {
    let (structure, attributes) = (unit_rows(structure), unit_rows(attributes));
    let weighed = |scores: Tensor<1>| {
        let linked = scores.clone().narrow(0, 0, batch.linked);
        let unlinked = scores.narrow(0, batch.linked, batch.pairs.len() - batch.linked);
        let linked = softplus(linked * -config.gamma2 + config.b2) / config.gamma2;
        let unlinked = softplus(unlinked * config.gamma1 + config.b1) / config.gamma1;
        (linked.sum() + (unlinked.clone() * constant(batch.weights.clone(), &unlinked)).sum())
            / batch.pairs.len() as f64
    };
    let alignment = match config.alignment {
        Alignment::Loose => weighed(inner_products(&structure, &attributes, &batch.pairs)),
        Alignment::Tight => -(structure.clone() * attributes.clone()).sum() / batch.nodes.len() as f64,
    };
    [
        weighed(inner_products(&structure, &structure, &batch.pairs)),
        weighed(inner_products(&attributes, &attributes, &batch.pairs)),
        alignment,
    ]
}
