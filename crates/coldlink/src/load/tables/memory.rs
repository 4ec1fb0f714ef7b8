//! Tables that are in memory: what a program hands over instead of a file.

use serde_json::{Map, Value};

use super::json_lines::{MOST_KEYS, nested_path};
use crate::columns::{Cell, Cells};
use crate::load::error::{LineProblem, LoadError, TableProblem};

/// A table in memory, by row or by column, as it suits whoever has it. Rows and columns are counted from 0.
pub trait Table {
    /// The names of the columns.
    fn header(&self) -> &[String];

    /// How many rows there are.
    fn rows(&self) -> usize;

    /// What one cell says.
    fn cell(&self, row: usize, column: usize) -> Cell<'_>;
}

/// The rows of a table, one after the other.
pub(super) struct MemoryRows<'a> {
    table: &'a dyn Table,
    /// Rows read so far.
    read: usize,
}

impl<'a> MemoryRows<'a> {
    pub fn new(table: &'a dyn Table) -> Self {
        MemoryRows { table, read: 0 }
    }

    /// Goes on to the next row and tells its number, from 1.
    pub fn read(&mut self) -> Option<u64> {
        (self.read < self.table.rows()).then(|| {
            self.read += 1;
            self.read as u64
        })
    }
}

impl Cells for MemoryRows<'_> {
    fn len(&self) -> usize {
        self.table.header().len()
    }

    fn cell(&self, place: usize) -> Cell<'_> {
        self.table.cell(self.read - 1, place)
    }
}

/// JSON objects as a table: a column for every key, and a missing cell where an object does not have it.
pub struct Objects {
    header: Vec<String>,
    rows: Vec<Map<String, Value>>,
}

impl Objects {
    /// A table of all keys, in the order in which they are found.
    pub fn new(rows: Vec<Map<String, Value>>) -> Result<Self, LoadError> {
        let (mut header, mut known) = (Vec::new(), std::collections::HashSet::new());
        for (row, object) in rows.iter().enumerate() {
            header.extend(object.keys().filter(|key| known.insert(key.as_str())).cloned());
            if header.len() > MOST_KEYS {
                return Err(problem(row, LineProblem::TooManyKeys { most: MOST_KEYS }));
            }
        }
        if header.is_empty() {
            return Err(LoadError::Table { path: "objects".into(), problem: TableProblem::Empty });
        }
        Objects::with_header(header, rows)
    }

    /// A table of these columns; other keys are ignored.
    pub fn with_header(header: Vec<String>, rows: Vec<Map<String, Value>>) -> Result<Self, LoadError> {
        for (row, object) in rows.iter().enumerate() {
            let nested = |name: &&String| object.get(*name).is_some_and(|value| Cell::of_json(value).is_none());
            if let Some(column) = header.iter().find(nested).cloned() {
                let path = nested_path(&column, &object[&column]);
                return Err(problem(row, LineProblem::Nested { column, path }));
            }
        }
        Ok(Objects { header, rows })
    }
}

fn problem(row: usize, problem: LineProblem) -> LoadError {
    LoadError::Line { path: "objects".into(), line: row as u64 + 1, problem }
}

impl Table for Objects {
    fn header(&self) -> &[String] {
        &self.header
    }

    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        self.rows[row].get(&self.header[column]).map_or(Cell::Missing, Cell::from)
    }
}
