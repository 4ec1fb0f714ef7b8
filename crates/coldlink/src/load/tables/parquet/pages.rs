//! What the pages of a Parquet file ask for, read from their headers before any of them is unpacked: the reader takes the memory
//! that a header names, whatever the file's footer says.

use std::io::{self, Read, Take};

use parquet::basic::Compression;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::ChunkReader;
use parquet::record::Field;

/// Values of a column that are read at a time, where nothing speaks against it.
const BATCH: usize = 1024;
/// The number of this encoding in a header: values share their beginnings, so that a small page may hold long ones.
const DELTA_BYTE_ARRAY: i64 = 7;
/// And of this: values come after their lengths, as they do there.
const DELTA_LENGTH_BYTE_ARRAY: i64 = 6;
/// Bytes that a page takes beside its values: a file may name a page as often as it likes.
const HEADER: u64 = 64;
/// How deep structures of a header may lie within one another.
const DEPTH: usize = 8;

/// What all pages of a file ask for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pages {
    /// How many values of a column may be read at a time.
    pub batch: usize,
    /// Groups of rows and columns in which values come with lengths.
    pub with_lengths: Vec<(usize, usize)>,
}

impl Pages {
    /// Of a file whose pages may unpack to `most` bytes; nothing where they ask for more.
    pub fn of(file: &impl ChunkReader, about: &ParquetMetaData, most: u64) -> Result<Option<Self>> {
        let (mut left, mut longest, mut with_lengths) = (most, 0, Vec::new());
        let columns = |(group, about): (usize, &'_ RowGroupMetaData)| {
            (0..about.num_columns()).map(move |column| (group, column)).collect::<Vec<_>>()
        };
        for place in about.row_groups().iter().enumerate().flat_map(columns) {
            let column = about.row_group(place.0).column(place.1);
            let (mut start, bytes) = column.byte_range();
            let end = start.checked_add(bytes).ok_or_else(contradiction)?;
            while start < end {
                let (header, length) = Header::read(file, start, end - start)?;
                let data = start + length;
                start = data + header.packed;
                if start > end {
                    return Err(contradiction());
                }
                let elements = if is_repeated(column) { header.values } else { 0 };
                left = match left.checked_sub(header.memory()) {
                    Some(left) if elements.saturating_mul(size_of::<Field>() as u64) <= most => left,
                    _ => return Ok(None),
                };
                if header.shares_beginnings {
                    longest = longest.max(header.unpacked);
                }
                if header.has_lengths && with_lengths.last() != Some(&place) {
                    with_lengths.push(place);
                }
                check_stream(file, column, data, &header)?;
            }
        }
        let batch = most.checked_div(longest).map_or(BATCH, |values| values.clamp(1, BATCH as u64) as usize);
        Ok(Some(Pages { batch, with_lengths }))
    }
}

pub(super) fn contradiction() -> ParquetError {
    ParquetError::General("its pages contradict one another".to_owned())
}

/// Whether a cell may hold many values.
fn is_repeated(column: &ColumnChunkMetaData) -> bool {
    column.column_descr().max_rep_level() > 0
}

/// The reader unpacks gzip to its end, whatever the header says. (Other codecs are given no more room than that.)
fn check_stream(file: &impl ChunkReader, column: &ColumnChunkMetaData, data: u64, header: &Header) -> Result<()> {
    let levels: u64 = header.levels.iter().sum();
    if !matches!(column.compression(), Compression::GZIP(_)) || levels > header.packed {
        return Ok(());
    }
    let packed = file.get_read(data + levels)?.take(header.packed - levels);
    let unpacked = flate2::read::MultiGzDecoder::new(packed).take(header.unpacked.saturating_add(1));
    // What is no gzip at all is for the reader to refuse, or was stored as it is.
    let bytes = io::copy(&mut { unpacked }, &mut io::sink()).unwrap_or(0);
    if bytes > header.unpacked { Err(contradiction()) } else { Ok(()) }
}

/// What the header of a page says that counts here.
#[derive(Debug, Default, PartialEq, Eq)]
struct Header {
    unpacked: u64,
    packed: u64,
    values: u64,
    is_dictionary: bool,
    shares_beginnings: bool,
    has_lengths: bool,
    /// Bytes in front that are not packed, of two sorts.
    levels: [u64; 2],
}

impl Header {
    /// The header at `start`, and how long it is. It has at most `most` bytes.
    fn read(file: &impl ChunkReader, start: u64, most: u64) -> Result<(Self, u64)> {
        let mut reader = HeaderReader { from: file.get_read(start)?.take(most), header: Header::default() };
        reader.structure(PAGE, 0)?;
        Ok((reader.header, most - reader.from.limit()))
    }

    /// Takes a number from a field of the page, or of the part of the header that only pages of its sort have.
    fn take(&mut self, part: i64, field: i64, number: i64) -> Result<()> {
        let size = || u64::try_from(number).map_err(|_| contradiction());
        match (part, field) {
            (PAGE, 2) => self.unpacked = size()?,
            (PAGE, 3) => self.packed = size()?,
            // A header may have several parts; the page is read by the one that asks for most.
            (DATA | DICTIONARY | SECOND_DATA, 1) => {
                self.values = self.values.max(size()?);
                self.is_dictionary |= part == DICTIONARY;
            }
            (DATA, 2) | (SECOND_DATA, 4) => {
                self.shares_beginnings |= number == DELTA_BYTE_ARRAY;
                self.has_lengths |= matches!(number, DELTA_BYTE_ARRAY | DELTA_LENGTH_BYTE_ARRAY);
            }
            (SECOND_DATA, 5 | 6) => self.levels[field as usize - 5] = size()?,
            _ => {}
        }
        Ok(())
    }

    /// Bytes that the page takes once it is read. A value takes one, even where a few bytes say that it repeats a thousand times; in
    /// a dictionary each is held apart.
    fn memory(&self) -> u64 {
        let of_value = if self.is_dictionary { size_of::<ByteArray>() as u64 } else { 1 };
        HEADER.saturating_add(self.unpacked).saturating_add(self.values.saturating_mul(of_value))
    }
}

/// The header itself, and the fields of it that hold its parts.
const PAGE: i64 = 0;
const DATA: i64 = 5;
const DICTIONARY: i64 = 7;
const SECOND_DATA: i64 = 8;

/// Reads Thrift's compact protocol, in which headers are written: a few numbers, and past all else.
struct HeaderReader<R> {
    from: Take<R>,
    header: Header,
}

impl<R: Read> HeaderReader<R> {
    /// The fields of a structure that is this part of the header, or of one further down.
    fn structure(&mut self, part: i64, depth: usize) -> Result<()> {
        let mut field = 0;
        loop {
            let byte = self.byte()?;
            let (step, form) = (i64::from(byte >> 4), byte & 15);
            if form == 0 {
                return Ok(());
            }
            field = if step == 0 { self.signed()? } else { field + step };
            match form {
                // A number of 32 bits.
                5 if depth < 2 => {
                    let number = self.signed()?;
                    self.header.take(part, field, number)?;
                }
                12 if depth == 0 => self.structure(field, 1)?,
                // The form says true or false.
                1 | 2 => {}
                _ => self.pass(form, depth)?,
            }
        }
    }

    /// Passes over a value.
    fn pass(&mut self, form: u8, depth: usize) -> Result<()> {
        if depth > DEPTH {
            return Err(contradiction());
        }
        match form {
            1..=3 => self.byte().map(drop),
            4..=6 => self.signed().map(drop),
            7 => self.skip(8),
            8 => {
                let bytes = self.unsigned()?;
                self.skip(bytes)
            }
            9 | 10 => {
                let byte = self.byte()?;
                let count = if byte >> 4 == 15 { self.unsigned()? } else { u64::from(byte >> 4) };
                (0..count).try_for_each(|_| self.pass(byte & 15, depth + 1))
            }
            12 => self.structure(-1, depth + 2),
            _ => Err(contradiction()),
        }
    }

    fn skip(&mut self, bytes: u64) -> Result<()> {
        let skipped = io::copy(&mut self.from.by_ref().take(bytes), &mut io::sink())?;
        if skipped == bytes { Ok(()) } else { Err(contradiction()) }
    }

    fn byte(&mut self) -> Result<u8> {
        let mut byte = [0];
        self.from.read_exact(&mut byte)?;
        Ok(byte[0])
    }

    fn unsigned(&mut self) -> Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(number);
            }
        }
        Err(contradiction())
    }

    fn signed(&mut self) -> Result<i64> {
        let number = self.unsigned()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Write;
    use std::sync::Arc;

    use bytes::Bytes;
    use parquet::column::writer::ColumnWriter;
    use parquet::data_type::ByteArray;
    use parquet::file::metadata::{FileMetaData, ParquetMetaDataReader, ParquetMetaDataWriter};
    use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    use parquet::schema::types::SchemaDescriptor;

    use super::*;

    const MOST: u64 = 64 << 20;
    const SCHEMA: &str = "message table { required binary words (utf8); }";

    /// What a writer may choose.
    fn choices() -> impl Iterator<Item = WriterProperties> {
        let versions = [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0];
        let codecs = [Compression::UNCOMPRESSED, Compression::GZIP(Default::default()), Compression::LZ4_RAW];
        versions.into_iter().flat_map(move |version| codecs.map(|codec| (version, codec))).map(|(version, codec)| {
            let builder = WriterProperties::builder().set_writer_version(version).set_compression(codec);
            let builder =
                builder.set_statistics_enabled(EnabledStatistics::Page).set_write_page_header_statistics(true);
            builder.set_dictionary_enabled(version == WriterVersion::PARQUET_1_0).set_data_page_size_limit(500).build()
        })
    }

    pub(in super::super) fn written(properties: WriterProperties, texts: &[ByteArray]) -> Bytes {
        let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
        let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        match column.untyped() {
            ColumnWriter::ByteArrayColumnWriter(column) => column.write_batch(texts, None, None).unwrap(),
            _ => unreachable!("there are no other columns"),
        };
        column.close().unwrap();
        group.close().unwrap();
        writer.into_inner().unwrap().into()
    }

    fn about(file: &Bytes) -> ParquetMetaData {
        ParquetMetaDataReader::new().parse_and_finish(file).unwrap()
    }

    #[test]
    fn headers_add_up_to_what_an_honest_footer_says() {
        let texts: Vec<ByteArray> = (0..3000).map(|row| format!("text {row}").as_str().into()).collect();
        for properties in choices() {
            let file = written(properties, &texts);
            let about = about(&file);
            let column = about.row_group(0).column(0);
            let (mut start, bytes) = column.byte_range();
            let (end, mut unpacked, mut values) = (start + bytes, 0, 0);
            while start < end {
                let (header, length) = Header::read(&file, start, end - start).unwrap();
                start += length + header.packed;
                unpacked += length + header.unpacked;
                values += if header.is_dictionary { 0 } else { header.values };
            }
            assert_eq!((start, values), (end, 3000));
            assert_eq!(unpacked, column.uncompressed_size() as u64);
            assert!(Pages::of(&file, &about, MOST).unwrap().is_some());
            assert!(Pages::of(&file, &about, unpacked - 1).unwrap().is_none());
        }
    }

    /// A field with a number: how far after the last one, and the number.
    fn field(step: u8, number: i32) -> Vec<u8> {
        let (mut bytes, mut left) = (vec![step << 4 | 5], ((number << 1) ^ (number >> 31)) as u32);
        while left > 127 {
            bytes.push(left as u8 | 128);
            left >>= 7;
        }
        bytes.push(left as u8);
        bytes
    }

    /// A page of plain values: of texts, or of a dictionary.
    fn page(is_dictionary: bool, unpacked: i32, values: i32, packed: &[u8]) -> Vec<u8> {
        if !is_dictionary {
            return page_of(0, unpacked, values, packed);
        }
        let header = [field(1, 2), field(1, unpacked), field(1, packed.len() as i32), vec![0x4c]].concat();
        [&header, &field(1, values), &field(1, 0), &[0, 0][..], packed].concat()
    }

    /// A page of texts in an encoding.
    pub(in super::super) fn page_of(encoding: i32, unpacked: i32, values: i32, packed: &[u8]) -> Vec<u8> {
        let header = [field(1, 0), field(1, unpacked), field(1, packed.len() as i32), vec![0x2c]].concat();
        let levels = [field(1, 3), field(1, 3)].concat();
        [&header, &field(1, values), &field(1, encoding), &levels, &[0, 0][..], packed].concat()
    }

    /// A file of one page whose footer says that it is small.
    pub(in super::super) fn file_of(page: &[u8], codec: Compression) -> Bytes {
        let schema = Arc::new(SchemaDescriptor::new(Arc::new(parse_message_type(SCHEMA).unwrap())));
        let column = ColumnChunkMetaData::builder(schema.column(0)).set_compression(codec).set_num_values(1);
        let column = column.set_data_page_offset(4).set_total_compressed_size(page.len() as i64);
        let column = column.set_total_uncompressed_size(20).build().unwrap();
        let group = RowGroupMetaData::builder(Arc::clone(&schema)).set_num_rows(1).set_total_byte_size(20);
        let group = group.set_column_metadata(vec![column]).build().unwrap();
        let about = ParquetMetaData::new(FileMetaData::new(1, 1, None, None, schema, None), vec![group]);
        let mut bytes = [b"PAR1", page].concat();
        ParquetMetaDataWriter::new(&mut bytes, &about).finish().unwrap();
        bytes.into()
    }

    #[test]
    fn what_headers_ask_for_counts_whatever_the_footer_says() {
        for codec in [Compression::SNAPPY, Compression::ZSTD(Default::default()), Compression::LZ4] {
            let file = file_of(&page(false, 512 << 20, 1, b"12345678"), codec);
            assert_eq!(Pages::of(&file, &about(&file), MOST).unwrap(), None, "{codec}");
        }
        let file = file_of(&page(true, 100, i32::MAX, b"12345678"), Compression::SNAPPY);
        assert_eq!(Pages::of(&file, &about(&file), MOST).unwrap(), None, "a dictionary of two thousand million");
        let file = file_of(&page(false, 100, 1, b"12345678"), Compression::SNAPPY);
        assert_eq!(
            Pages::of(&file, &about(&file), MOST).unwrap(),
            Some(Pages { batch: BATCH, with_lengths: Vec::new() })
        );
    }

    #[test]
    fn a_page_that_unpacks_to_more_than_its_header_says_is_refused() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packed.write_all(&[0; 100_000]).unwrap();
        let packed = packed.finish().unwrap();
        for (said, is_read) in [(100_000, true), (99_999, false)] {
            let file = file_of(&page(false, said, 1, &packed), Compression::GZIP(Default::default()));
            assert_eq!(Pages::of(&file, &about(&file), MOST).is_ok(), is_read, "{said}");
        }
    }

    #[test]
    fn a_header_without_an_end_is_an_error() {
        let whole = page(false, 100, 1, b"12345678");
        for length in 1..whole.len() - 1 {
            let file = file_of(&whole[..length], Compression::SNAPPY);
            assert!(Pages::of(&file, &about(&file), MOST).is_err(), "{length}");
        }
        let lists = [&[0x19; 100_000][..], &[0; 8]].concat();
        let file = file_of(&lists, Compression::SNAPPY);
        assert!(Pages::of(&file, &about(&file), MOST).is_err());
    }
}
