//! The scorers that need no training, as rows of their own.

use coldlink::evaluate::baselines::{Cosine, Degree, Random, TfIdf};
use coldlink::score::Scorer;
use coldlink::split::TrainView;

use super::{Learner, Method, MethodError, Training};

/// A scorer that needs no training.
#[derive(Clone, Copy, Debug)]
pub enum Trivial {
    /// By chance.
    Random,
    /// By the number of links.
    Degree,
    /// By the cosine of attributes.
    Cosine,
    /// By the cosine of tf-idf weighted attributes.
    TfIdf,
}

impl Method for Trivial {
    fn training(&self) -> Training {
        Training { steps: 0, validate_every: 1, patience: 1, learning_rate: 0.0 }
    }

    fn settings(&self) -> String {
        String::new()
    }

    fn start<'a>(&self, view: TrainView<'a>, seed: u64) -> Result<Box<dyn Learner<'a> + 'a>, MethodError> {
        Ok(Box::new(Untrained { kind: *self, view, seed }))
    }
}

struct Untrained<'a> {
    kind: Trivial,
    view: TrainView<'a>,
    seed: u64,
}

impl<'a> Learner<'a> for Untrained<'a> {
    fn step(&mut self) -> f64 {
        0.0
    }

    fn scorer(&self) -> Box<dyn Scorer + 'a> {
        match self.kind {
            Trivial::Random => Box::new(Random::new(self.seed)),
            Trivial::Degree => Box::new(Degree::new(&self.view)),
            Trivial::Cosine => Box::new(Cosine::new(&self.view)),
            Trivial::TfIdf => Box::new(TfIdf::new(&self.view)),
        }
    }

    fn parameters(&self) -> usize {
        0
    }
}
