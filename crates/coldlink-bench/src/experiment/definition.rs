//! An experiment as its TOML file states it, checked as a whole.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use coldlink::config::Validation;
use coldlink::split::Protocol;
use serde::Deserialize;
use toml::{Table, Value};

use super::{BenchError, set_facts};
use crate::method::{Registered, Task, find};

/// An experiment: rows of methods, columns of data sets, blocks of ways to test and select.
pub struct Experiment {
    /// Of its file.
    pub name: String,
    /// The folder of its file, where `spaces`, `tuned` and `reference` are.
    pub folder: PathBuf,
    /// In reports.
    pub title: String,
    /// A paragraph for its reports.
    pub about: String,
    /// Seeds 0, 1, …, each a split of its own.
    pub seeds: u64,
    /// Data sets by name.
    pub sets: Vec<String>,
    /// The row that others are compared with.
    pub reference: String,
    /// What is compared.
    pub rows: Vec<Row>,
    /// How it is tested and selected.
    pub blocks: Vec<Block>,
    /// Cells that stay empty, with the reason.
    pub empty: Vec<EmptyCell>,
    /// Whose winners are used: its own, or those of another experiment.
    pub tuned: String,
    /// Whether all rows must get the same number of trials.
    pub equal_trials: bool,
    /// Where mean similarities by distance are wanted instead of a table.
    pub similarity: Option<Similarity>,
}

/// A row: a method with settings of its own.
pub struct Row {
    /// Within the experiment.
    pub name: String,
    /// In tables.
    pub label: String,
    /// Which method.
    pub method: &'static Registered,
    /// Put over the tuned ones.
    pub settings: Table,
    /// The file of its search space, without ending; none where nothing is searched for.
    pub space: Option<String>,
    /// A remark that each of its cells carries.
    pub note: Option<String>,
}

/// A block: how rows are tested and selected.
pub struct Block {
    /// Within the experiment.
    pub name: String,
    /// In tables.
    pub label: String,
    /// A sentence or two.
    pub about: String,
    /// The test set.
    pub protocol: Protocol,
    /// What is selected on.
    pub validation: Validation,
}

impl Block {
    /// Which links are looked for.
    pub fn task(&self) -> Task {
        if self.protocol == Protocol::Transductive { Task::Transductive } else { Task::Inductive }
    }
}

/// A cell that stays empty.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmptyCell {
    /// Of which row.
    pub row: String,
    /// Of which set.
    pub set: String,
    /// Why.
    pub reason: String,
}

/// Mean similarities by distance, for some values of γ.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Similarity {
    /// Values of γ.
    pub gammas: Vec<f64>,
    /// Distances 1, 2, … up to this.
    pub hops: u32,
    /// Pairs per distance at the most.
    pub pairs: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    title: String,
    #[serde(default)]
    about: String,
    #[serde(default = "ten")]
    seeds: u64,
    sets: Vec<String>,
    reference: String,
    rows: Vec<Value>,
    blocks: Vec<BlockEntry>,
    #[serde(default)]
    empty: Vec<EmptyCell>,
    tuned: Option<String>,
    #[serde(default = "yes")]
    equal_trials: bool,
    similarity: Option<Similarity>,
}

fn yes() -> bool {
    true
}

fn ten() -> u64 {
    10
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RowTable {
    name: String,
    method: Option<String>,
    label: Option<String>,
    #[serde(default)]
    settings: Table,
    space: Option<String>,
    note: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BlockEntry {
    name: String,
    label: String,
    #[serde(default)]
    about: String,
    protocol: ProtocolName,
    validation: Validation,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ProtocolName {
    Deal2020,
    Strict,
    Transductive,
}

impl Experiment {
    /// Reads an experiment, with the methods and sets that it names.
    pub fn read(path: &Path) -> Result<Self, BenchError> {
        let text = fs::read_to_string(path).map_err(|source| BenchError::io("read", path, source))?;
        let refuse = |error: toml::de::Error| BenchError::File {
            path: path.to_owned(),
            message: error.to_string().trim().to_owned(),
            hint: "see `experiments/table2-inductive.toml` for what an experiment says".to_owned(),
        };
        let file: File = toml::from_str(&text).map_err(refuse)?;
        let folder = path.parent().map_or_else(PathBuf::new, Path::to_owned);
        for set in &file.sets {
            set_facts(set)?;
        }
        let table = |entry: Value| match entry {
            Value::String(name) => Ok(RowTable::of_method(name)),
            entry => entry.try_into().map_err(refuse),
        };
        let rows = file.rows.into_iter().map(|entry| Row::of(table(entry)?, &folder)).collect::<Result<Vec<_>, _>>()?;
        let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let experiment = Experiment {
            tuned: file.tuned.unwrap_or_else(|| name.clone()),
            name,
            folder,
            title: file.title,
            about: file.about,
            seeds: file.seeds,
            sets: file.sets,
            reference: file.reference,
            rows,
            blocks: file.blocks.into_iter().map(Block::of).collect(),
            empty: file.empty,
            equal_trials: file.equal_trials,
            similarity: file.similarity,
        };
        experiment.check(path)?;
        Ok(experiment)
    }

    /// Names within the file that must exist there.
    fn check(&self, path: &Path) -> Result<(), BenchError> {
        let named = std::iter::once(&self.reference).chain(self.empty.iter().map(|cell| &cell.row));
        let unknown_row = named.into_iter().find(|name| self.rows.iter().all(|row| row.name != **name));
        let unknown_set = self.empty.iter().map(|cell| &cell.set).find(|name| !self.sets.contains(name));
        let repeated = [
            repeated(self.rows.iter().map(|row| &row.name)),
            repeated(self.blocks.iter().map(|block| &block.name)),
            repeated(self.sets.iter()),
        ];
        let impossible = self.rows.iter().find(|row| self.blocks.iter().any(|block| !row.method.can(block.task())));
        let message = match (unknown_row, unknown_set, impossible, repeated.into_iter().flatten().next()) {
            (Some(name), ..) => format!("there is no row `{name}`"),
            (_, Some(name), ..) => format!("`{name}` is not among its sets"),
            (.., Some(name)) => format!("`{name}` stands there twice"),
            (_, _, Some(row), _) => format!("`{}` cannot score nodes that training has not seen", row.method.name),
            _ => return Ok(()),
        };
        let hint = "rows, sets and blocks of an experiment must fit together".to_owned();
        Err(BenchError::File { path: path.to_owned(), message, hint })
    }

    /// Why a cell stays empty, if it does.
    pub fn reason(&self, row: &str, set: &str) -> Option<&str> {
        self.empty.iter().find(|cell| cell.row == row && cell.set == set).map(|cell| cell.reason.as_str())
    }
}

fn repeated<'a>(mut names: impl Iterator<Item = &'a String>) -> Option<&'a String> {
    let mut known = HashSet::new();
    names.find(|name| !known.insert(*name))
}

impl RowTable {
    fn of_method(name: String) -> Self {
        RowTable { name, method: None, label: None, settings: Table::new(), space: None, note: None }
    }
}

impl Row {
    fn of(table: RowTable, folder: &Path) -> Result<Self, BenchError> {
        let method = find(table.method.as_deref().unwrap_or(&table.name))?;
        // Refused here rather than after an hour.
        method.with(&table.settings)?;
        let own = folder.join("spaces").join(format!("{}.toml", method.name)).exists();
        let space = table.space.or_else(|| own.then(|| method.name.to_owned())).filter(|space| space != "none");
        let label = table.label.unwrap_or_else(|| method.label.to_owned());
        Ok(Row { name: table.name, label, method, settings: table.settings, space, note: table.note })
    }
}

impl Block {
    fn of(entry: BlockEntry) -> Self {
        let protocol = match entry.protocol {
            ProtocolName::Deal2020 => Protocol::Deal2020,
            ProtocolName::Strict => Protocol::Strict,
            ProtocolName::Transductive => Protocol::Transductive,
        };
        let BlockEntry { name, label, about, validation, .. } = entry;
        Block { name, label, about, protocol, validation }
    }
}
