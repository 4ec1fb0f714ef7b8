//! Why training stopped before its end.

use std::io;
use std::path::PathBuf;

use super::Diverged;
use crate::config::ConfigError;
use crate::evaluate::MetricError;
use crate::hint::Hint;
use crate::sample::SampleError;
use crate::storage::FileError;

/// Why there is no trained model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrainError {
    /// A setting is out of range.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// There is nothing to draw batches from.
    #[error("cannot train")]
    Sample(#[from] SampleError),
    /// Numbers went out of range.
    #[error("training diverged: the loss is not a number after {step} steps")]
    Diverged {
        /// Steps done.
        step: u64,
    },
    /// The observer asked to stop.
    #[error("stopped after {step} steps")]
    Stopped {
        /// Steps done in the phase at hand.
        step: u64,
        /// Where training can go on from.
        checkpoint: Option<PathBuf>,
    },
    /// Validation was not possible.
    #[error("cannot validate")]
    Metric(#[from] MetricError),
    /// A checkpoint could not be written.
    #[error("cannot write the checkpoint `{path}`", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A checkpoint that is no longer needed could not be removed.
    #[error("cannot remove the checkpoint `{path}`", path = path.display())]
    Remove {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A checkpoint could not be read.
    #[error("cannot resume from the checkpoint")]
    Read(#[from] FileError),
    /// Another run keeps its checkpoints there.
    #[error("another training uses the folder `{folder}`", folder = folder.display())]
    InUse {
        /// The folder.
        folder: PathBuf,
    },
    /// There is one already, and nobody asked to go on from it.
    #[error("there is already a checkpoint in `{folder}`", folder = folder.display())]
    Occupied {
        /// The folder.
        folder: PathBuf,
    },
    /// A checkpoint of another run.
    #[error("the checkpoint `{path}` belongs to another run: its {what} differs", path = path.display())]
    OtherRun {
        /// The file.
        path: PathBuf,
        /// What differs.
        what: &'static str,
    },
}

impl From<Diverged> for TrainError {
    fn from(Diverged { step }: Diverged) -> Self {
        TrainError::Diverged { step }
    }
}

impl TrainError {
    /// What to do about it.
    pub fn hint(&self) -> Option<Hint> {
        Some(Hint::new(match self {
            TrainError::Config(error) => return error.hint(),
            TrainError::Sample(error) => return error.hint(),
            TrainError::Read(error) => return error.hint(),
            TrainError::Metric(_) | TrainError::Write { .. } | TrainError::Remove { .. } => return None,
            TrainError::Diverged { .. } => "lower the setting `learning_rate` | use {set similarity=cosine}",
            TrainError::Stopped { checkpoint: Some(_), .. } => "run the same command with {resume} to continue",
            TrainError::Stopped { checkpoint: None, .. } => return None,
            TrainError::InUse { .. } => "wait until it ends | use another folder",
            TrainError::Occupied { .. } => "continue from it with {resume} | use another folder to start from scratch",
            TrainError::OtherRun { .. } => "use the graph, settings and seed of that run | use another folder",
        }))
    }
}
