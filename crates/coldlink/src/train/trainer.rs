//! The loop: each step's batch is drawn while the step before it is computed.

use std::borrow::Cow;

use super::{EncoderLearner, Learner};
use crate::config::{AdamRows, Config, Offset};
use crate::graph::NodeId;
use crate::network::{Columns, Deal, Dropout, Features, FrozenEncoders, Inputs, Workspace, adam_step};
use crate::sample::{Batch, SampleError, Sampler};
use crate::score::Embeddings;
use crate::split::{Pair, TrainView};

/// Trains one model on one view. Its state after n steps depends on the view, the configuration, the seed and n alone.
pub struct Trainer<'a> {
    config: Config,
    seed: u64,
    view: TrainView<'a>,
    features: Features,
    sampler: Sampler<'a>,
    model: Deal<f32>,
    step: u64,
    space: Workspace<f32>,
    current: Prepared,
    next: Prepared,
    places: Vec<u32>,
}

/// A batch with its nodes' attributes, of the step it was drawn for.
struct Prepared {
    step: Option<u64>,
    batch: Batch,
    inputs: Inputs<f32>,
}

impl<'a> Trainer<'a> {
    /// A trainer with first weights.
    pub fn new(view: TrainView<'a>, features: &Features, config: &Config, seed: u64) -> Result<Self, SampleError> {
        let view = view.by(config);
        let sampler = Sampler::new(view, config, seed)?;
        let model = Deal::new(view.graph().nodes(), features.width(), config, seed);
        let prepared = || Prepared { step: None, batch: Batch::default(), inputs: Inputs::new(features) };
        let places = vec![0; view.graph().nodes()];
        let space = model.workspace();
        let (current, next) = (prepared(), prepared());
        let (config, features) = (config.clone(), features.clone());
        Ok(Trainer { config, seed, view, features, sampler, model, step: 0, space, current, next, places })
    }

    /// The model as it stands.
    pub fn model(&self) -> &Deal<f32> {
        &self.model
    }

    /// Pairs in a batch.
    pub fn pairs(&self) -> usize {
        self.sampler.pairs()
    }
}

impl Learner for Trainer<'_> {
    type Snapshot = FrozenEncoders;

    fn step(&self) -> u64 {
        self.step
    }

    fn advance(&mut self, steps: u64) {
        while self.step < steps {
            let (config, seed, features, sampler) = (&self.config, self.seed, &self.features, &self.sampler);
            if self.current.step != Some(self.step) {
                self.current.prepare(config, seed, features, sampler, self.step, &mut self.places);
            }
            let (step, current, next, places) = (self.step, &self.current, &mut self.next, &mut self.places);
            let (model, space) = (&mut self.model, &mut self.space);
            rayon::join(
                || {
                    let adam = adam_step(config, step);
                    let dropout = Some(Dropout::of(config, seed, step));
                    model.step(&current.batch, &current.inputs, dropout, &adam, space);
                },
                || next.prepare(config, seed, features, sampler, step + 1, places),
            );
            std::mem::swap(&mut self.current, &mut self.next);
            self.step += 1;
        }
    }

    /// Before its step.
    fn loss(&self) -> f64 {
        self.model.losses_of(&self.next.batch, &self.space).total
    }

    /// By Eq. 10, with what training added for popularity, embedding the nodes of the pairs and no others.
    fn scores(&self, pairs: &[Pair]) -> Vec<f32> {
        let mut nodes: Vec<NodeId> = pairs.iter().flat_map(|pair| [pair.source, pair.target]).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let place = |node: NodeId| nodes.partition_point(|&other| other < node) as u32;
        let places: Vec<_> = pairs.iter().map(|pair| (place(pair.source), place(pair.target))).collect();
        let mut scores = vec![0.0; pairs.len()];
        self.embed(&nodes).score(self.config.lambda.map(|weight| weight as f32), &places, &mut scores);
        if self.config.offset == Offset::Degree {
            let popularity = |node: NodeId| self.view.graph().popularity(node);
            for (score, pair) in scores.iter_mut().zip(pairs) {
                *score += self.config.temperature as f32 * (popularity(pair.source) + popularity(pair.target));
            }
        }
        scores
    }

    fn snapshot(&self) -> FrozenEncoders {
        self.model.encoders.frozen()
    }
}

impl EncoderLearner for Trainer<'_> {
    fn embed(&self, nodes: &[NodeId]) -> Embeddings {
        Embeddings::of(&self.model.encoders, &self.features, nodes, |node| self.view.is_warm(node))
    }

    fn state(&self) -> Cow<'_, Deal<f32>> {
        Cow::Borrowed(&self.model)
    }

    fn restore(&mut self, state: Deal<f32>, step: u64) {
        self.model = state;
        self.step = step;
    }

    fn into_encoders(self) -> FrozenEncoders {
        self.model.encoders.into_frozen()
    }
}

impl Prepared {
    fn prepare(
        &mut self,
        config: &Config,
        seed: u64,
        features: &Features,
        sampler: &Sampler<'_>,
        step: u64,
        places: &mut [u32],
    ) {
        self.batch = sampler.draw(step, places);
        let columns = if config.adam == AdamRows::Dense { Columns::All } else { Columns::Touched };
        self.inputs.gather(features, &self.batch.nodes, Some(Dropout::of(config, seed, step)), columns);
        self.step = Some(step);
    }
}
