//! Every error of the library in one type, for callers that do not care which stage failed.

use std::error::Error as StdError;

use crate::columns::CellProblem;
use crate::config::ConfigError;
use crate::evaluate::{HeldOutError, MetricError, RefereeError};
use crate::hint::Hint;
use crate::kernel::CpuError;
use crate::load::LoadError;
use crate::model::{AddError, FilterError, IndexProblem, QueryError};
use crate::sample::SampleError;
use crate::split::SplitError;
use crate::storage::FileError;
use crate::train::TrainError;
use crate::tune::TuneError;

/// Any error of the library.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Reading or writing a graph or new nodes.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A cell of a table.
    #[error(transparent)]
    Cell(#[from] CellProblem),
    /// Settings.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Splitting a graph.
    #[error(transparent)]
    Split(#[from] SplitError),
    /// Drawing batches.
    #[error(transparent)]
    Sample(#[from] SampleError),
    /// Training.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// A search for settings.
    #[error(transparent)]
    Tune(#[from] TuneError),
    /// The file of a model, an index or a checkpoint.
    #[error(transparent)]
    File(#[from] FileError),
    /// The index beside a model.
    #[error(transparent)]
    Index(#[from] IndexProblem),
    /// Adding new nodes to a model.
    #[error(transparent)]
    Add(#[from] AddError),
    /// Filtering candidates.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// Asking a model.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// Evaluation.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// Evaluation on links of one's own.
    #[error(transparent)]
    HeldOut(#[from] HeldOutError),
    /// Evaluation of scores that were computed elsewhere.
    #[error(transparent)]
    Referee(#[from] RefereeError),
    /// The instruction set.
    #[error(transparent)]
    Cpu(#[from] CpuError),
}

impl Error {
    /// What to do about it, where there is something.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            Error::Load(error) => error.hint(),
            Error::Cell(error) => error.hint(),
            Error::Config(error) => error.hint(),
            Error::Split(error) => error.hint(),
            Error::Sample(error) => error.hint(),
            Error::Train(error) => error.hint(),
            Error::Tune(error) => error.hint(),
            Error::File(error) => error.hint(),
            Error::Index(error) => error.hint(),
            Error::Add(error) => error.hint(),
            Error::Filter(error) => error.hint(),
            Error::Query(error) => error.hint(),
            Error::Metric(error) => error.hint(),
            Error::HeldOut(error) => error.hint(),
            Error::Referee(error) => error.hint(),
            Error::Cpu(error) => error.hint(),
        }
    }
}

/// The hint of an error, if it is one of the library's: [`enum@Error`] or any of the types that it holds.
pub fn hint_of(error: &(dyn StdError + 'static)) -> Option<Hint> {
    None.or_else(|| error.downcast_ref::<Error>()?.hint())
        .or_else(|| error.downcast_ref::<LoadError>()?.hint())
        .or_else(|| error.downcast_ref::<CellProblem>()?.hint())
        .or_else(|| error.downcast_ref::<ConfigError>()?.hint())
        .or_else(|| error.downcast_ref::<SplitError>()?.hint())
        .or_else(|| error.downcast_ref::<SampleError>()?.hint())
        .or_else(|| error.downcast_ref::<TrainError>()?.hint())
        .or_else(|| error.downcast_ref::<TuneError>()?.hint())
        .or_else(|| error.downcast_ref::<FileError>()?.hint())
        .or_else(|| error.downcast_ref::<IndexProblem>()?.hint())
        .or_else(|| error.downcast_ref::<AddError>()?.hint())
        .or_else(|| error.downcast_ref::<FilterError>()?.hint())
        .or_else(|| error.downcast_ref::<QueryError>()?.hint())
        .or_else(|| error.downcast_ref::<MetricError>()?.hint())
        .or_else(|| error.downcast_ref::<HeldOutError>()?.hint())
        .or_else(|| error.downcast_ref::<RefereeError>()?.hint())
        .or_else(|| error.downcast_ref::<CpuError>()?.hint())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(error: impl StdError + Into<Error> + 'static, hint: &str) {
        let own = hint_of(&error).map(|hint| hint.to_string());
        assert_eq!(own.as_deref(), Some(hint));
        let message = error.to_string();
        let error: Error = error.into();
        assert_eq!((error.to_string(), error.hint().map(|hint| hint.to_string())), (message, own.clone()));
        assert_eq!(hint_of(&error).map(|hint| hint.to_string()), own);
    }

    #[test]
    fn every_error_of_the_library_is_an_error_with_the_same_words_and_hint() {
        check(AddError::NoName { row: 3 }, "give every new node a name");
        check(
            FilterError::UnknownType { name: "robot".into(), known: vec!["item".into(), "user".into()] },
            "node types are `item`, `user`",
        );
        check(IndexProblem::Stale("papers.model.index".into()), "build the index again with `coldlink index`");
        check(SampleError::NoLinks, "use a graph with more links, so that some remain for training");
        check(TrainError::InUse { folder: "kept".into() }, "wait until it ends, or use another folder");
        check(TuneError::InUse { folder: "trials".into() }, "wait until it ends, or use another folder");
        check(CpuError::Unknown("z80".into()), "use `portable`, `avx2` or `avx512`");
    }
}
