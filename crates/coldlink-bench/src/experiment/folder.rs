//! The folder of a run: raw rows, curves, configurations, comparisons, scores, and what they were made from.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use coldlink::storage::write_atomically;
use serde::{Deserialize, Serialize};

use super::rows::read_log;
use super::{BenchError, CellRow, Experiment};

/// A validation of a first split, for curves.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Which block.
    pub block: String,
    /// Which row.
    pub method: String,
    /// Which set.
    pub set: String,
    /// After so many steps.
    pub step: u64,
    /// On validation pairs.
    pub auc: f64,
    /// On validation pairs.
    pub ap: f64,
    /// Of method and settings.
    pub configuration: String,
}

/// A row against the reference row, by a paired bootstrap of AUC.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Comparison {
    /// Which block.
    pub block: String,
    /// Which row.
    pub method: String,
    /// Which set.
    pub set: String,
    /// Splits that both were measured on.
    pub splits: usize,
    /// The row's AUC minus the reference row's.
    pub difference: f64,
    /// The middle 95 % of resamples.
    pub low: f64,
    /// The middle 95 % of resamples.
    pub high: f64,
    /// Two-sided.
    pub p: f64,
    /// Of the row.
    pub configuration: String,
    /// Of the reference row.
    pub reference: String,
}

/// What a configuration's short name stands for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Configuration {
    /// Its short name.
    pub configuration: String,
    /// Which method.
    pub method: String,
    /// What differs from the method's own settings, in TOML on one line.
    pub settings: String,
}

/// The folder of a run.
pub struct Folder {
    /// Where it is.
    pub path: PathBuf,
    /// Held as long as this process works in the folder.
    _lock: File,
}

const MADE_FROM: &str = "experiment.txt";
const MACHINE: &str = "machine.txt";

impl Folder {
    /// `results/DATE-NAME`, or the newest of that name where a run is to be resumed.
    pub fn choose(results: &Path, experiment: &Experiment, resume: bool) -> Result<PathBuf, BenchError> {
        let ending = format!("-{}", experiment.name);
        let mut known: Vec<PathBuf> = match fs::read_dir(results) {
            Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())).collect(),
            Err(_) => Vec::new(),
        };
        known.retain(|path| {
            let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            name.len() == ending.len() + "2026-01-01".len() && name.ends_with(&ending)
        });
        known.sort();
        match known.pop() {
            Some(newest) if resume => Ok(newest),
            _ => Ok(results.join(format!("{}{ending}", today()?))),
        }
    }

    /// Opens or makes the folder of an experiment; refuses one of another, and rows that nobody asked to add to.
    pub fn open(path: PathBuf, experiment: &Experiment, resume: bool) -> Result<Self, BenchError> {
        match Self::made_from(&path) {
            Some(_) if !resume => {
                let hint = "go on with `--resume`, or choose another folder with `--out`";
                Err(refuse(&path, "holds results already", hint))
            }
            Some(_) => Self::existing(path, experiment),
            None if path.read_dir().is_ok_and(|mut entries| entries.next().is_some()) => {
                let hint = "choose an empty folder or a new one with `--out`";
                Err(refuse(&path, "is not empty and holds no experiment", hint))
            }
            None => {
                let io = |source| BenchError::io("write", &path, source);
                fs::create_dir_all(&path).map_err(io)?;
                write(&path.join(MADE_FROM), &format!("{}\n", experiment.name))?;
                write(&path.join(MACHINE), &machine())?;
                Self::existing(path, experiment)
            }
        }
    }

    /// The folder of an experiment's earlier run.
    pub fn existing(path: PathBuf, experiment: &Experiment) -> Result<Self, BenchError> {
        match Self::made_from(&path) {
            Some(name) if name != experiment.name => {
                let message = format!("holds the results of `{name}`, not of `{}`", experiment.name);
                Err(refuse(&path, &message, "choose another folder with `--out`"))
            }
            Some(_) => Ok(Folder { _lock: held(&path)?, path }),
            None => Err(refuse(&path, "holds no results", "`coldlink-bench run` makes such a folder in `results/`")),
        }
    }

    fn made_from(path: &Path) -> Option<String> {
        Some(fs::read_to_string(path.join(MADE_FROM)).ok()?.trim().to_owned())
    }

    /// What the rows were made on.
    pub fn machine(&self) -> String {
        fs::read_to_string(self.file(MACHINE)).unwrap_or_default().trim().to_owned()
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Finished cells.
    pub fn rows(&self) -> Result<Vec<CellRow>, BenchError> {
        read_log(&self.file("rows.csv"))
    }

    /// Where the scores of a cell are.
    pub fn scores_path(&self, block: &str, row: &str, set: &str, seed: u64) -> PathBuf {
        self.file("scores").join(format!("{block}-{row}-{set}-{seed}.f32"))
    }

    /// Keeps the scores of a cell's test pairs, for comparisons.
    pub fn write_scores(&self, path: &Path, scores: &[f32]) -> Result<(), BenchError> {
        let io = |source| BenchError::io("write", path, source);
        fs::create_dir_all(self.file("scores")).map_err(io)?;
        let bytes: Vec<u8> = scores.iter().flat_map(|score| score.to_le_bytes()).collect();
        write_atomically(path, |file| file.write_all(&bytes)).map_err(io)
    }

    /// The scores of a cell, where they were kept.
    pub fn read_scores(&self, path: &Path) -> Option<Vec<f32>> {
        let bytes = fs::read(path).ok()?;
        Some(bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect())
    }
}

/// Writes a file as a whole.
pub(super) fn write(path: &Path, text: &str) -> Result<(), BenchError> {
    write_atomically(path, |file| file.write_all(text.as_bytes()))
        .map_err(|source| BenchError::io("write", path, source))
}

/// A lock on a folder, for as long as the file is open.
pub(super) fn held(folder: &Path) -> Result<File, BenchError> {
    let path = folder.join(".lock");
    let file = File::create(&path).map_err(|source| BenchError::io("write", &path, source))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(_) => Err(BenchError::Busy { folder: folder.to_owned() }),
    }
}

fn refuse(path: &Path, message: &str, hint: &str) -> BenchError {
    BenchError::File { path: path.to_owned(), message: message.to_owned(), hint: hint.to_owned() }
}

/// The processor and its cores.
fn machine() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1)).unwrap_or("unknown");
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    format!("{model}, {cores} cores\n")
}

fn today() -> Result<String, BenchError> {
    let failed = |source| BenchError::io("run", Path::new("date"), source);
    let output = Command::new("date").arg("+%F").output().map_err(failed)?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
