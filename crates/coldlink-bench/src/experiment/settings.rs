//! What a cell is run with: the method's own settings, the tuned ones over them, and the row's over these.

use std::fs;
use std::path::PathBuf;

use toml::Table;
use xxhash_rust::xxh3::xxh3_64;

use super::{BenchError, Block, Experiment, Row};
use crate::method::Method;

/// A row's method, ready to be fitted.
pub(super) struct Ready {
    pub method: Box<dyn Method>,
    /// What differs from the method's own settings.
    pub changes: Table,
    /// Whether the row has a space and a winner was found in it; a row without a space needs none.
    pub searched: bool,
    /// A short name for method and settings.
    pub configuration: String,
}

impl Ready {
    /// A row's method with some changes.
    pub fn new(row: &Row, changes: Table, searched: bool) -> Result<Self, BenchError> {
        let method = row.method.with(&changes)?;
        // All settings, so that a default that changes with the code makes another configuration.
        let all = format!("{}\n{}", row.method.name, method.settings());
        Ok(Ready { configuration: format!("{:016x}", xxh3_64(all.as_bytes())), method, changes, searched })
    }
}

impl Experiment {
    /// Where the winner of a search is kept.
    pub fn tuned_path(&self, block: &Block, row: &Row, set: &str) -> PathBuf {
        self.folder.join("tuned").join(&self.tuned).join(format!("{}-{}-{set}.toml", block.name, row.name))
    }

    /// The method of a cell.
    pub(super) fn ready(&self, block: &Block, row: &Row, set: &str) -> Result<Ready, BenchError> {
        let path = self.tuned_path(block, row, set);
        let tuned = match fs::read_to_string(&path) {
            Ok(text) => Some(text.parse::<Table>().map_err(|error| BenchError::File {
                path,
                message: error.to_string(),
                hint: "delete it and run `coldlink-bench tune` again".to_owned(),
            })?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(source) => return Err(BenchError::io("read", &path, source)),
        };
        let searched = row.space.is_none() || tuned.is_some();
        Ready::new(row, tuned.unwrap_or_default().into_iter().chain(row.settings.clone()).collect(), searched)
    }
}

/// Settings in TOML on one line.
pub(super) fn one_line(settings: &Table) -> String {
    settings.iter().map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>().join("; ")
}
