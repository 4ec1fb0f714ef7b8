//! DEAL as the library trains it, with the paper's settings or those of its authors' code.

use coldlink::Config;
use coldlink::graph::NodeId;
use coldlink::network::Features;
use coldlink::score::{Embeddings, Scorer};
use coldlink::split::TrainView;
use coldlink::train::{EncoderLearner as _, Learner as _, Trainer};

use super::scorer::OwnEmbeddings;
use super::{Learner, Method, MethodError, Training};

/// DEAL of the library.
#[derive(Clone, Debug)]
pub struct Core(pub Config);

impl Method for Core {
    fn training(&self) -> Training {
        let Config { steps, validate_every, patience, learning_rate, .. } = self.0;
        Training { steps, validate_every, patience, learning_rate }
    }

    fn settings(&self) -> String {
        self.0.to_toml()
    }

    fn start<'a>(&self, view: TrainView<'a>, seed: u64) -> Result<Box<dyn Learner<'a> + 'a>, MethodError> {
        Ok(Box::new(CoreLearner::new(&self.0, view, seed)?))
    }
}

/// Both embeddings of all nodes after so many steps.
pub fn trained_embeddings(
    method: &Core,
    view: TrainView<'_>,
    seed: u64,
    steps: u64,
) -> Result<Embeddings, MethodError> {
    let mut learner = CoreLearner::new(&method.0, view, seed)?;
    learner.trainer.advance(steps);
    Ok(learner.embeddings())
}

struct CoreLearner<'a> {
    trainer: Trainer<'a>,
    view: TrainView<'a>,
    lambda: [f32; 3],
}

impl<'a> CoreLearner<'a> {
    fn new(config: &Config, view: TrainView<'a>, seed: u64) -> Result<Self, MethodError> {
        let features = Features::new(view.attributes(), config.scaling);
        let trainer = Trainer::new(view, &features, config, seed)?;
        Ok(CoreLearner { trainer, view, lambda: config.lambda.map(|weight| weight as f32) })
    }

    fn embeddings(&self) -> Embeddings {
        let nodes: Vec<NodeId> = (0..self.view.graph().nodes() as NodeId).collect();
        self.trainer.embed(&nodes)
    }
}

impl<'a> Learner<'a> for CoreLearner<'a> {
    fn step(&mut self) -> f64 {
        self.trainer.advance(self.trainer.step() + 1);
        self.trainer.loss()
    }

    fn scorer(&self) -> Box<dyn Scorer + 'a> {
        Box::new(OwnEmbeddings { embeddings: self.embeddings(), lambda: self.lambda })
    }

    fn parameters(&self) -> usize {
        let all = self.trainer.model().encoders.parameters().into_iter().map(|(_, parameter)| &parameter.weights);
        all.map(|weights| weights.rows() * weights.columns()).sum()
    }
}
