//! What is trained, behind one small trait.

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
