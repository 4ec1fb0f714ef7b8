//! How good a scorer is: metrics, filtered ranking, trivial baselines beside them, and a [`Report`].
//!
//! A [`Scorer`] is anything that gives two nodes a number. [`SeedResult::measure`] measures one on a [`Test`], together
//! with the [`baselines`] on the same pairs; [`Report::from_seeds`] puts several such results together, and
//! [`bootstrap`] says whether two methods differ.

pub mod baselines;
pub mod bootstrap;
mod calibration;
mod error;
mod hard;
mod metrics;
mod ranking;
mod report;
mod scorer;
mod seed;

pub use calibration::{Calibration, CalibrationBin};
pub use error::MetricError;
pub use hard::HardNegatives;
pub use metrics::{Measures, auc, average_precision, prevalence};
pub use ranking::{Ranks, candidates};
pub use report::{
    About, BaselineResult, BaselineSummary, BaselineTable, ChosenSettings, Deviation, HITS, Hits, Measured, Metrics,
    Record, Report, Run, SeedResult, Summary, Test,
};
pub use scorer::Scorer;
pub use seed::{Evaluation, evaluate_seed, evaluate_split};

pub use crate::split::RankingQuery;
