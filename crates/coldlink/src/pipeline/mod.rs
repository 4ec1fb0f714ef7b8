//! The whole way: from a dataset to a model that is to be used ([`Training`]), and from a dataset to a report of how good such
//! a model is on nodes that it does not know ([`Evaluation`]); or from a trained model to a report of how well it finds links that
//! it was not told of ([`HeldOut`]); or from scores that were computed elsewhere to a report on a split ([`Referee`]).

mod evaluation;
mod held_out;
mod referee;
mod settings;
mod training;
mod tuning;

pub use evaluation::{Evaluated, Evaluation};
pub use held_out::HeldOut;
pub use referee::{Referee, Refereed};
pub use settings::{AUTO, Settings};
pub use training::Training;
pub use tuning::Tuning;
