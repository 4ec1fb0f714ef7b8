//! Tables as text: `.csv` and `.tsv` with a header, quoted where needed, gzipped or not.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use super::error::{LineProblem, LoadError, TableProblem, read_error};

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
        let mut rows = Rows::open(path)?;
        let header = rows.header().to_vec();
        let mut table =
            Table { path: path.to_owned(), header, text: String::new(), ends: Vec::new(), lines: Vec::new() };
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

/// Reads a table row by row.
pub(super) struct Rows {
    path: PathBuf,
    header: Vec<String>,
    reader: csv::Reader<Box<dyn Read>>,
    record: csv::StringRecord,
}

impl Rows {
    pub fn open(path: &Path) -> Result<Self, LoadError> {
        let (reader, separator) = open_text(path).map_err(|source| read_error(path, source))?;
        let reader = csv::ReaderBuilder::new()
            .delimiter(separator)
            .trim(csv::Trim::All)
            .has_headers(false)
            .flexible(true)
            .from_reader(reader);
        let mut rows = Rows { path: path.to_owned(), header: Vec::new(), reader, record: csv::StringRecord::new() };
        rows.read_header()?;
        Ok(rows)
    }

    fn read_header(&mut self) -> Result<(), LoadError> {
        if !self.read()? {
            return Err(self.problem(TableProblem::Empty));
        }
        self.header = self.record.iter().map(str::to_owned).collect();
        // No column of names is called by a number; one without a name is the row numbers that pandas writes.
        if self.header[0].parse::<f64>().is_ok() {
            return Err(self.problem(TableProblem::NoHeader { cell: self.header[0].clone() }));
        }
        let mut sorted: Vec<&String> = self.header.iter().collect();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(self.problem(TableProblem::RepeatedColumn { column: pair[0].clone() })),
            None => Ok(()),
        }
    }

    /// The names of the columns.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// The next row's line and trimmed cells, as many as the header has.
    pub fn next(&mut self) -> Result<Option<(u64, &csv::StringRecord)>, LoadError> {
        if !self.read()? {
            return Ok(None);
        }
        let line = self.line();
        if self.record.len() != self.header.len() {
            let (expected, found) = (self.header.len(), self.record.len());
            return Err(self.line_problem(line, LineProblem::Ragged { expected, found }));
        }
        Ok(Some((line, &self.record)))
    }

    fn read(&mut self) -> Result<bool, LoadError> {
        let error = match self.reader.read_record(&mut self.record) {
            Ok(more) => return Ok(more),
            Err(error) => error,
        };
        let line = error.position().map_or(1, csv::Position::line);
        match error.into_kind() {
            csv::ErrorKind::Utf8 { .. } => Err(self.line_problem(line, LineProblem::NotUtf8)),
            csv::ErrorKind::Io(source) => Err(read_error(&self.path, source)),
            other => Err(read_error(&self.path, std::io::Error::other(format!("{other:?}")))),
        }
    }

    fn line(&self) -> u64 {
        self.record.position().map_or(1, csv::Position::line)
    }

    pub fn problem(&self, problem: TableProblem) -> LoadError {
        LoadError::Table { path: self.path.clone(), problem }
    }

    pub fn line_problem(&self, line: u64, problem: LineProblem) -> LoadError {
        LoadError::Line { path: self.path.clone(), line, problem }
    }
}

/// The text of a file, unzipped if need be, and what separates its cells.
fn open_text(path: &Path) -> std::io::Result<(Box<dyn Read>, u8)> {
    let mut file = BufReader::new(File::open(path)?);
    let zipped = file.fill_buf()?.starts_with(&[0x1f, 0x8b]);
    let mut text: Box<dyn BufRead> =
        if zipped { Box::new(BufReader::new(MultiGzDecoder::new(file))) } else { Box::new(file) };
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let separator = match name.trim_end_matches(".gz").rsplit('.').next() {
        Some("csv") => b',',
        Some("tsv") => b'\t',
        _ if text.fill_buf()?.split(|&byte| byte == b'\n').next().is_some_and(|line| line.contains(&b'\t')) => b'\t',
        _ => b',',
    };
    Ok((Box::new(text), separator))
}
