//! Why no settings were chosen.

use std::path::PathBuf;

use crate::config::ConfigError;
use crate::hint::Hint;
use crate::train::TrainError;

/// Why a search ended without a choice.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TuneError {
    /// A trial could not be trained.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// A setting of the space.
    #[error("cannot use the search space")]
    Config(#[from] ConfigError),
    /// The space itself.
    #[error("cannot use the search space: {0}")]
    Space(String),
    /// There is nothing to try.
    #[error("there are no settings to try")]
    Nothing,
    /// Another search keeps its trials there.
    #[error("another search uses the folder `{folder}`", folder = folder.display())]
    InUse {
        /// The folder.
        folder: PathBuf,
    },
    /// A trial could not be kept.
    #[error("cannot write `{path}`", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl TuneError {
    /// What to do about it.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            TuneError::Train(error) => error.hint(),
            TuneError::Config(error) => error.hint(),
            TuneError::Space(_) | TuneError::Nothing => {
                Some(Hint::new("give each setting a line, such as `temperature = [0.1, 0.2]`"))
            }
            TuneError::InUse { .. } => Some(Hint::new("wait until it ends | use another folder")),
            TuneError::Write { .. } => None,
        }
    }
}
