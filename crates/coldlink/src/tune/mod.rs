//! Settings chosen on validation pairs: a list of candidates, tried for a part of their steps, of which the best are tried for
//! all of them.
//!
//! `auto` is the short form that `train` and `evaluate` use; a [`Space`] with many more candidates is searched by
//! `coldlink tune`. Both run inside one split and never look at its test pairs. What they choose depends on the data, the seed and
//! the budget, and not on the speed of the machine: a budget is counted in estimated work, and so is the [`Plan`] that is told first.

mod auto;
mod cost;
mod error;
mod journal;
mod plan;
mod search;
mod space;

pub use auto::{Auto, auto};
pub use error::TuneError;
pub use journal::Journal;
use plan::Costs;
pub use plan::Plan;
pub use search::{Candidate, Chosen, Forward, Planned, Search, SeedStarted, Stage, Tried, Watcher};
pub use space::Space;
