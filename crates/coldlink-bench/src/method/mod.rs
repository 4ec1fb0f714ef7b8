//! Every method of the tables, behind one trait: fit on a [`TrainView`], score pairs.
//!
//! A [`Method`] is a method with its settings. It starts a [`Learner`], which goes step by step and can be asked for a
//! scorer at any step; who trains, validates and stops is the same code for all (`experiment`).

mod autoencoder;
mod citeomatic;
mod core;
mod deal;
mod gauss;
mod loss;
mod mlp;
mod optimiser;
mod pgnn;
mod registry;
mod scorer;
mod seal;
mod settings;
mod trivial;

pub use autoencoder::{Autoencoder, Encoder};
pub use citeomatic::{Bag, Citeomatic};
pub use core::{Core, trained_embeddings};
pub use deal::{AttributeSide, DealVariant, StructureSide, deal_losses};
pub use gauss::{Gauss, Gaussian, energies};
pub use mlp::MlpMethod;
pub use pgnn::Pgnn;
pub use registry::{METHODS, Registered, Task, find};
pub use seal::{Seal, double_radius_labels};
pub(crate) use settings::flat;
pub use settings::{MethodError, Training};
pub use trivial::Trivial;

use coldlink::score::Scorer;
use coldlink::split::TrainView;

/// A method with its settings.
pub trait Method: Send + Sync {
    /// How long it is trained, and how often it is looked at.
    fn training(&self) -> Training;

    /// All of its settings, in TOML.
    fn settings(&self) -> String;

    /// First weights, and whatever else is made before the first step.
    fn start<'a>(&self, view: TrainView<'a>, seed: u64) -> Result<Box<dyn Learner<'a> + 'a>, MethodError>;
}

/// A method at work. [`coldlink::train::Selection`] judges it by its scorer.
pub trait Learner<'a> {
    /// One step of training; its loss.
    fn step(&mut self) -> f64;

    /// Scores as it stands.
    fn scorer(&self) -> Box<dyn Scorer + 'a>;

    /// Numbers that are learned.
    fn parameters(&self) -> usize;

    /// Whether a scorer is fast enough to rank all candidates.
    fn can_rank(&self) -> bool {
        true
    }
}
