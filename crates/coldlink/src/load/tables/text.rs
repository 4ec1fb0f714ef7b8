//! Lines of cells with a separator between them: `.csv` and `.tsv`, quoted where needed.

use std::io::BufRead;

use csv_core::ReadRecordResult;

use crate::columns::{Cell, Cells};
use crate::load::error::{LineProblem, LoadError, TableProblem};
use crate::load::input::Input;

/// The rows of a text.
pub(super) struct TextRows {
    text: Box<dyn BufRead>,
    core: Box<csv_core::Reader>,
    record: Record,
    /// The line that is read next, from 1.
    line: u64,
    header: Vec<String>,
}

/// A row of cells.
#[derive(Default)]
pub(super) struct Record {
    /// All cells, one after the other.
    text: String,
    /// Where each of them ends.
    ends: Vec<usize>,
    /// What the next row is read into.
    bytes: Vec<u8>,
    next_ends: Vec<usize>,
}

impl Cells for Record {
    fn len(&self) -> usize {
        self.ends.len()
    }

    fn cell(&self, place: usize) -> Cell<'_> {
        self.get(place).map_or(Cell::Missing, Cell::Text)
    }
}

impl Record {
    fn get(&self, place: usize) -> Option<&str> {
        let start = if place == 0 { 0 } else { *self.ends.get(place - 1)? };
        Some(self.text[start..*self.ends.get(place)?].trim())
    }

    /// Takes over what was read: so many bytes in so many cells.
    fn set(&mut self, bytes: usize, cells: usize) -> Result<(), LineProblem> {
        let text = std::str::from_utf8(&self.bytes[..bytes]).map_err(|_| LineProblem::NotUtf8)?;
        let ends = &self.next_ends[..cells];
        if !ends.iter().all(|&end| text.is_char_boundary(end)) {
            return Err(LineProblem::NotUtf8);
        }
        self.text.clear();
        self.text.push_str(text);
        self.ends.clear();
        self.ends.extend_from_slice(ends);
        Ok(())
    }
}

impl TextRows {
    /// Rows with this byte between cells, and the names of the columns.
    pub fn open(input: &Input, separator: u8) -> Result<(Self, Vec<String>), LoadError> {
        let core = Box::new(csv_core::ReaderBuilder::new().delimiter(separator).build());
        let (text, record) = (input.text()?, Record::default());
        let mut rows = TextRows { text, core, record, line: 1, header: Vec::new() };
        rows.header = rows.read_header(input)?;
        let header = rows.header.clone();
        Ok((rows, header))
    }

    fn read_header(&mut self, input: &Input) -> Result<Vec<String>, LoadError> {
        let problem = |problem| LoadError::Table { path: input.path().to_owned(), problem };
        if self.read(input)?.is_none() {
            return Err(problem(TableProblem::Empty));
        }
        let header: Vec<String> =
            (0..self.record.len()).filter_map(|place| self.record.get(place)).map(str::to_owned).collect();
        // No column of names is called by a number; one without a name is the row numbers that pandas writes.
        match header[0].parse::<f64>() {
            Ok(_) => Err(problem(TableProblem::NoHeader { cell: header[0].clone() })),
            Err(_) => Ok(header),
        }
    }

    /// The row that was read last.
    pub fn row(&self) -> &dyn Cells {
        &self.record
    }

    /// Goes on to the next row and tells its line.
    pub fn read(&mut self, input: &Input) -> Result<Option<u64>, LoadError> {
        if !self.find_row(input)? {
            return Ok(None);
        }
        let first = self.line;
        let at = |line: u64, problem| LoadError::Line { path: input.path().to_owned(), line, problem };
        let (mut bytes, mut cells) = (0, 0);
        loop {
            let step = self.step(input, bytes, cells)?;
            (bytes, cells) = (bytes + step.bytes, cells + step.cells);
            if step.ends_row {
                break;
            }
            if step.is_last {
                let before = self.cell_start(cells);
                let line = first + line_breaks(&self.record.bytes[..before]);
                return Err(at(line, LineProblem::OpenQuote));
            }
            self.check_size(input, bytes, cells).map_err(|problem| at(first, problem))?;
        }
        self.check_size(input, bytes, cells)
            .and_then(|()| self.record.set(bytes, cells))
            .map_err(|problem| at(first, problem))?;
        Ok(Some(first))
    }

    /// Passes over empty lines; says whether there is a row after them.
    fn find_row(&mut self, input: &Input) -> Result<bool, LoadError> {
        loop {
            let text = self.text.fill_buf().map_err(|source| input.failed(source))?;
            let empty = text.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            let (ends, goes_on) = (text.is_empty(), empty < text.len());
            self.line += line_breaks(&text[..empty]);
            self.text.consume(empty);
            if ends || goes_on {
                return Ok(goes_on);
            }
        }
    }

    /// Reads on, as far as what is buffered goes, after so many bytes in so many cells. The last line may lack its break; where
    /// that becomes a part of a cell, a quote is open.
    fn step(&mut self, input: &Input, bytes: usize, cells: usize) -> Result<Step, LoadError> {
        let Record { bytes: out, next_ends: ends, .. } = &mut self.record;
        if out.len() == bytes {
            out.resize((2 * bytes).max(1 << 10), 0);
        }
        if ends.len() == cells {
            ends.resize((2 * cells).max(1 << 5), 0);
        }
        let text = self.text.fill_buf().map_err(|source| input.failed(source))?;
        let is_last = text.is_empty();
        let text = if is_last { b"\n" } else { text };
        let (result, read, written, ended) = self.core.read_record(text, &mut out[bytes..], &mut ends[cells..]);
        self.line += if is_last { 0 } else { line_breaks(&text[..read]) };
        if !is_last {
            self.text.consume(read);
        }
        let ends_row = result == ReadRecordResult::Record;
        Ok(Step { bytes: written, cells: ended, ends_row, is_last: is_last && read > 0 })
    }

    /// Whether a row so far is as small as it must be.
    fn check_size(&self, input: &Input, bytes: usize, cells: usize) -> Result<(), LineProblem> {
        let limits = input.limits();
        if cells > limits.columns {
            return Err(LineProblem::TooManyCells { most: limits.columns });
        }
        let ends = &self.record.next_ends[..cells];
        let starts = std::iter::once(0).chain(ends.iter().copied());
        // A line that is no longer than a cell may be has no long cell.
        let long = if bytes > limits.cell {
            starts.zip(ends.iter().copied().chain([bytes])).position(|(start, end)| end - start > limits.cell)
        } else {
            None
        };
        if let Some(place) = long {
            let column = self.header.get(place).cloned().unwrap_or_else(|| (place + 1).to_string());
            return Err(LineProblem::LongCell { column, most: limits.cell });
        }
        if bytes > limits.line {
            return Err(LineProblem::LongLine { most: limits.line });
        }
        Ok(())
    }

    /// Where the cell after so many others begins.
    fn cell_start(&self, cells: usize) -> usize {
        cells.checked_sub(1).map_or(0, |last| self.record.next_ends[last])
    }
}

/// What was read in one go.
struct Step {
    bytes: usize,
    cells: usize,
    ends_row: bool,
    /// Whether the text has ended.
    is_last: bool,
}

fn line_breaks(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Limits;

    fn limits() -> Limits {
        Limits { cell: 2000, line: 5000, columns: 50, ..Limits::default() }
    }

    /// A header, and each row with its line.
    type Read = (Vec<String>, Vec<(u64, Vec<String>)>);

    fn rows(text: impl AsRef<[u8]>) -> Result<Read, LoadError> {
        let input = Input::in_memory("nodes.csv", text.as_ref().to_vec(), &limits());
        let (mut rows, header) = TextRows::open(&input, b',')?;
        let mut all = Vec::new();
        while let Some(line) = rows.read(&input)? {
            let row = rows.row();
            all.push((line, (0..row.len()).map(|place| row.cell(place).to_text().into_owned()).collect()));
        }
        Ok((header, all))
    }

    fn problem(text: impl AsRef<[u8]>) -> (u64, LineProblem) {
        match rows(text).unwrap_err() {
            LoadError::Line { line, problem, .. } => (line, problem),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn rows_have_the_lines_on_which_they_begin() {
        let (header, rows) = rows("\u{feff}id, x\r\n\r\na,1\r\n\n\"b\nc\", \"2 \"\"x\"\"\"\nd,\ne,5").unwrap();
        assert_eq!(header, ["id", "x"]);
        let row = |line: u64, id: &str, x: &str| (line, vec![id.to_owned(), x.to_owned()]);
        assert_eq!(rows[0], row(3, "a", "1"));
        assert_eq!(rows[1].0, 5);
        assert_eq!(rows[1].1[0], "b\nc");
        assert_eq!(rows[2..], [row(7, "d", ""), row(8, "e", "5")]);
    }

    #[test]
    fn rows_are_those_that_the_usual_reader_of_csv_finds() {
        for text in
            ["id,x\na,1\n", "id,x\n\"a,\"\"b\",\"\n\"\n\n\"q\"r,1\n", "id\n\" \"\nx", "id,\u{e4}\r\n\u{e9},\r\n"]
        {
            let mut reader =
                csv::ReaderBuilder::new().has_headers(false).trim(csv::Trim::All).from_reader(text.as_bytes());
            let expected: Vec<Vec<String>> =
                reader.records().map(|record| record.unwrap().iter().map(str::to_owned).collect()).collect();
            let (header, rows) = rows(text).unwrap();
            let found: Vec<Vec<String>> = std::iter::once(header).chain(rows.into_iter().map(|row| row.1)).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn a_quote_that_is_not_closed_is_an_error_with_the_line_where_it_opens() {
        let mut text = "id,words\n".to_owned();
        (0..50).for_each(|row| text += &format!("p{row},{}soup\n", if row == 2 { "\"" } else { "" }));
        assert_eq!(problem(&text), (4, LineProblem::OpenQuote));
        assert_eq!(problem("id,x,y\n\"a\nb\",1,\"open\nto the end"), (3, LineProblem::OpenQuote));
        assert_eq!(problem("id,\"x"), (1, LineProblem::OpenQuote));
        assert_eq!(rows("id,x\na,\"closed\"").unwrap().1.len(), 1);
        assert_eq!(rows("id,x\na,5\"\n").unwrap().1[0].1[1], "5\"");
    }

    #[test]
    fn long_cells_and_lines_are_refused_with_their_line() {
        let cell = |length: usize| "x".repeat(length);
        assert!(rows(format!("id,x\na,{}\n", cell(2000))).is_ok());
        let long = LineProblem::LongCell { column: "x".into(), most: 2000 };
        assert_eq!(problem(format!("id,x\na,1\nb,{}\n", cell(2001))), (3, long.clone()));
        assert_eq!(problem(format!("id,x\nb,\"{}", cell(1 << 20))), (2, long));
        let line = vec![cell(1900); 3].join(",");
        assert_eq!(problem(format!("id,x,y\n{line}\n")), (2, LineProblem::LongLine { most: 5000 }));
        assert_eq!(problem(format!("id,x\n{}\n", ",".repeat(1 << 20))), (2, LineProblem::TooManyCells { most: 50 }));
        assert_eq!(problem(cell(1 << 20)), (1, LineProblem::LongCell { column: "1".into(), most: 2000 }));
        assert_eq!(problem([0; 1 << 20]), (1, LineProblem::LongCell { column: "1".into(), most: 2000 }));
    }

    #[test]
    fn bytes_that_are_no_text_are_refused() {
        assert_eq!(problem(b"id,x\na,\xff\n"), (2, LineProblem::NotUtf8));
        assert_eq!(problem(b"id,x\na\xc3,\xa9\n"), (2, LineProblem::NotUtf8));
    }
}
