//! From a training view to batches of pairs, with the weights of unlinked ones.
//!
//! A batch is a function of the view, the settings, the seed and the number of its step, and of nothing else: any step can be
//! drawn alone, on any thread, before or after a restart.

mod alias;
mod batch;
mod distances;
mod sampler;

use alias::Alias;
pub use batch::{Batch, Incidence, Negatives};
pub use distances::Distances;
pub use sampler::{SampleError, Sampler};
