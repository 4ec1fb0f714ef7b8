//! Finished trials on disk, so that a search goes on where it was stopped.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::TuneError;
use crate::storage::write_atomically;
use crate::train::{Fit, Trial, fingerprint};

/// A folder with a file per trial, each written whole or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Journal {
    folder: PathBuf,
}

/// A file's contents.
#[derive(Serialize, Deserialize)]
struct Entry {
    /// What the trial depends on; a file that says otherwise is not its.
    key: String,
    seconds: f64,
    trial: Trial,
}

impl Journal {
    /// In a folder, which is made if need be.
    pub fn open(folder: &Path) -> Result<Self, TuneError> {
        let failed = |source| TuneError::Write { path: folder.to_owned(), source };
        std::fs::create_dir_all(folder).map_err(failed)?;
        Ok(Journal { folder: folder.to_owned() })
    }

    /// Removes the trials, and the folder where nothing else is in it.
    pub fn remove(&self) -> Result<(), TuneError> {
        let failed = |source| TuneError::Write { path: self.folder.clone(), source };
        for entry in std::fs::read_dir(&self.folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.trim_start_matches('.').starts_with("trial-") {
                std::fs::remove_file(&path).map_err(failed)?;
            }
        }
        // Others may have put something here; theirs it stays.
        std::fs::remove_dir(&self.folder).or(Ok(()))
    }

    /// The result of a trial, with the seconds it took, if it was finished before. A file that cannot be read counts for nothing.
    pub(super) fn find(&self, fit: &Fit<'_>) -> Option<(Trial, f64)> {
        let key = key(fit);
        let entry: Entry = toml::from_str(&std::fs::read_to_string(self.path(&key)).ok()?).ok()?;
        (entry.key == key).then_some((entry.trial, entry.seconds))
    }

    pub(super) fn keep(&self, fit: &Fit<'_>, trial: &Trial, seconds: f64) -> Result<(), TuneError> {
        let key = key(fit);
        let path = self.path(&key);
        let failed = |source| TuneError::Write { path: path.clone(), source };
        let entry = Entry { key, seconds, trial: trial.clone() };
        let text = toml::to_string(&entry).map_err(|error| failed(std::io::Error::other(error)))?;
        write_atomically(&path, |out| out.write_all(text.as_bytes())).map_err(failed)
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(format!("trial-{:016x}.toml", xxh3_64(key.as_bytes())))
    }
}

fn key(fit: &Fit<'_>) -> String {
    // Another version may train otherwise.
    let version = env!("CARGO_PKG_VERSION");
    format!("version {version}\ndata {}\nseed {}\n{}", fingerprint(fit), fit.seed, fit.config.to_toml())
}
