//! A whole table in memory.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::error::{LineProblem, LoadError, TableProblem};
use super::rows::Rows;

/// A table in memory: a header, and as many trimmed cells in each row.
#[derive(Clone, Debug)]
pub struct Table {
    path: PathBuf,
    header: Vec<String>,
    text: String,
    /// Where each cell ends in `text`, row by row.
    ends: Vec<usize>,
    /// The line on which each row begins.
    lines: Vec<u64>,
}

impl Table {
    /// Reads a whole table.
    pub fn read(path: &Path) -> Result<Self, LoadError> {
        Table::of(Rows::open(path)?)
    }

    pub(super) fn of(mut rows: Rows) -> Result<Self, LoadError> {
        let (path, header) = (rows.path().to_owned(), rows.header().to_vec());
        let mut table = Table { path, header, text: String::new(), ends: Vec::new(), lines: Vec::new() };
        while let Some((line, cells)) = rows.next()? {
            table.lines.push(line);
            for cell in cells {
                table.text.push_str(cell);
                table.ends.push(table.text.len());
            }
        }
        Ok(table)
    }

    /// The names of the columns.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// How many rows there are, the header not counted.
    pub fn rows(&self) -> usize {
        self.lines.len()
    }

    /// One cell, trimmed.
    pub fn cell(&self, row: usize, column: usize) -> &str {
        let cell = row * self.header.len() + column;
        let start = if cell == 0 { 0 } else { self.ends[cell - 1] };
        &self.text[start..self.ends[cell]]
    }

    /// The cells of one column, from the first row on.
    pub fn column(&self, column: usize) -> impl ExactSizeIterator<Item = &str> {
        (0..self.rows()).map(move |row| self.cell(row, column))
    }

    /// Which column has that name.
    pub fn find(&self, name: &str) -> Result<usize, LoadError> {
        let no_column = || self.problem(TableProblem::NoColumn { column: name.to_owned() });
        self.header.iter().position(|column| column == name).ok_or_else(no_column)
    }

    /// The names of the rows, of which there must be one or more, each with a name of its own.
    pub(super) fn names(&self, id: usize) -> Result<HashMap<&str, u32>, LoadError> {
        if self.rows() == 0 {
            return Err(LoadError::NoNodes { path: self.path.clone() });
        }
        let mut names = HashMap::with_capacity(self.rows());
        for (row, name) in self.column(id).enumerate() {
            if name.is_empty() {
                return Err(self.line_problem(row, LineProblem::NoName { column: self.header[id].clone() }));
            }
            if let Some(first) = names.insert(name, row as u32) {
                let (name, first) = (name.to_owned(), self.lines[first as usize]);
                return Err(self.line_problem(row, LineProblem::RepeatedNode { name, first }));
            }
        }
        Ok(names)
    }

    pub(super) fn problem(&self, problem: TableProblem) -> LoadError {
        LoadError::Table { path: self.path.clone(), problem }
    }

    pub(super) fn line_problem(&self, row: usize, problem: LineProblem) -> LoadError {
        LoadError::Line { path: self.path.clone(), line: self.lines[row], problem }
    }
}
