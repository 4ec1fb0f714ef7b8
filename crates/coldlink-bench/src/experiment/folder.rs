//! The folder of a run: raw rows, curves, configurations, comparisons, scores, and what they were made from.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

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
}

const MADE_FROM: &str = "experiment.txt";

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
        let refuse =
            |message: String, hint: &str| BenchError::File { path: path.clone(), message, hint: hint.to_owned() };
        let note = path.join(MADE_FROM);
        match fs::read_to_string(&note) {
            Ok(name) if name.trim() != experiment.name => {
                let message = format!("holds the results of `{}`, not of `{}`", name.trim(), experiment.name);
                return Err(refuse(message, "choose another folder with `--out`"));
            }
            Ok(_) if !resume => {
                return Err(refuse(
                    "holds results already".to_owned(),
                    "go on with `--resume`, or choose another folder with `--out`",
                ));
            }
            Ok(_) => {}
            Err(_) if path.read_dir().is_ok_and(|mut entries| entries.next().is_some()) => {
                let hint = "choose an empty folder or a new one with `--out`";
                return Err(refuse("is not empty and holds no experiment".to_owned(), hint));
            }
            Err(_) => {
                fs::create_dir_all(&path).map_err(|source| BenchError::io("write", &path, source))?;
                fs::write(&note, format!("{}\n", experiment.name))
                    .map_err(|source| BenchError::io("write", &note, source))?;
            }
        }
        Ok(Folder { path })
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
        let beside = path.with_extension("partial");
        fs::write(&beside, bytes).and_then(|()| fs::rename(&beside, path)).map_err(io)
    }

    /// The scores of a cell, where they were kept.
    pub fn read_scores(&self, path: &Path) -> Option<Vec<f32>> {
        let bytes = fs::read(path).ok()?;
        Some(bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect())
    }
}

fn today() -> Result<String, BenchError> {
    let failed = |source| BenchError::io("run", Path::new("date"), source);
    let output = Command::new("date").arg("+%F").output().map_err(failed)?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
