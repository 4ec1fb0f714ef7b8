//! Tables row by row, whatever they are in: `.csv` and `.tsv` with a header, quoted where needed, or `.jsonl` with an object on each
//! line; packed by gzip or zstandard, or not; Parquet; or memory.

use std::collections::HashSet;
use std::io::BufRead;
use std::path::Path;

use super::json_lines::JsonLines;
use super::memory::{MemoryRows, Table};
use super::parquet::ParquetRows;
use super::text::TextRows;
use crate::columns::Cells;
use crate::load::Limits;
use crate::load::error::{LineProblem, LoadError, TableProblem};
use crate::load::input::Input;

/// Endings of tables, before those of packed files.
const ENDINGS: [&str; 5] = ["csv", "tsv", "jsonl", "ndjson", "parquet"];
/// Endings of packed tables; none for plain ones.
const PACKED: [&str; 3] = ["", ".gz", ".zst"];
/// How a Parquet file begins.
const PARQUET: &[u8] = b"PAR1";

/// All endings of tables, with their dots.
pub(in crate::load) fn endings() -> impl Iterator<Item = String> {
    PACKED.iter().flat_map(|packed| ENDINGS.iter().map(move |ending| format!(".{ending}{packed}")))
}

/// Whether a file of this name, in small letters, is a table.
pub(in crate::load) fn is_table(name: &str) -> bool {
    endings().any(|ending| name.ends_with(&ending))
}

/// Reads a table row by row.
pub(in crate::load) struct Rows<'a> {
    input: Input,
    header: Vec<String>,
    source: Source<'a>,
}

enum Source<'a> {
    Text(TextRows),
    JsonLines(JsonLines),
    Parquet(ParquetRows),
    Memory(MemoryRows<'a>),
}

impl<'a> Rows<'a> {
    pub fn open(input: &Input) -> Result<Self, LoadError> {
        if input.start(PARQUET.len())? == PARQUET {
            let (parquet, header) = ParquetRows::open(input)?;
            return Rows::new(input.clone(), header, Source::Parquet(parquet));
        }
        let mut text = input.text()?;
        match Format::of(input.path(), text.fill_buf().map_err(|source| input.failed(source))?) {
            Format::JsonLines => Rows::of_json_lines(input),
            Format::Separated(separator) => {
                drop(text);
                let (rows, header) = TextRows::open(input, separator)?;
                Rows::new(input.clone(), header, Source::Text(rows))
            }
        }
    }

    /// Rows of JSON lines, whatever the input is called.
    pub fn of_json_lines(input: &Input) -> Result<Self, LoadError> {
        let header = JsonLines::header(input)?;
        let lines = JsonLines::new(input.text()?, &header);
        Rows::new(input.clone(), header, Source::JsonLines(lines))
    }

    /// Rows of a table that is in memory.
    pub fn of_table(name: &str, table: &'a dyn Table) -> Result<Self, LoadError> {
        // Whoever has it in memory has room for it.
        let limits = Limits { columns: usize::MAX, ..Limits::default() };
        let input = Input::in_memory(name, Vec::new(), &limits);
        Rows::new(input, table.header().to_vec(), Source::Memory(MemoryRows::new(table)))
    }

    fn new(input: Input, header: Vec<String>, source: Source<'a>) -> Result<Self, LoadError> {
        let rows = Rows { input, header: told_apart(header), source };
        rows.check_header().map(|()| rows)
    }

    fn check_header(&self) -> Result<(), LoadError> {
        let (columns, most) = (self.header.len(), self.input.limits().columns);
        if columns > most {
            return Err(self.problem(TableProblem::TooManyColumns { columns, most }));
        }
        Ok(())
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.input.path()
    }

    /// The names of the columns.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// Which column has that name.
    pub fn find(&self, name: &str) -> Result<usize, LoadError> {
        let no_column = || self.problem(TableProblem::NoColumn { column: name.to_owned() });
        self.header.iter().position(|column| column == name).ok_or_else(no_column)
    }

    /// The same of a column that users name in what they say about columns.
    pub fn find_said(&self, name: &str) -> Result<usize, LoadError> {
        let found = self.header.iter().position(|column| column == name);
        found.ok_or_else(|| {
            let known = self.header.iter().filter(|column| !column.is_empty()).cloned().collect();
            self.problem(TableProblem::NoSaidColumn { column: name.to_owned(), known })
        })
    }

    /// The next row's line and cells, as many as the header has.
    pub fn next(&mut self) -> Result<Option<(u64, &dyn Cells)>, LoadError> {
        let read = match &mut self.source {
            Source::Text(rows) => rows.read(&self.input)?,
            Source::JsonLines(lines) => lines.read(&self.input)?,
            Source::Parquet(rows) => rows.read(&self.input)?,
            Source::Memory(rows) => rows.read(),
        };
        let Some(line) = read else { return Ok(None) };
        let found = self.row().len();
        if found != self.header.len() {
            return Err(self.line_problem(line, LineProblem::Ragged { expected: self.header.len(), found }));
        }
        Ok(Some((line, self.row())))
    }

    fn row(&self) -> &dyn Cells {
        match &self.source {
            Source::Text(rows) => rows.row(),
            Source::JsonLines(lines) => lines.row(),
            Source::Parquet(rows) => rows.row(),
            Source::Memory(rows) => rows,
        }
    }

    pub fn problem(&self, problem: TableProblem) -> LoadError {
        LoadError::Table { path: self.path().to_owned(), problem }
    }

    pub fn line_problem(&self, line: u64, problem: LineProblem) -> LoadError {
        LoadError::Line { path: self.path().to_owned(), line, problem }
    }
}

/// The names of columns, those that are there before with a number: `price (2)`.
fn told_apart(mut header: Vec<String>) -> Vec<String> {
    let mut taken: HashSet<String> = HashSet::with_capacity(header.len());
    for (place, name) in header.iter_mut().enumerate() {
        let own = std::mem::take(name);
        let numbered = |number: usize| match own.as_str() {
            "" => format!("column {}", place + number - 1),
            own => format!("{own} ({number})"),
        };
        let free = if taken.contains(&own) { (2..).map(numbered).find(|name| !taken.contains(name)) } else { None };
        *name = free.unwrap_or(own);
        taken.insert(name.clone());
    }
    header
}

enum Format {
    /// Cells with this byte between them.
    Separated(u8),
    JsonLines,
}

impl Format {
    /// By the ending of the name, or else by how the text begins.
    fn of(path: &Path, start: &[u8]) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let plain = name.trim_end_matches(".gz").trim_end_matches(".zst");
        let first_line = || start.split(|&byte| byte == b'\n').next().unwrap_or_default();
        match plain.rsplit('.').next() {
            Some("csv") => Format::Separated(separator(first_line())),
            Some("tsv") => Format::Separated(b'\t'),
            Some("jsonl" | "ndjson") => Format::JsonLines,
            _ if start.trim_ascii_start().starts_with(b"{") => Format::JsonLines,
            _ if first_line().contains(&b'\t') => Format::Separated(b'\t'),
            _ => Format::Separated(b','),
        }
    }
}

/// The separator of a `.csv` file: the comma, unless its header has none and has another. Many programs write what the country's
/// numbers leave free.
fn separator(header: &[u8]) -> u8 {
    let mut quoted = false;
    let is_outside = |byte: &&u8| {
        quoted ^= **byte == b'"';
        !quoted
    };
    let found: Vec<u8> = header.iter().filter(is_outside).copied().filter(|byte| b",;\t|".contains(byte)).collect();
    match found.first() {
        Some(&first) if !found.contains(&b',') => first,
        _ => b',',
    }
}
