//! What can go wrong with an experiment.

use std::path::{Path, PathBuf};

use coldlink::evaluate::MetricError;
use coldlink::load::LoadError;
use coldlink::split::SplitError;

use crate::method::MethodError;

/// Why an experiment cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A method, or its settings.
    #[error(transparent)]
    Method(#[from] MethodError),
    /// The data.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A split.
    #[error(transparent)]
    Split(#[from] SplitError),
    /// A metric.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// No such data set.
    #[error("there is no data set `{name}`")]
    UnknownSet {
        /// As it was given.
        name: String,
        /// The known ones.
        known: String,
    },
    /// A data set that is known, but not here.
    #[error("the data set `{name}` is not in `{}`", folder.display())]
    MissingSet {
        /// Which.
        name: String,
        /// Where it was looked for.
        folder: PathBuf,
    },
    /// No folder of data sets.
    #[error("there is no folder `{}`", folder.display())]
    NoData {
        /// Where data sets were looked for.
        folder: PathBuf,
    },
    /// Another process works in the folder.
    #[error("another run works in `{}`", folder.display())]
    Busy {
        /// Which folder.
        folder: PathBuf,
    },
    /// Training went astray.
    #[error("`{method}` on `{set}`, seed {seed}: a score is not a number after {step} steps")]
    Diverged {
        /// Which method.
        method: String,
        /// On which set.
        set: String,
        /// Of which seed.
        seed: u64,
        /// When it was seen.
        step: u64,
    },
    /// A file of an experiment that cannot be understood.
    #[error("`{}`: {message}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
        /// What to do about it.
        hint: String,
    },
    /// No threads.
    #[error("cannot start threads: {0}")]
    Threads(String),
    /// Something is wrong with reading or writing.
    #[error("cannot {what} `{}`", path.display())]
    Io {
        /// Read, write.
        what: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl BenchError {
    pub(super) fn io(what: &'static str, path: &Path, source: std::io::Error) -> Self {
        BenchError::Io { what, path: path.to_owned(), source }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            BenchError::Method(error) => error.hint(),
            BenchError::Load(error) => error.hint().map(|hint| hint.to_string()),
            BenchError::Split(error) => error.hint().map(|hint| hint.to_string()),
            BenchError::UnknownSet { known, .. } => Some(format!("the data sets are {known}")),
            BenchError::MissingSet { name, .. } => {
                Some(format!("put `{name}.npz` there, or say where it is with `--data` or DEAL_DATA"))
            }
            BenchError::NoData { .. } => Some("say where the data sets are with `--data` or DEAL_DATA".to_owned()),
            BenchError::Busy { .. } => Some("wait for it, or choose another folder with `--out`".to_owned()),
            BenchError::Diverged { .. } => Some("try a smaller learning rate".to_owned()),
            BenchError::File { hint, .. } => Some(hint.clone()),
            BenchError::Io { what: "read", .. } => Some("check the path; experiments are in `experiments/`".to_owned()),
            BenchError::Metric(_) | BenchError::Threads(_) | BenchError::Io { .. } => None,
        }
    }
}
