//! Parquet files, row by row, as cells of a table.
//!
//! A text is a cell as it stands, a number and a flag as they are written, a date or a time in ISO form, nothing is an empty
//! cell, and a list becomes JSON.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use csv::StringRecord;
use jiff::{Span, Timestamp};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row};
use serde_json::Value;

use crate::load::error::{LineProblem, LoadError, read_error};

/// The rows of a file.
pub(in crate::load) struct ParquetRows {
    rows: RowIter<'static>,
    /// Rows read so far.
    row: u64,
}

impl ParquetRows {
    /// The rows, and the names of the columns.
    pub fn open(path: &Path) -> Result<(Self, Vec<String>), LoadError> {
        let file = File::open(path).map_err(|source| read_error(path, source))?;
        guarded(path, || {
            let reader = SerializedFileReader::new(file)?;
            let columns = reader.metadata().file_metadata().schema().get_fields();
            let header = columns.iter().map(|column| column.name().to_owned()).collect();
            Ok((ParquetRows { rows: RowIter::from_file_into(Box::new(reader)), row: 0 }, header))
        })
    }

    /// Fills a record with the next row and tells its number.
    pub fn read(&mut self, path: &Path, record: &mut StringRecord) -> Result<Option<u64>, LoadError> {
        let row = guarded(path, || self.rows.next().transpose())?;
        let Some(row) = row else { return Ok(None) };
        self.row += 1;
        record.clear();
        let written = guarded(path, || Ok(write_cells(&row, record)))?;
        written.map_err(|column| LoadError::Line {
            path: path.to_owned(),
            line: self.row,
            problem: LineProblem::Nested { column },
        })?;
        Ok(Some(self.row))
    }
}

/// The reader's error, or its panic: a damaged file may make it do either.
fn guarded<T>(path: &Path, read: impl FnOnce() -> parquet::errors::Result<T>) -> Result<T, LoadError> {
    let damaged = |reason: String| LoadError::Parquet { path: path.to_owned(), reason };
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(Ok(read)) => Ok(read),
        Ok(Err(error)) => Err(damaged(error.to_string())),
        Err(_) => Err(damaged("its pages contradict one another".to_owned())),
    }
}

/// In ISO form; empty where it lies beyond all years.
fn moment(time: Result<Timestamp, jiff::Error>) -> String {
    time.map(|time| time.to_string()).unwrap_or_default()
}

/// So many days after 1970 began, in ISO form; empty where they lie beyond all years.
fn date(days: i32) -> String {
    let after = Span::new().try_days(days).and_then(|span| jiff::civil::date(1970, 1, 1).checked_add(span));
    after.map(|date| date.to_string()).unwrap_or_default()
}

fn write_cells(row: &Row, record: &mut StringRecord) -> Result<(), String> {
    for (column, field) in row.get_column_iter() {
        let cell = match field {
            Field::Null => String::new(),
            Field::Str(text) => text.trim().to_owned(),
            Field::Bytes(bytes) => {
                std::str::from_utf8(bytes.data()).map(|text| text.trim().to_owned()).map_err(|_| column.clone())?
            }
            Field::Date(days) => date(*days),
            Field::TimestampMillis(time) => moment(Timestamp::from_millisecond(*time)),
            Field::TimestampMicros(time) => moment(Timestamp::from_microsecond(*time)),
            Field::ListInternal(list) => {
                let values = list.elements().iter().map(Field::to_json_value);
                let values: Vec<Value> = values.collect();
                if values.iter().any(|value| value.is_array() || value.is_object()) {
                    return Err(column.clone());
                }
                Value::Array(values).to_string()
            }
            Field::Group(_) | Field::MapInternal(_) => return Err(column.clone()),
            simple => match simple.to_json_value() {
                Value::String(text) => text,
                Value::Null => String::new(),
                other => other.to_string(),
            },
        };
        record.push_field(&cell);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_beyond_all_years_are_nothing() {
        assert_eq!((date(0), date(-1), date(19_844)), ("1970-01-01".into(), "1969-12-31".into(), "2024-05-01".into()));
        assert_eq!((date(i32::MAX), date(i32::MIN)), (String::new(), String::new()));
        assert_eq!(moment(Timestamp::from_millisecond(i64::MAX)), "");
    }
}
