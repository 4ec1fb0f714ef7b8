//! The paper's MLP: attributes through an MLP, trained on links by the logistic loss of inner products.

use coldlink::Config;
use coldlink::config::{BatchSize, Preset, Scaling};
use coldlink::random::{Purpose, stream};
use coldlink::sample::Sampler;
use coldlink::score::Scorer;
use coldlink::split::TrainView;
use serde::{Deserialize, Serialize};

use super::loss::{inner_products, logistic_loss};
use super::optimiser::Trained;
use super::scorer::OwnEmbeddings;
use super::settings::{Checked, in_toml, is_share, wrong};
use super::{Learner, Method, MethodError, Training};
use crate::layer::{Features, Initial, Mlp};
use crate::tensor::rows;

/// An MLP with its settings.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MlpMethod {
    /// Numbers in an embedding.
    pub width: usize,
    /// Widths of the hidden layers.
    pub hidden: Vec<usize>,
    /// How rows of attributes are scaled.
    pub scaling: Scaling,
    /// Share of attributes set to zero in training.
    pub attribute_dropout: f32,
    /// Share of hidden units set to zero in training.
    pub hidden_dropout: f32,
    /// Pairs in a batch.
    pub batch: usize,
    /// Share of linked pairs in a batch.
    pub linked_share: f64,
    /// How long it is trained.
    pub training: Training,
}

impl Default for MlpMethod {
    fn default() -> Self {
        MlpMethod {
            width: 64,
            hidden: vec![64],
            scaling: Scaling::Unit,
            attribute_dropout: 0.0,
            hidden_dropout: 0.0,
            batch: 1024,
            linked_share: 0.4,
            training: Training { steps: 2000, validate_every: 25, patience: 12, learning_rate: 0.01 },
        }
    }
}

impl Checked for MlpMethod {
    fn wrong(&self) -> Option<&'static str> {
        let shares = [self.attribute_dropout, self.hidden_dropout];
        let inside = self.linked_share > 0.0 && self.linked_share < 1.0;
        wrong([
            (self.width == 0 || self.hidden.contains(&0), "`width` and all of `hidden` must be at least 1"),
            (!shares.into_iter().all(is_share), "dropouts must be at least 0 and below 1"),
            (self.batch < 2 || !inside, "`batch` must be at least 2, and `linked_share` between 0 and 1"),
        ])
    }
}

impl Method for MlpMethod {
    fn training(&self) -> Training {
        self.training
    }

    fn settings(&self) -> String {
        in_toml(self)
    }

    fn start<'a>(&self, view: TrainView<'a>, seed: u64) -> Result<Box<dyn Learner<'a> + 'a>, MethodError> {
        let features = Features::new(view.attributes(), self.scaling);
        let widths = [&[features.width()], &self.hidden[..], &[self.width]].concat();
        let network = Mlp::new(&widths, false, &mut Initial::new(seed));
        let sampler = Sampler::new(view, &pairs_only(BatchSize::Pairs(self.batch), self.linked_share), seed)?;
        let places = vec![0; view.graph().nodes()];
        let trained = Trained::new(network, self.training.learning_rate);
        Ok(Box::new(MlpLearner { settings: self.clone(), features, sampler, places, trained, seed, step: 0 }))
    }
}

/// Settings for a sampler of linked and unlinked pairs, all of the same weight.
pub(super) fn pairs_only(batch: BatchSize, linked_share: f64) -> Config {
    Config { batch, linked_share, beta: 0.0, ..Preset::Paper.config() }
}

/// Refuses a view that has no link, or no pair without one.
pub(super) fn check_pairs(view: TrainView<'_>) -> Result<(), MethodError> {
    Sampler::new(view, &pairs_only(BatchSize::Pairs(2), 0.5), 0)?;
    Ok(())
}

struct MlpLearner<'a> {
    settings: MlpMethod,
    features: Features,
    sampler: Sampler<'a>,
    places: Vec<u32>,
    trained: Trained<Mlp>,
    seed: u64,
    step: u64,
}

impl<'a> Learner<'a> for MlpLearner<'a> {
    fn step(&mut self) -> f64 {
        let batch = self.sampler.draw(self.step, &mut self.places);
        let random = &mut stream(self.seed, Purpose::Dropout, self.step, 0);
        let x = self.features.of(&batch.nodes).dropout(self.settings.attribute_dropout, random);
        let z = self.trained.module().forward(&x, self.settings.hidden_dropout, random);
        self.step += 1;
        self.trained.update(logistic_loss(inner_products(&z, &z, &batch.pairs), batch.linked))
    }

    fn scorer(&self) -> Box<dyn Scorer + 'a> {
        let z = self.trained.module().forward(&self.features.all(), 0.0, &mut stream(0, Purpose::Dropout, 0, 0));
        Box::new(OwnEmbeddings::inner_product(rows(z)))
    }

    fn parameters(&self) -> usize {
        self.trained.parameters()
    }
}
