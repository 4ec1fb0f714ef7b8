//! Tables row by row, whatever they are in: `.csv` and `.tsv` with a header, quoted where needed, or `.jsonl` with an object on each
//! line; packed by gzip or zstandard, or not; Parquet; or memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use csv::StringRecord;

use super::json_lines::JsonLines;
use super::memory::{MemoryRows, Table};
use super::parquet::ParquetRows;
use crate::columns::Cells;
use crate::load::error::{LineProblem, LoadError, TableProblem, read_error};

/// Endings of tables, before those of packed files.
const ENDINGS: [&str; 5] = ["csv", "tsv", "jsonl", "ndjson", "parquet"];
/// Endings of packed tables; none for plain ones.
const PACKED: [&str; 3] = ["", ".gz", ".zst"];

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
    path: PathBuf,
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
    pub fn open(path: &Path) -> Result<Self, LoadError> {
        let failed = |source| read_error(path, source);
        if is_parquet(path).map_err(failed)? {
            let (parquet, header) = ParquetRows::open(path)?;
            return Rows::new(path, header, Source::Parquet(parquet));
        }
        let mut text = open_text(path)?;
        match Format::of(path, text.fill_buf().map_err(failed)?) {
            Format::JsonLines => {
                let header = JsonLines::header(path, text)?;
                let lines = JsonLines::new(open_text(path)?, &header);
                Rows::new(path, header, Source::JsonLines(lines))
            }
            Format::Separated(separator) => {
                let mut rows = TextRows::new(text, separator);
                let header = rows.header(path)?;
                Rows::new(path, header, Source::Text(rows))
            }
        }
    }

    /// Rows of JSON lines that are in memory.
    pub fn of_json_lines(name: &str, lines: Arc<[u8]>) -> Result<Self, LoadError> {
        let path = Path::new(name);
        let header = JsonLines::header(path, Box::new(Cursor::new(Arc::clone(&lines))))?;
        let lines = JsonLines::new(Box::new(Cursor::new(lines)), &header);
        Rows::new(path, header, Source::JsonLines(lines))
    }

    /// Rows of a table that is in memory.
    pub fn of_table(name: &str, table: &'a dyn Table) -> Result<Self, LoadError> {
        Rows::new(Path::new(name), table.header().to_vec(), Source::Memory(MemoryRows::new(table)))
    }

    fn new(path: &Path, header: Vec<String>, source: Source<'a>) -> Result<Self, LoadError> {
        let rows = Rows { path: path.to_owned(), header, source };
        rows.check_header().map(|()| rows)
    }

    fn check_header(&self) -> Result<(), LoadError> {
        let mut sorted: Vec<&String> = self.header.iter().collect();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(self.problem(TableProblem::RepeatedColumn { column: pair[0].clone() })),
            None => Ok(()),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
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

    /// The next row's line and cells, as many as the header has.
    pub fn next(&mut self) -> Result<Option<(u64, &dyn Cells)>, LoadError> {
        let read = match &mut self.source {
            Source::Text(rows) => rows.read(&self.path)?,
            Source::JsonLines(lines) => lines.read(&self.path)?,
            Source::Parquet(rows) => rows.read(&self.path)?,
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
            Source::Text(rows) => &rows.record,
            Source::JsonLines(lines) => lines.row(),
            Source::Parquet(rows) => rows.row(),
            Source::Memory(rows) => rows,
        }
    }

    pub fn problem(&self, problem: TableProblem) -> LoadError {
        LoadError::Table { path: self.path.clone(), problem }
    }

    pub fn line_problem(&self, line: u64, problem: LineProblem) -> LoadError {
        LoadError::Line { path: self.path.clone(), line, problem }
    }
}

/// Lines of cells with a separator between them.
struct TextRows {
    reader: csv::Reader<Box<dyn BufRead>>,
    record: StringRecord,
}

impl TextRows {
    fn new(text: Box<dyn BufRead>, separator: u8) -> Self {
        let mut builder = csv::ReaderBuilder::new();
        builder.delimiter(separator).trim(csv::Trim::All).has_headers(false).flexible(true);
        TextRows { reader: builder.from_reader(text), record: StringRecord::new() }
    }

    fn header(&mut self, path: &Path) -> Result<Vec<String>, LoadError> {
        let problem = |problem| LoadError::Table { path: path.to_owned(), problem };
        if self.read(path)?.is_none() {
            return Err(problem(TableProblem::Empty));
        }
        // No column of names is called by a number; one without a name is the row numbers that pandas writes.
        match self.record[0].parse::<f64>() {
            Ok(_) => Err(problem(TableProblem::NoHeader { cell: self.record[0].to_owned() })),
            Err(_) => Ok(self.record.iter().map(str::to_owned).collect()),
        }
    }

    /// Fills the record with the next row and tells its line.
    fn read(&mut self, path: &Path) -> Result<Option<u64>, LoadError> {
        let error = match self.reader.read_record(&mut self.record) {
            Ok(true) => return Ok(Some(self.record.position().map_or(1, csv::Position::line))),
            Ok(false) => return Ok(None),
            Err(error) => error,
        };
        let line = error.position().map_or(1, csv::Position::line);
        match error.into_kind() {
            csv::ErrorKind::Utf8 { .. } => {
                Err(LoadError::Line { path: path.to_owned(), line, problem: LineProblem::NotUtf8 })
            }
            csv::ErrorKind::Io(source) => Err(read_error(path, source)),
            other => Err(read_error(path, io::Error::other(format!("{other:?}")))),
        }
    }
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
            Some("csv") => Format::Separated(b','),
            Some("tsv") => Format::Separated(b'\t'),
            Some("jsonl" | "ndjson") => Format::JsonLines,
            _ if start.trim_ascii_start().starts_with(b"{") => Format::JsonLines,
            _ if first_line().contains(&b'\t') => Format::Separated(b'\t'),
            _ => Format::Separated(b','),
        }
    }
}

/// By its first bytes.
fn is_parquet(path: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    File::open(path)?.take(4).read_to_end(&mut start)?;
    Ok(start == b"PAR1")
}

/// The text of a file, unpacked if need be.
fn open_text(path: &Path) -> Result<Box<dyn BufRead>, LoadError> {
    let failed = |source| read_error(path, source);
    let mut file = BufReader::new(File::open(path).map_err(failed)?);
    let start = file.fill_buf().map_err(failed)?;
    if start.starts_with(&[0x1f, 0x8b]) || start.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        return unpacked(path, file);
    }
    Ok(Box::new(file))
}

#[cfg(feature = "compression")]
fn unpacked(path: &Path, mut file: BufReader<File>) -> Result<Box<dyn BufRead>, LoadError> {
    let failed = |source| read_error(path, source);
    let unpacked: Box<dyn Read> = if file.fill_buf().map_err(failed)?.starts_with(&[0x1f, 0x8b]) {
        Box::new(flate2::bufread::MultiGzDecoder::new(file))
    } else {
        Box::new(zstd::stream::read::Decoder::with_buffer(file).map_err(failed)?)
    };
    Ok(Box::new(BufReader::new(unpacked)))
}

#[cfg(not(feature = "compression"))]
fn unpacked(path: &Path, _: BufReader<File>) -> Result<Box<dyn BufRead>, LoadError> {
    Err(LoadError::MissingFeature { path: path.to_owned(), feature: "compression" })
}
