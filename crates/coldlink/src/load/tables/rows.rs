//! Tables row by row, whatever the file: `.csv` and `.tsv` with a header, quoted where needed, or `.jsonl` with an object on each
//! line; packed by gzip or zstandard, or not; or Parquet.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use csv::StringRecord;

use super::json_lines::JsonLines;
use super::parquet::ParquetRows;
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
pub(in crate::load) struct Rows {
    path: PathBuf,
    header: Vec<String>,
    source: Source,
    record: StringRecord,
}

enum Source {
    Text(csv::Reader<Box<dyn BufRead>>),
    JsonLines(JsonLines),
    Parquet(ParquetRows),
}

impl Rows {
    pub fn open(path: &Path) -> Result<Self, LoadError> {
        if is_parquet(path).map_err(|source| read_error(path, source))? {
            let (parquet, header) = ParquetRows::open(path)?;
            let rows =
                Rows { path: path.to_owned(), header, source: Source::Parquet(parquet), record: StringRecord::new() };
            rows.check_header()?;
            return Ok(rows);
        }
        let failed = |source| read_error(path, source);
        let mut text = open_text(path)?;
        let format = Format::of(path, text.fill_buf().map_err(failed)?);
        let (header, source) = match format {
            Format::JsonLines => {
                let header = JsonLines::header(path, text)?;
                let lines = JsonLines::new(open_text(path)?, &header);
                (header, Source::JsonLines(lines))
            }
            Format::Separated(separator) => {
                let reader = csv::ReaderBuilder::new()
                    .delimiter(separator)
                    .trim(csv::Trim::All)
                    .has_headers(false)
                    .flexible(true)
                    .from_reader(text);
                (Vec::new(), Source::Text(reader))
            }
        };
        let mut rows = Rows { path: path.to_owned(), header, source, record: StringRecord::new() };
        if matches!(rows.source, Source::Text(_)) {
            rows.read_header()?;
        }
        rows.check_header()?;
        Ok(rows)
    }

    /// Rows of JSON lines that are in memory.
    pub fn of_json_lines(name: &str, lines: Arc<[u8]>) -> Result<Self, LoadError> {
        let path = PathBuf::from(name);
        let header = JsonLines::header(&path, Box::new(Cursor::new(Arc::clone(&lines))))?;
        let source = Source::JsonLines(JsonLines::new(Box::new(Cursor::new(lines)), &header));
        Ok(Rows { path, header, source, record: StringRecord::new() })
    }

    fn read_header(&mut self) -> Result<(), LoadError> {
        if self.read()?.is_none() {
            return Err(self.problem(TableProblem::Empty));
        }
        self.header = self.record.iter().map(str::to_owned).collect();
        // No column of names is called by a number; one without a name is the row numbers that pandas writes.
        match self.header[0].parse::<f64>() {
            Ok(_) => Err(self.problem(TableProblem::NoHeader { cell: self.header[0].clone() })),
            Err(_) => Ok(()),
        }
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

    /// The next row's line and trimmed cells, as many as the header has.
    pub fn next(&mut self) -> Result<Option<(u64, &StringRecord)>, LoadError> {
        let Some(line) = self.read()? else { return Ok(None) };
        if self.record.len() != self.header.len() {
            let (expected, found) = (self.header.len(), self.record.len());
            return Err(self.line_problem(line, LineProblem::Ragged { expected, found }));
        }
        Ok(Some((line, &self.record)))
    }

    /// Fills the record and tells its line.
    fn read(&mut self) -> Result<Option<u64>, LoadError> {
        let reader = match &mut self.source {
            Source::Text(reader) => reader,
            Source::JsonLines(lines) => return lines.read(&self.path, &mut self.record),
            Source::Parquet(rows) => return rows.read(&self.path, &mut self.record),
        };
        let error = match reader.read_record(&mut self.record) {
            Ok(true) => return Ok(Some(self.record.position().map_or(1, csv::Position::line))),
            Ok(false) => return Ok(None),
            Err(error) => error,
        };
        let line = error.position().map_or(1, csv::Position::line);
        match error.into_kind() {
            csv::ErrorKind::Utf8 { .. } => Err(self.line_problem(line, LineProblem::NotUtf8)),
            csv::ErrorKind::Io(source) => Err(read_error(&self.path, source)),
            other => Err(read_error(&self.path, io::Error::other(format!("{other:?}")))),
        }
    }

    pub fn problem(&self, problem: TableProblem) -> LoadError {
        LoadError::Table { path: self.path.clone(), problem }
    }

    pub fn line_problem(&self, line: u64, problem: LineProblem) -> LoadError {
        LoadError::Line { path: self.path.clone(), line, problem }
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
