//! Parquet files, row by row, as typed cells.

mod counts;
mod pages;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use bytes::Bytes;
use parquet::basic::{LogicalType, TimeUnit};
use parquet::file::metadata::ParquetMetaDataReader;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::record::reader::RowIter;
use parquet::schema::types::Type;
use serde_json::Value;

use self::pages::Pages;
use crate::columns::{Cell, Cells};
use crate::load::error::{LineProblem, LoadError};
use crate::load::input::Input;

/// The rows of a file.
pub(in crate::load) struct ParquetRows {
    rows: RowIter<'static>,
    /// Columns of moments in nanoseconds, which the reader gives as whole numbers.
    nanoseconds: Vec<bool>,
    cells: Vec<Owned>,
    /// Rows read so far.
    row: u64,
}

impl ParquetRows {
    /// The rows, and the names of the columns.
    pub fn open(input: &Input) -> Result<(Self, Vec<String>), LoadError> {
        let (reader, pages) = match input.file_or_held()? {
            Ok(file) => opened(input, file)?,
            Err(held) => opened(input, Bytes::from_owner(held))?,
        };
        guarded(input.path(), || {
            let columns = reader.metadata().file_metadata().schema().get_fields();
            let header = columns.iter().map(|column| column.name().to_owned()).collect();
            let nanoseconds = columns.iter().map(|column| has_nanoseconds(column)).collect();
            let rows = RowIter::from_file_into(reader).with_batch_size(pages.batch);
            Ok((ParquetRows { rows, nanoseconds, cells: Vec::new(), row: 0 }, header))
        })
    }

    /// Goes on to the next row and tells its number.
    pub fn read(&mut self, input: &Input) -> Result<Option<u64>, LoadError> {
        let (path, most) = (input.path(), input.limits().cell);
        let Some(row) = guarded(path, || self.rows.next().transpose())? else { return Ok(None) };
        self.row += 1;
        self.cells.clear();
        for (place, (column, field)) in row.into_columns().into_iter().enumerate() {
            let cell = guarded(path, || Ok(Owned::of(field)))?;
            let at = |problem| LoadError::Line { path: path.to_owned(), line: self.row, problem };
            let Some(cell) = cell else { return Err(at(LineProblem::Nested { path: column.clone(), column })) };
            if cell.bytes() > most {
                return Err(at(LineProblem::LongCell { column, most }));
            }
            self.cells.push(match cell {
                Owned::Integer(time) if self.nanoseconds.get(place) == Some(&true) => {
                    Owned::Time((time.div_euclid(1000)) as i64)
                }
                cell => cell,
            });
        }
        Ok(Some(self.row))
    }

    /// The row that was read last.
    pub fn row(&self) -> &dyn Cells {
        &self.cells
    }
}

/// A file whose pages ask for no more than they may.
fn opened<F: ChunkReader + 'static>(input: &Input, file: F) -> Result<(Box<dyn FileReader>, Pages), LoadError> {
    let path = input.path();
    let about = guarded(path, || ParquetMetaDataReader::new().parse_and_finish(&file))?;
    let most = input.limits().most_unpacked(input.len()?);
    let pages = guarded(path, || Pages::of(&file, &about, most))?.ok_or_else(|| input.unpacks_too_far())?;
    let reader = guarded(path, || SerializedFileReader::new(file))?;
    guarded(path, || counts::check(&reader, &pages.with_lengths))?;
    Ok((Box::new(reader), pages))
}

fn has_nanoseconds(column: &Type) -> bool {
    let logical = column.get_basic_info().logical_type_ref();
    matches!(logical, Some(LogicalType::Timestamp(time)) if time.unit == TimeUnit::NANOS)
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

/// A cell that holds what it says.
enum Owned {
    Missing,
    Text(String),
    Boolean(bool),
    Integer(i128),
    Number(f64),
    Date(i32),
    Time(i64),
    Numbers(Vec<f32>),
    List(Vec<Owned>),
}

impl Owned {
    /// What a field says; nothing where it has no place in a cell.
    fn of(field: Field) -> Option<Self> {
        Some(match field {
            Field::Null => Owned::Missing,
            Field::Str(text) => Owned::Text(text),
            Field::Bytes(bytes) => Owned::Text(std::str::from_utf8(bytes.data()).ok()?.to_owned()),
            Field::Bool(flag) => Owned::Boolean(flag),
            Field::Byte(number) => Owned::Integer(number.into()),
            Field::Short(number) => Owned::Integer(number.into()),
            Field::Int(number) => Owned::Integer(number.into()),
            Field::Long(number) => Owned::Integer(number.into()),
            Field::UByte(number) => Owned::Integer(number.into()),
            Field::UShort(number) => Owned::Integer(number.into()),
            Field::UInt(number) => Owned::Integer(number.into()),
            Field::ULong(number) => Owned::Integer(number.into()),
            Field::Float16(number) => Owned::number(number.into()),
            Field::Float(number) => Owned::number(number.into()),
            Field::Double(number) => Owned::number(number),
            Field::Date(days) => Owned::Date(days),
            Field::TimestampMillis(time) => time.checked_mul(1000).map_or(Owned::Missing, Owned::Time),
            Field::TimestampMicros(time) => Owned::Time(time),
            Field::ListInternal(list) => Owned::list(list.elements())?,
            Field::Group(_) | Field::MapInternal(_) => return None,
            other @ (Field::Decimal(_) | Field::TimeMillis(_) | Field::TimeMicros(_)) => match other.to_json_value() {
                Value::String(text) => Owned::Text(text),
                _ => Owned::Missing,
            },
        })
    }

    /// NaN says nothing; what is infinite is for the column to refuse.
    fn number(number: f64) -> Self {
        if number.is_nan() { Owned::Missing } else { Owned::Number(number) }
    }

    /// How long it is.
    fn bytes(&self) -> usize {
        match self {
            Owned::Text(text) => text.len(),
            Owned::Numbers(numbers) => size_of_val(&numbers[..]),
            Owned::List(cells) => cells.iter().map(|cell| size_of::<Owned>() + cell.bytes()).sum(),
            _ => size_of::<Owned>(),
        }
    }

    fn list(elements: &[Field]) -> Option<Self> {
        let number = |element: &Field| match element {
            Field::Float(number) if number.is_finite() => Some(*number),
            _ => None,
        };
        if let Some(numbers) = elements.iter().map(number).collect() {
            return Some(Owned::Numbers(numbers));
        }
        let cell = |element: &Field| Owned::of(element.clone()).filter(|cell| !cell.is_list());
        elements.iter().map(cell).collect::<Option<_>>().map(Owned::List)
    }

    fn is_list(&self) -> bool {
        matches!(self, Owned::Numbers(_) | Owned::List(_))
    }
}

impl Cells for Vec<Owned> {
    fn len(&self) -> usize {
        Vec::len(self)
    }

    fn cell(&self, place: usize) -> Cell<'_> {
        match &self[place] {
            Owned::Missing => Cell::Missing,
            Owned::Text(text) => Cell::Text(text),
            Owned::Boolean(flag) => Cell::Boolean(*flag),
            Owned::Integer(number) => Cell::Integer(*number),
            Owned::Number(number) => Cell::Number(*number),
            Owned::Date(days) => Cell::Date(*days),
            Owned::Time(time) => Cell::Time(*time),
            Owned::Numbers(numbers) => Cell::Numbers(numbers),
            Owned::List(cells) => Cell::List(cells),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::sync::Arc;

    use parquet::basic::Compression;
    use parquet::column::writer::ColumnWriter;
    use parquet::data_type::{ByteArray, ByteArrayType};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::*;
    use crate::load::Limits;

    #[test]
    fn cells_have_the_types_of_their_columns() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.parquet");
        let schema = "message table {
            required int64 made (timestamp(nanos,true));
            required int64 size (integer(64,false));
            required float price;
        }";
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let mut writer = SerializedFileWriter::new(File::create(&path).unwrap(), schema, Arc::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut whole = [1_714_566_600_000_000_123, -1].into_iter();
        while let Some(mut column) = group.next_column().unwrap() {
            match column.untyped() {
                ColumnWriter::Int64ColumnWriter(column) => {
                    let number = whole.next().unwrap();
                    column.write_batch(&[number, number], None, None).unwrap();
                }
                ColumnWriter::FloatColumnWriter(column) => {
                    column.write_batch(&[0.5, f32::NAN], None, None).unwrap();
                }
                _ => unreachable!("there are no other columns"),
            }
            column.close().unwrap();
        }
        group.close().unwrap();
        writer.close().unwrap();
        let input = Input::open(&path, &Limits::default()).unwrap();
        let (mut rows, header) = ParquetRows::open(&input).unwrap();
        assert_eq!(header, ["made", "size", "price"]);
        assert_eq!(rows.read(&input).unwrap(), Some(1));
        let texts = |rows: &ParquetRows| [0, 1, 2].map(|place| rows.row().cell(place).to_text().into_owned());
        assert_eq!(texts(&rows), ["2024-05-01T12:30:00Z", "18446744073709551615", "0.5"]);
        assert!(matches!(rows.row().cell(0), Cell::Time(_)) && matches!(rows.row().cell(2), Cell::Number(0.5)));
        assert_eq!(rows.read(&input).unwrap(), Some(2));
        assert!(matches!(rows.row().cell(2), Cell::Missing), "NaN says nothing");
        assert_eq!(rows.read(&input).unwrap(), None);
    }

    /// Rows of one text each, packed.
    fn write_texts(path: &Path, texts: &[&str]) {
        let schema = Arc::new(parse_message_type("message table { required binary words (utf8); }").unwrap());
        let packed = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let mut writer = SerializedFileWriter::new(File::create(path).unwrap(), schema, Arc::new(packed)).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let texts: Vec<ByteArray> = texts.iter().map(|text| ByteArray::from(*text)).collect();
        column.typed::<ByteArrayType>().write_batch(&texts, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
    }

    #[test]
    fn a_small_file_with_a_large_cell_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.parquet");
        write_texts(&path, &["short", &"x".repeat(100_000)]);
        let open = |limits: Limits| ParquetRows::open(&Input::open(&path, &limits).unwrap());
        let tight = Limits { unpacked: 50_000, expansion: 2, ..Limits::default() };
        assert!(matches!(open(tight), Err(LoadError::UnpacksTooFar { most: 50_000, .. })));
        let limits = Limits { cell: 1000, ..Limits::default() };
        let input = Input::open(&path, &limits).unwrap();
        let (mut rows, _) = open(limits).unwrap();
        assert_eq!(rows.read(&input).unwrap(), Some(1));
        let error = rows.read(&input).unwrap_err();
        let long = LineProblem::LongCell { column: "words".into(), most: 1000 };
        assert!(matches!(error, LoadError::Line { line: 2, problem, .. } if problem == long));
    }

    #[test]
    fn infinite_numbers_are_kept_for_their_column_to_refuse() {
        assert!(
            matches!(Owned::of(Field::Double(f64::NEG_INFINITY)), Some(Owned::Number(number)) if number.is_infinite())
        );
        assert!(matches!(Owned::of(Field::Float(f32::NAN)), Some(Owned::Missing)));
    }
}
