//! Graph autoencoders (Kipf & Welling, 2016): two graph layers and an inner product.

use std::sync::Arc;

use burn::module::Module;
use burn::tensor::{Tensor, activation};
use coldlink::config::{BatchSize, Scaling};
use coldlink::graph::Graph;
use coldlink::random::{Purpose, stream};
use coldlink::sample::Sampler;
use coldlink::score::Scorer;
use coldlink::split::TrainView;
use rand::Rng;
use serde::{Deserialize, Serialize};

use super::loss::{inner_products, logistic_loss, pairs_of};
use super::mlp::pairs_only;
use super::optimiser::Trained;
use super::scorer::OwnEmbeddings;
use super::settings::{Checked, in_toml, is_share, wrong};
use super::{Learner, Method, MethodError, Training};
use crate::layer::{Attention, Features, Gat, Gcn, Gin, Initial, Input, Sage, dropout, elu, means, normalised, sums};
use crate::tensor::{Sparse, rows};

/// Which graph layers are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoder {
    /// Graph convolution.
    Gcn,
    /// Graph attention.
    Gat,
    /// Graph isomorphism.
    Gin,
    /// Mean of neighbours.
    Sage,
}

/// A graph autoencoder with its settings.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Autoencoder {
    /// Which graph layers are used.
    pub encoder: Encoder,
    /// Numbers in an embedding.
    pub width: usize,
    /// Width of the hidden layer.
    pub hidden: usize,
    /// Heads of attention in the hidden layer, which share its width.
    pub heads: usize,
    /// How rows of attributes are scaled.
    pub scaling: Scaling,
    /// Share of attributes and of hidden units set to zero in training.
    pub dropout: f32,
    /// How long it is trained.
    pub training: Training,
}

impl Default for Autoencoder {
    fn default() -> Self {
        Autoencoder {
            encoder: Encoder::Gcn,
            width: 64,
            hidden: 64,
            heads: 4,
            scaling: Scaling::Unit,
            dropout: 0.0,
            training: Training { steps: 600, validate_every: 10, patience: 10, learning_rate: 0.01 },
        }
    }
}

impl Checked for Autoencoder {
    fn wrong(&self) -> Option<&'static str> {
        let divides = self.heads > 0 && self.hidden.is_multiple_of(self.heads);
        wrong([
            (self.width == 0 || self.hidden == 0, "`width` and `hidden` must be at least 1"),
            (!divides, "`heads` must be at least 1 and divide `hidden`"),
            (!is_share(self.dropout), "`dropout` must be at least 0 and below 1"),
        ])
    }
}

impl Method for Autoencoder {
    fn training(&self) -> Training {
        self.training
    }

    fn settings(&self) -> String {
        in_toml(self)
    }

    fn start<'a>(&self, view: TrainView<'a>, seed: u64) -> Result<Box<dyn Learner<'a> + 'a>, MethodError> {
        let features = Features::new(view.attributes(), self.scaling);
        let network = Network::new(self, features.width(), &mut Initial::new(seed));
        let pairs = BatchSize::Pairs(2 * view.graph().links());
        let sampler = Sampler::new(view, &pairs_only(pairs, 0.5), seed)?;
        Ok(Box::new(AutoencoderLearner {
            dropout: self.dropout,
            x: features.all(),
            links: Links::of(view.graph(), self.encoder),
            sampler,
            places: vec![0; view.graph().nodes()],
            trained: Trained::new(network, self.training.learning_rate),
            seed,
            step: 0,
        }))
    }
}

/// A graph as an encoder looks at it.
pub(super) enum Links {
    Matrix(Arc<Sparse>),
    Attention(Attention),
}

impl Links {
    pub fn of(graph: &Graph, encoder: Encoder) -> Self {
        match encoder {
            Encoder::Gcn => Links::Matrix(normalised(graph)),
            Encoder::Gin => Links::Matrix(sums(graph)),
            Encoder::Sage => Links::Matrix(means(graph)),
            Encoder::Gat => Links::Attention(Attention::of(graph)),
        }
    }
}

/// One graph layer of any kind.
#[derive(Module, Debug)]
enum Layer {
    Gcn(Gcn),
    Gat(Gat),
    Gin(Gin),
    Sage(Sage),
}

impl Layer {
    fn new(encoder: Encoder, inputs: usize, outputs: usize, heads: usize, initial: &mut Initial) -> Self {
        match encoder {
            Encoder::Gcn => Layer::Gcn(Gcn::new(inputs, outputs, initial)),
            Encoder::Gat => Layer::Gat(Gat::new(inputs, outputs / heads, heads, initial)),
            Encoder::Gin => Layer::Gin(Gin::new(inputs, outputs, initial)),
            Encoder::Sage => Layer::Sage(Sage::new(inputs, outputs, initial)),
        }
    }

    fn forward(&self, x: &Input, links: &Links) -> Tensor<2> {
        match (self, links) {
            (Layer::Gcn(layer), Links::Matrix(matrix)) => layer.forward(x, matrix),
            (Layer::Gin(layer), Links::Matrix(matrix)) => layer.forward(x, matrix),
            (Layer::Sage(layer), Links::Matrix(matrix)) => layer.forward(x, matrix),
            (Layer::Gat(layer), Links::Attention(attention)) => layer.forward(x, attention),
            _ => unreachable!("links are made for the encoder"),
        }
    }
}

/// Two graph layers with a rectifier between them (an exponential unit after attention, as its paper has it).
#[derive(Module, Debug)]
pub(super) struct Network {
    first: Layer,
    second: Layer,
}

impl Network {
    pub fn new(settings: &Autoencoder, inputs: usize, initial: &mut Initial) -> Self {
        let Autoencoder { encoder, width, hidden, heads, .. } = *settings;
        Network {
            first: Layer::new(encoder, inputs, hidden, heads, initial),
            second: Layer::new(encoder, hidden, width, 1, initial),
        }
    }

    /// A row for each node, with a share of the attributes and one of the hidden units set to zero.
    pub fn forward(&self, x: &Input, links: &Links, shares: [f32; 2], random: &mut impl Rng) -> Tensor<2> {
        let x = x.clone().dropout(shares[0], random);
        let hidden = self.first.forward(&x, links);
        let hidden = match links {
            Links::Attention(_) => elu(hidden),
            Links::Matrix(_) => activation::relu(hidden),
        };
        self.second.forward(&Input::Dense(dropout(hidden, shares[1], random)), links)
    }
}

struct AutoencoderLearner<'a> {
    dropout: f32,
    x: Input,
    links: Links,
    sampler: Sampler<'a>,
    places: Vec<u32>,
    trained: Trained<Network>,
    seed: u64,
    step: u64,
}

impl<'a> Learner<'a> for AutoencoderLearner<'a> {
    fn step(&mut self) -> f64 {
        let batch = self.sampler.draw(self.step, &mut self.places);
        let random = &mut stream(self.seed, Purpose::Dropout, self.step, 0);
        let z = self.trained.module().forward(&self.x, &self.links, [self.dropout; 2], random);
        self.step += 1;
        self.trained.update(logistic_loss(inner_products(&z, &z, &pairs_of(&batch)), batch.linked))
    }

    fn scorer(&self) -> Box<dyn Scorer + 'a> {
        let random = &mut stream(0, Purpose::Dropout, 0, 0);
        let z = self.trained.module().forward(&self.x, &self.links, [0.0; 2], random);
        Box::new(OwnEmbeddings::inner_product(rows(z)))
    }

    fn parameters(&self) -> usize {
        self.trained.parameters()
    }
}
