//! From a split to a trained model: the loop, the choice of the number of steps, checkpoints, and events.

mod checkpoint;
mod error;
mod event;
mod fit;
mod judge;
mod learner;
mod selection;
mod trainer;

pub use checkpoint::Checkpoints;
pub(crate) use checkpoint::{fingerprint, other_cpu};
pub use error::TrainError;
pub use event::{Control, Event, Observer, Phase, Silent};
pub(crate) use fit::QUESTIONS;
pub use fit::{Fit, Fitted, Trial};
pub use judge::Judge;
pub use learner::{EncoderLearner, Learner};
pub use selection::{Diverged, Moment, Rule, Selection};
pub use trainer::Trainer;
