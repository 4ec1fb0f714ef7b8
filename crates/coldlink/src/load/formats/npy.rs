//! One numpy array as bytes: its header, its numbers, and how to write one.

use std::io::{self, Read, Write};
use std::path::Path;

use crate::load::error::{ArrayProblem, LoadError};
use crate::load::limits::UnpacksTooFar;
use crate::storage::write_atomically;

/// Longer headers are those of records with hundreds of fields, which are not read anyway.
const LONGEST_HEADER: u32 = 1 << 16;

/// An array of numbers in row-major order, not yet converted.
pub(in crate::load) struct Array {
    pub shape: Vec<usize>,
    number: Number,
    bytes: Vec<u8>,
}

/// How one number is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Number {
    kind: Kind,
    size: usize,
    big_endian: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Unsigned,
    Signed,
    Float,
}

impl Array {
    /// Reads an array of numbers to its end. Memory follows what can be read, not what the header claims.
    pub fn read(mut reader: impl Read) -> Result<Self, ArrayProblem> {
        let header = read_header(&mut reader)?;
        let (dtype, fortran_order, shape) = parse_header(&header)?;
        let number = Number::parse(dtype)?;
        let expected =
            bytes_of(&shape, number.size).ok_or(ArrayProblem::Header { reason: "its shape is too large" })?;
        let mut bytes = Vec::new();
        // One byte more than expected: it must not be there, and at the end the archive checks its checksum.
        reader.take(expected.saturating_add(1)).read_to_end(&mut bytes).map_err(damaged)?;
        if bytes.len() as u64 != expected {
            return Err(ArrayProblem::Length { expected, found: bytes.len() as u64 });
        }
        if fortran_order {
            bytes = row_major(&shape, number.size, bytes)?;
        }
        Ok(Array { shape, number, bytes })
    }

    /// The numbers as 64-bit floating point.
    pub fn floats(&self) -> Vec<f64> {
        self.words().map(|word| self.number.float(word)).collect()
    }

    /// The numbers as whole ones, where they are.
    pub fn integers(&self) -> Result<Vec<i64>, ArrayProblem> {
        let whole = |(entry, word)| {
            let not_whole = || ArrayProblem::NotWhole { entry, value: self.number.float(word) };
            self.number.integer(word).ok_or_else(not_whole)
        };
        self.words().enumerate().map(whole).collect()
    }

    fn words(&self) -> impl Iterator<Item = u64> + '_ {
        self.bytes.chunks_exact(self.number.size).map(|bytes| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            if self.number.big_endian {
                word[..bytes.len()].reverse();
            }
            u64::from_le_bytes(word)
        })
    }
}

impl Number {
    /// From numpy's notation: byte order, kind, bytes; as `<f8`.
    fn parse(dtype: &str) -> Result<Self, ArrayProblem> {
        let unknown = || ArrayProblem::Type { dtype: dtype.chars().take(40).collect() };
        let (order, rest) = match dtype.strip_prefix(['<', '>', '|', '=']) {
            Some(rest) => (dtype.as_bytes()[0], rest),
            None => (b'=', dtype),
        };
        let kind = match rest.as_bytes().first() {
            Some(b'b' | b'u') => Kind::Unsigned,
            Some(b'i') => Kind::Signed,
            Some(b'f') => Kind::Float,
            Some(b'O') => return Err(ArrayProblem::Pickled),
            _ => return Err(unknown()),
        };
        let size = match &rest[1..] {
            "1" if kind != Kind::Float => 1,
            "2" => 2,
            "4" => 4,
            "8" => 8,
            _ => return Err(unknown()),
        };
        Ok(Number { kind, size, big_endian: order == b'>' })
    }

    fn float(self, word: u64) -> f64 {
        match (self.kind, self.size) {
            (Kind::Unsigned, _) => word as f64,
            (Kind::Signed, _) => self.signed(word) as f64,
            (Kind::Float, 2) => half(word as u16),
            (Kind::Float, 4) => f32::from_bits(word as u32).into(),
            (Kind::Float, _) => f64::from_bits(word),
        }
    }

    fn integer(self, word: u64) -> Option<i64> {
        match self.kind {
            Kind::Unsigned => i64::try_from(word).ok(),
            Kind::Signed => Some(self.signed(word)),
            Kind::Float => {
                let value = self.float(word);
                (value.fract() == 0.0 && value.abs() < i64::MAX as f64).then_some(value as i64)
            }
        }
    }

    /// Copies the sign bit upwards.
    fn signed(self, word: u64) -> i64 {
        let unused = 64 - 8 * self.size;
        ((word << unused) as i64) >> unused
    }
}

/// IEEE 754 binary16: 1 sign, 5 exponent and 10 fraction bits.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from(bits >> 10 & 0x1f);
    let fraction = f64::from(bits & 0x3ff) / 1024.0;
    sign * match exponent {
        0 => fraction * 2_f64.powi(-14),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction) * 2_f64.powi(exponent - 15),
    }
}

fn read_header(reader: &mut impl Read) -> Result<String, ArrayProblem> {
    let mut start = [0; 8];
    reader.read_exact(&mut start).map_err(damaged)?;
    if &start[..6] != b"\x93NUMPY" {
        return Err(ArrayProblem::Header { reason: "it does not start with NumPy's magic bytes" });
    }
    let mut length = [0; 4];
    let length_bytes = match start[6] {
        1 => 2,
        2 | 3 => 4,
        _ => return Err(ArrayProblem::Header { reason: "its format version is not 1, 2 or 3" }),
    };
    reader.read_exact(&mut length[..length_bytes]).map_err(damaged)?;
    let length = u32::from_le_bytes(length);
    if length > LONGEST_HEADER {
        return Err(ArrayProblem::Header { reason: "it is too long" });
    }
    let mut header = String::new();
    reader.take(length.into()).read_to_string(&mut header).map_err(damaged)?;
    Ok(header)
}

/// Type, whether columns come first, and shape, from a Python dictionary as numpy prints it.
fn parse_header(header: &str) -> Result<(&str, bool, Vec<usize>), ArrayProblem> {
    let wrong = |reason| ArrayProblem::Header { reason };
    let dtype = value_of(header, "descr").ok_or(wrong("it has no `descr`"))?;
    let dtype = match dtype.chars().next() {
        Some(quote @ ('\'' | '"')) => dtype[1..].split_once(quote).ok_or(wrong("its `descr` does not end"))?.0,
        _ => return Err(ArrayProblem::Type { dtype: "a record".into() }),
    };
    let fortran_order =
        value_of(header, "fortran_order").ok_or(wrong("it has no `fortran_order`"))?.starts_with("True");
    let shape = value_of(header, "shape").ok_or(wrong("it has no `shape`"))?;
    let inside =
        shape.strip_prefix('(').and_then(|shape| shape.split_once(')')).ok_or(wrong("its shape is not a tuple"))?.0;
    let lengths =
        inside.split(',').map(|length| length.trim().trim_end_matches('L')).filter(|length| !length.is_empty());
    let shape =
        lengths.map(str::parse).collect::<Result<_, _>>().map_err(|_| wrong("its shape has no whole numbers"))?;
    Ok((dtype, fortran_order, shape))
}

/// What follows `'key':`.
fn value_of<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let after_key = ['\'', '"'].iter().find_map(|quote| header.split_once(&format!("{quote}{key}{quote}")))?.1;
    Some(after_key.trim_start().strip_prefix(':')?.trim_start())
}

fn bytes_of(shape: &[usize], size: usize) -> Option<u64> {
    let bytes = shape.iter().try_fold(size, |bytes, &length| bytes.checked_mul(length))?;
    u64::try_from(bytes).ok()
}

/// Columns-first data with its rows first, as `x.T` of numpy is stored.
fn row_major(shape: &[usize], size: usize, bytes: Vec<u8>) -> Result<Vec<u8>, ArrayProblem> {
    let &[rows, columns] = shape else {
        return match shape.len() {
            0 | 1 => Ok(bytes),
            _ => Err(ArrayProblem::Shape { expected: "at most 2 dimensions".into(), found: shape.to_vec() }),
        };
    };
    let mut turned = Vec::with_capacity(bytes.len());
    for row in 0..rows {
        for column in 0..columns {
            let start = (column * rows + row) * size;
            turned.extend_from_slice(&bytes[start..start + size]);
        }
    }
    Ok(turned)
}

fn damaged(error: io::Error) -> ArrayProblem {
    if UnpacksTooFar::is(&error) {
        // Whoever gave the limit knows it.
        return ArrayProblem::UnpacksTooFar { most: 0 };
    }
    ArrayProblem::Damaged { reason: error.to_string() }
}

/// Writes `rows` times `columns` numbers, row by row, as a `.npy` file that appears whole or not at all.
pub fn write_npy_f32(path: &Path, rows: usize, columns: usize, values: &[f32]) -> Result<(), LoadError> {
    let write = |writer: &mut dyn Write| {
        if rows.checked_mul(columns) != Some(values.len()) {
            let reason = format!("expected {rows} x {columns} numbers, got {}", values.len());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        writer.write_all(&npy_start("<f4", &format!("({rows}, {columns})")))?;
        values.iter().try_for_each(|value| writer.write_all(&value.to_le_bytes()))
    };
    write_atomically(path, |file| write(file)).map_err(|source| LoadError::Write { path: path.to_owned(), source })
}

/// All of a version 1 file that comes before the numbers: a multiple of 64 bytes.
pub(in crate::load) fn npy_start(dtype: &str, shape: &str) -> Vec<u8> {
    let header = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}");
    let padded = (10 + header.len() + 1).next_multiple_of(64) - 11;
    let mut start = b"\x93NUMPY\x01\x00".to_vec();
    start.extend_from_slice(&(padded as u16 + 1).to_le_bytes());
    start.extend_from_slice(format!("{header:padded$}\n").as_bytes());
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(dtype: &str, shape: &str, data: &[u8]) -> Result<Array, ArrayProblem> {
        Array::read([&npy_start(dtype, shape), data].concat().as_slice())
    }

    #[test]
    fn every_usual_type_of_number_is_read() {
        let check = |dtype: &str, data: &[u8], expected: &[f64]| {
            let array = array(dtype, "(2,)", data).unwrap();
            assert_eq!((array.shape.as_slice(), array.floats().as_slice()), (&[2][..], expected), "{dtype}");
            let integers: Vec<i64> = expected.iter().map(|&value| value as i64).collect();
            assert_eq!(array.integers().unwrap(), integers, "{dtype}");
        };
        check("|b1", &[0, 1], &[0.0, 1.0]);
        check("|u1", &[7, 255], &[7.0, 255.0]);
        check("|i1", &[7, 255], &[7.0, -1.0]);
        check("<i2", &[1, 0, 254, 255], &[1.0, -2.0]);
        check(">i2", &[0, 1, 255, 254], &[1.0, -2.0]);
        check("<u4", &[[1, 0, 0, 0], [0, 0, 0, 128]].concat(), &[1.0, 2_147_483_648.0]);
        check("<i8", &[1_i64.to_le_bytes(), (-3_i64).to_le_bytes()].concat(), &[1.0, -3.0]);
        check(">u8", &[1_u64.to_be_bytes(), 9_u64.to_be_bytes()].concat(), &[1.0, 9.0]);
        check("<f2", &[0x00, 0x3c, 0x00, 0xc4], &[1.0, -4.0]);
        check("<f4", &[1_f32.to_le_bytes(), (-3_f32).to_le_bytes()].concat(), &[1.0, -3.0]);
        check(">f8", &[1_f64.to_be_bytes(), (-3_f64).to_be_bytes()].concat(), &[1.0, -3.0]);
    }

    #[test]
    fn half_precision_follows_the_standard() {
        assert_eq!(half(0x3555), 0.333251953125);
        assert_eq!((half(0x0001), half(0x7bff)), (2_f64.powi(-24), 65504.0));
        assert_eq!(half(0xfc00), f64::NEG_INFINITY);
        assert!(half(0x7e00).is_nan());
    }

    #[test]
    fn a_shape_that_the_data_does_not_fill_is_an_error() {
        let check = |shape: &str, data: &[u8]| array("|u1", shape, data).err().unwrap();
        assert_eq!(check("(3,)", &[1, 2]), ArrayProblem::Length { expected: 3, found: 2 });
        assert_eq!(check("(1,)", &[1, 2, 3]), ArrayProblem::Length { expected: 1, found: 2 });
        let huge = "(4611686018427387904,)";
        assert_eq!(check(huge, &[1]), ArrayProblem::Length { expected: 1 << 62, found: 1 });
        let overflow = "(4611686018427387904, 4611686018427387904)";
        assert!(matches!(check(overflow, &[1]), ArrayProblem::Header { .. }));
    }

    #[test]
    fn what_is_no_array_of_numbers_is_refused() {
        assert_eq!(array("|O", "(1,)", &[0]).err(), Some(ArrayProblem::Pickled));
        assert_eq!(array("<U3", "(0,)", &[]).err(), Some(ArrayProblem::Type { dtype: "<U3".into() }));
        assert!(matches!(Array::read(&b"PK"[..]), Err(ArrayProblem::Damaged { .. })));
        assert!(matches!(Array::read(&b"\x93NUMPY\x02\0\xff\xff\xff\xff"[..]), Err(ArrayProblem::Header { .. })));
    }

    #[test]
    fn whole_numbers_are_not_made_up() {
        let array = array("<f4", "(1,)", &0.5_f32.to_le_bytes()).unwrap();
        assert_eq!(array.integers(), Err(ArrayProblem::NotWhole { entry: 0, value: 0.5 }));
    }

    #[test]
    fn columns_first_is_turned() {
        let header = b"{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}";
        let file =
            [b"\x93NUMPY\x02\x00", &(header.len() as u32).to_le_bytes()[..], header, &[1, 4, 2, 5, 3, 6]].concat();
        assert_eq!(Array::read(file.as_slice()).unwrap().integers().unwrap(), [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("embedding.npy");
        write_npy_f32(&path, 2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.5]).unwrap();
        let array = Array::read(std::fs::File::open(&path).unwrap()).unwrap();
        assert_eq!(
            (array.shape.as_slice(), array.floats().as_slice()),
            (&[2, 3][..], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.5][..])
        );
        assert!(matches!(write_npy_f32(&path, 2, 2, &[1.0]), Err(LoadError::Write { .. })));
    }
}
