//! How good a scorer is: metrics, filtered ranking, trivial baselines beside them, and a [`Report`].
//!
//! A [`Scorer`](crate::score::Scorer) is anything that gives two nodes a number. [`SeedResult::measure`] measures one on a [`Test`], together
//! with the [`baselines`] on the same pairs; [`Report::from_seeds`] puts several such results together, and
//! [`bootstrap`] says whether two methods differ.

pub mod baselines;
pub mod bootstrap;
mod calibration;
mod error;
mod few;
mod held_out;
mod hits;
mod method_scores;
mod metrics;
mod neighbours;
mod pools;
mod ranking;
mod referee;
mod report;
mod roles;
mod sample;
mod validated;

pub use calibration::{Calibration, CalibrationBin};
pub use error::MetricError;
pub use few::FewLinks;
pub(crate) use held_out::{AllAsked, HeldOutAnswers, HeldOutPart, Kept};
pub use held_out::{HeldOutError, HeldOutReport, LeftOut, ListCalibration, MethodResult, Rates, TrivialTable};
pub use hits::{AtEach, HITS, Hits};
pub use method_scores::{MethodScores, PairScores, RankedLists};
pub use metrics::{Measures, auc, average_precision, prevalence};
pub use neighbours::Neighbours;
pub use pools::{Pool, PoolShare, Pools};
pub use ranking::{Ranks, candidates};
pub(crate) use referee::Refereeing;
pub use referee::{Compared, Differences, RefereeError, RefereeReport, RefereeResult};
pub(crate) use report::verdict;
pub use report::{
    About, BaselineResult, BaselineSummary, BaselineTable, ChosenSettings, Deviation, Measured, Metrics, Record,
    Report, Run, SeedResult, Summary, Test,
};
pub use roles::{Lists, RoleResult};
pub(crate) use sample::some_queries;
pub use sample::{Questions, Sample};
pub use validated::{ListQuality, Validated};
