//! The whole way: from a dataset to a model that is to be used ([`Training`]), and from a dataset to a report of how good such
//! a model is on nodes that it does not know ([`Evaluation`]).

mod evaluation;
mod settings;
mod training;
mod tuning;

pub use evaluation::{Evaluated, Evaluation};
pub use settings::{AUTO, Settings};
pub use training::Training;
pub use tuning::Tuning;
