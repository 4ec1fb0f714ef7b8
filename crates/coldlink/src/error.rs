//! Every error of the library in one type, for those who do not care which stage failed.

use crate::config::ConfigError;
use crate::evaluate::MetricError;
use crate::kernel::CpuError;
use crate::load::LoadError;
use crate::split::SplitError;
use crate::storage::FileError;
use crate::train::TrainError;
use crate::tune::TuneError;

/// Any error of the library.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Reading or writing data.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// Splitting.
    #[error(transparent)]
    Split(#[from] SplitError),
    /// Settings.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Training.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// A search for settings.
    #[error(transparent)]
    Tune(#[from] TuneError),
    /// A model's file.
    #[error(transparent)]
    File(#[from] FileError),
    /// Evaluation.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// The instruction set.
    #[error(transparent)]
    Cpu(#[from] CpuError),
}

impl Error {
    /// What to do about it, where there is something.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Load(error) => error.hint(),
            Error::Split(error) => error.hint(),
            Error::Config(error) => error.hint(),
            Error::Train(error) => error.hint(),
            Error::Tune(error) => error.hint(),
            Error::File(error) => error.hint(),
            Error::Metric(_) | Error::Cpu(_) => None,
        }
    }
}
