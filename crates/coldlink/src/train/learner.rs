//! What is trained, behind two small traits.

use std::borrow::Cow;

use crate::graph::NodeId;
use crate::network::{Deal, FrozenEncoders};
use crate::score::Embeddings;
use crate::split::Pair;

/// Something that is trained step by step and can be judged at any step: DEAL on this machine's cores, any method of a
/// comparison, or the same on another device.
pub trait Learner {
    /// What is kept of a step that may turn out to be the best.
    type Snapshot;

    /// Steps done.
    fn step(&self) -> u64;

    /// Trains until `steps` steps are done, or until the loss is no longer a number.
    fn advance(&mut self, steps: u64);

    /// The loss of the last batch.
    fn loss(&self) -> f64;

    /// The scores of pairs as it stands.
    fn scores(&self, pairs: &[Pair]) -> Vec<f32>;

    /// What it has learned so far.
    fn snapshot(&self) -> Self::Snapshot;
}

/// A learner of DEAL's encoders. A run, with its checkpoints, knows it by this alone, whatever device it works on.
pub trait EncoderLearner: Learner<Snapshot = FrozenEncoders> {
    /// Both embeddings of some nodes as it stands.
    fn embed(&self, nodes: &[NodeId]) -> Embeddings;

    /// All that its next step depends on, apart from data, settings and seed.
    fn state(&self) -> Cow<'_, Deal<f32>>;

    /// Takes up the state that another had after `step` steps.
    fn restore(&mut self, state: Deal<f32>, step: u64);

    /// The encoders, when training is over.
    fn into_encoders(self) -> FrozenEncoders;
}
