//! Fits and measures every method by one rule: the same splits, the same negatives, the same selection, the same number of
//! trials.

mod compare;
mod data;
mod definition;
mod error;
mod fit;
mod folder;
mod parallel;
mod reports;
mod rows;
mod run;
mod settings;
mod similarity;
mod summary;
mod tune;

pub use definition::{Block, Experiment, Row, Similarity};
pub use error::BenchError;
pub use fit::Look;
pub use folder::Folder;
pub use parallel::Workers;
pub use reports::write_reports;
pub use rows::CellRow;
pub use run::{Cell, Event, Run, Wanted};
pub use tune::{Trial, TrialRow, TuneEvent, tune};

use data::{Found, find_set, set_facts};
use folder::{Comparison, Configuration, CurvePoint};
