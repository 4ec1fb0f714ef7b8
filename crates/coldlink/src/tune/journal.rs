//! Finished trials on disk, so that a search goes on where it was stopped.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::TuneError;
use crate::kernel::Cpu;
use crate::storage::{FolderLock, write_atomically};
use crate::train::{Event, Fit, Trial, fingerprint, other_cpu};

/// How the names of its files begin.
const TRIAL: &str = "trial-";

/// A folder with a file per trial, each written whole or not at all. No other search can use it as long as this lives.
#[derive(Debug)]
pub struct Journal {
    lock: FolderLock,
}

/// A trial that was finished before.
pub(super) struct Finished {
    pub trial: Trial,
    pub seconds: f64,
    /// What to tell of it, where it was made under another instruction set.
    pub other_cpu: Option<Event>,
}

/// A file's contents.
#[derive(Serialize, Deserialize)]
struct Entry {
    /// What the trial depends on; a file that says otherwise is not its.
    key: String,
    seconds: f64,
    /// The instruction set; files from before it was kept do not say.
    cpu: Option<String>,
    trial: Trial,
}

impl Journal {
    /// In a folder, which is made if need be.
    pub fn open(folder: &Path) -> Result<Self, TuneError> {
        let failed = |source| TuneError::Write { path: folder.to_owned(), source };
        let lock = FolderLock::try_of(folder).map_err(failed)?;
        let lock = lock.ok_or_else(|| TuneError::InUse { folder: folder.to_owned() })?;
        lock.remove_partials(TRIAL).map_err(failed)?;
        Ok(Journal { lock })
    }

    /// Whether no trial is there.
    pub fn is_empty(&self) -> bool {
        self.files().is_ok_and(|files| files.is_empty())
    }

    /// Removes the trials, and the folder where nothing else is in it.
    pub fn remove(self) -> Result<(), TuneError> {
        let folder = self.lock.folder().to_owned();
        let removed = self.files().and_then(|files| files.iter().try_for_each(std::fs::remove_file));
        removed.map_err(|source| TuneError::Write { path: folder.clone(), source })?;
        drop(self.lock);
        // Others may have put something here; theirs it stays.
        std::fs::remove_dir(&folder).or(Ok(()))
    }

    /// The files of all trials.
    fn files(&self) -> io::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for entry in std::fs::read_dir(self.lock.folder())? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(TRIAL) {
                files.push(entry.path());
            }
        }
        Ok(files)
    }

    /// The result of a trial that was finished before. A file that cannot be read counts for nothing.
    pub(super) fn find(&self, fit: &Fit<'_>) -> Option<Finished> {
        let key = key(fit);
        let entry: Entry = toml::from_str(&std::fs::read_to_string(self.path(&key)).ok()?).ok()?;
        let Entry { seconds, cpu, trial, .. } = entry;
        (entry.key == key).then(|| Finished { trial, seconds, other_cpu: other_cpu(cpu.as_deref()) })
    }

    pub(super) fn keep(&self, fit: &Fit<'_>, trial: &Trial, seconds: f64) -> Result<(), TuneError> {
        let key = key(fit);
        let path = self.path(&key);
        let failed = |source| TuneError::Write { path: path.clone(), source };
        let entry = Entry { key, seconds, cpu: Some(Cpu::current().to_string()), trial: trial.clone() };
        let text = toml::to_string(&entry).map_err(|error| failed(io::Error::other(error)))?;
        write_atomically(&path, |out| out.write_all(text.as_bytes())).map_err(failed)
    }

    fn path(&self, key: &str) -> PathBuf {
        self.lock.folder().join(format!("{TRIAL}{:016x}.toml", xxh3_64(key.as_bytes())))
    }
}

fn key(fit: &Fit<'_>) -> String {
    // Another version may train otherwise.
    let version = env!("CARGO_PKG_VERSION");
    format!("version {version}\ndata {}\nseed {}\n{}", fingerprint(fit), fit.seed, fit.config.to_toml())
}
