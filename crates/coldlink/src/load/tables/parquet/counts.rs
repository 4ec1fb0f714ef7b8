//! How many values the data of pages claim for themselves: the reader takes memory for as many lengths as the data say there are, so
//! these are read before it.

use parquet::basic::Encoding;
use parquet::column::page::Page;
use parquet::errors::Result;
use parquet::file::reader::FileReader;
use parquet::schema::types::ColumnDescriptor;

use super::pages::contradiction;

/// Fails where a page claims more values than its header. `columns` are those with lengths, by their groups of rows.
pub(super) fn check(reader: &dyn FileReader, columns: &[(usize, usize)]) -> Result<()> {
    for &(group, place) in columns {
        let mut pages = reader.get_row_group(group)?.get_column_page_reader(place)?;
        let column = reader.metadata().row_group(group).column(place).column_descr();
        while let Some(page) = pages.get_next_page()? {
            if matches!(page.encoding(), Encoding::DELTA_LENGTH_BYTE_ARRAY | Encoding::DELTA_BYTE_ARRAY) {
                check_page(&page, column)?;
            }
        }
    }
    Ok(())
}

fn check_page(page: &Page, column: &ColumnDescriptor) -> Result<()> {
    let mut data = Data(page.buffer());
    match page {
        Page::DataPage { .. } => {
            for most in [column.max_rep_level(), column.max_def_level()] {
                if most > 0 {
                    let length = data.take(4)?.try_into().map_err(|_| contradiction())?;
                    data.take(u64::from(u32::from_le_bytes(length)))?;
                }
            }
        }
        Page::DataPageV2 { def_levels_byte_len, rep_levels_byte_len, .. } => {
            data.take(u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len))?;
        }
        Page::DictionaryPage { .. } => return Ok(()),
    }
    let values = u64::from(page.num_values());
    // A text that shares its beginning has the length of that as well.
    let lists = if page.encoding() == Encoding::DELTA_BYTE_ARRAY { 2 } else { 1 };
    (0..lists).try_for_each(|_| data.pass_numbers(values))
}

/// What is left of a page's data.
struct Data<'a>(&'a [u8]);

impl<'a> Data<'a> {
    /// Passes over a list of numbers that are packed as differences, which must not be more than `most`.
    fn pass_numbers(&mut self, most: u64) -> Result<()> {
        let (in_block, parts, count, _first) = (self.number()?, self.number()?, self.number()?, self.number()?);
        let in_part = in_block.checked_div(parts).filter(|values| *values > 0).ok_or_else(contradiction)?;
        if count > most {
            return Err(contradiction());
        }
        let mut left = count.saturating_sub(1);
        while left > 0 {
            let _least = self.number()?;
            let widths = self.take(parts)?;
            for &width in widths {
                if left == 0 {
                    break;
                }
                self.take(in_part.checked_mul(u64::from(width)).ok_or_else(contradiction)? / 8)?;
                left = left.saturating_sub(in_part);
            }
        }
        Ok(())
    }

    fn number(&mut self) -> Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            number |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(number);
            }
        }
        Err(contradiction())
    }

    fn take(&mut self, bytes: u64) -> Result<&'a [u8]> {
        let end = usize::try_from(bytes).ok().filter(|end| *end <= self.0.len()).ok_or_else(contradiction)?;
        let (taken, rest) = self.0.split_at(end);
        self.0 = rest;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use parquet::basic::Compression;
    use parquet::data_type::ByteArray;
    use parquet::file::metadata::ParquetMetaDataReader;
    use parquet::file::properties::{WriterProperties, WriterVersion};
    use parquet::file::reader::SerializedFileReader;

    use super::super::pages::Pages;
    use super::super::pages::tests::{file_of, page_of, written};
    use super::*;

    fn is_sound(file: Bytes) -> bool {
        let about = ParquetMetaDataReader::new().parse_and_finish(&file).unwrap();
        let pages = Pages::of(&file, &about, 1 << 30).unwrap().unwrap();
        assert_eq!(pages.with_lengths, [(0, 0)]);
        check(&SerializedFileReader::new(file).unwrap(), &pages.with_lengths).is_ok()
    }

    #[test]
    fn what_writers_write_is_sound() {
        let texts: Vec<ByteArray> = (0..3000).map(|row| format!("text {row}").as_str().into()).collect();
        for encoding in [Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BYTE_ARRAY] {
            for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
                let properties = WriterProperties::builder().set_writer_version(version).set_encoding(encoding);
                let properties = properties.set_dictionary_enabled(false).set_compression(Compression::SNAPPY);
                assert!(is_sound(written(properties.build(), &texts)), "{encoding} {version:?}");
            }
        }
    }

    #[test]
    fn data_that_claim_more_values_than_their_page_has_are_refused() {
        // 128 numbers in a block of 4 parts, a count of 2⁴⁰, and the first number.
        let many = [128, 1, 4, 128, 128, 128, 128, 128, 32, 0];
        let one = [128, 1, 4, 1, 6, b'a', b'b', b'c'];
        let after_one = [&one[..5], &many].concat();
        for (encoding, data, expected) in
            [(6, &one[..], true), (6, &many, false), (7, &many, false), (7, &after_one, false)]
        {
            let file = file_of(&page_of(encoding, data.len() as i32, 1, data), Compression::UNCOMPRESSED);
            assert_eq!(is_sound(file), expected, "{encoding} {data:?}");
        }
        let cut = [128, 1, 4, 3, 0, 2, 9];
        let file = file_of(&page_of(6, 7, 3, &cut), Compression::UNCOMPRESSED);
        assert!(!is_sound(file), "cut off");
    }
}
