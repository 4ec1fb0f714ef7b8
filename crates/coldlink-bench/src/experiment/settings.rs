//! What a cell is run with: the method's own settings, the tuned ones over them, and the row's over these.

use std::fs;
use std::path::PathBuf;

use toml::Table;
use xxhash_rust::xxh3::xxh3_64;

use super::{BenchError, Block, Experiment, Row};

impl Experiment {
    /// Where the winner of a search is kept.
    pub fn tuned_path(&self, block: &Block, row: &Row, set: &str) -> PathBuf {
        self.folder.join("tuned").join(&self.name).join(format!("{}-{}-{set}.toml", block.name, row.name))
    }

    /// The settings of a cell, as changes of the method's own.
    pub fn settings(&self, block: &Block, row: &Row, set: &str) -> Result<Table, BenchError> {
        let path = self.tuned_path(block, row, set);
        let mut table = match fs::read_to_string(&path) {
            Ok(text) => text.parse::<Table>().map_err(|error| BenchError::File {
                path,
                message: error.to_string(),
                hint: "delete it and run `coldlink-bench tune` again".to_owned(),
            })?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Table::new(),
            Err(source) => return Err(BenchError::io("read", &path, source)),
        };
        table.extend(row.settings.clone());
        Ok(table)
    }
}

/// A short name for a method with settings.
pub fn configuration_hash(method: &str, settings: &Table) -> String {
    format!("{:016x}", xxh3_64(format!("{method}\n{settings}").as_bytes()))
}

/// Settings in TOML on one line.
pub(super) fn one_line(settings: &Table) -> String {
    settings.iter().map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>().join("; ")
}
