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

pub use compare::compare;
pub use data::{Found, SETS, SetFacts, find_set, set_facts};
pub use definition::{Block, EmptyCell, Experiment, Row, Similarity};
pub use error::BenchError;
pub use fit::{FitError, Fitted, Look, Searched, fit, measure, search};
pub use folder::{Comparison, Configuration, CurvePoint, Folder};
pub use parallel::Workers;
pub use reports::write_reports;
pub use rows::{CellRow, Log, read_log};
pub use run::{Cell, Event, Run, SPLITS_OF_LONG_CELLS, Wanted};
pub use settings::configuration_hash;
pub use similarity::{SimilarityRow, similarities};
pub use summary::{curves, similarity_charts, table};
pub use tune::{TrialRow, TuneEvent, grid, tune};
