//! How much a file may ask for. A small file that unpacks to a large one, or a cell without end, is an error and not the end of
//! all memory.

use std::borrow::BorrowMut;
use std::fmt;
use std::io::{self, BufRead, Read};

/// How much input may ask for, whatever its format. Tables in memory are as large as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a cell.
    pub cell: usize,
    /// Bytes of a line of text, all of its cells together.
    pub line: usize,
    /// Columns of a table.
    pub columns: usize,
    /// Attribute columns of arrays.
    pub attributes: usize,
    /// Bytes that are read from a pipe, which are kept in memory.
    pub pipe: u64,
    /// Bytes that a packed file may always unpack to.
    pub unpacked: u64,
    /// Beyond these, how many times its own size a packed file may unpack to.
    pub expansion: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            cell: 16 << 20,
            line: 64 << 20,
            columns: 100_000,
            attributes: 1 << 26,
            pipe: 1 << 30,
            unpacked: 64 << 20,
            expansion: 200,
        }
    }
}

impl Limits {
    /// The same with another limit of a cell; a line may have four such cells.
    pub fn with_cell(self, bytes: usize) -> Self {
        Limits { cell: bytes, line: bytes.saturating_mul(4).max(self.line), ..self }
    }

    /// What a file of `packed` bytes may unpack to.
    pub(in crate::load) fn most_unpacked(&self, packed: u64) -> u64 {
        packed.saturating_mul(self.expansion).max(self.unpacked)
    }
}

/// So many bytes or a little more, in the largest unit that says it well enough: exactly, or in two digits.
pub(in crate::load) fn bytes_in_words(bytes: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(unit, _)| bytes >= 10 * unit || (bytes >= *unit && bytes.is_multiple_of(*unit))) {
        Some((unit, name)) => format!("{} {name}", bytes / unit),
        None => format!("{bytes} bytes"),
    }
}

/// What is unpacked, up to a limit: a number of bytes, or what is left of one that several share.
pub(in crate::load) struct Unpacking<R, L> {
    from: R,
    left: L,
}

/// The error of [`Unpacking`]; it travels through readers that know only errors of the system.
#[derive(Debug)]
pub(in crate::load) struct UnpacksTooFar;

impl fmt::Display for UnpacksTooFar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it unpacks to more than it may")
    }
}

impl std::error::Error for UnpacksTooFar {}

impl UnpacksTooFar {
    /// Whether this is what an error of the system stands for.
    pub fn is(error: &io::Error) -> bool {
        error.get_ref().is_some_and(|inner| inner.is::<UnpacksTooFar>())
    }
}

impl<R: Read, L: BorrowMut<u64>> Unpacking<R, L> {
    /// At most as many bytes as are left.
    pub fn most(from: R, left: L) -> Self {
        Unpacking { from, left }
    }
}

impl<R: Read, L: BorrowMut<u64>> Read for Unpacking<R, L> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        let left = self.left.borrow_mut();
        *left = left.checked_sub(read as u64).ok_or_else(|| io::Error::other(UnpacksTooFar))?;
        Ok(read)
    }
}

/// Adds a line with its break to `bytes`; says so, and stops, where it has more than `most` bytes.
pub(in crate::load) fn read_line(
    text: &mut dyn BufRead,
    most: usize,
    bytes: &mut Vec<u8>,
) -> io::Result<Result<usize, LongLine>> {
    let read = text.take(most as u64 + 1).read_until(b'\n', bytes)?;
    Ok(if read > most { Err(LongLine) } else { Ok(read) })
}

/// A line is longer than it may be.
pub(in crate::load) struct LongLine;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_unpacks_too_far_is_stopped_and_known_as_such() {
        let mut text = String::new();
        assert_eq!(Unpacking::most(&b"12345"[..], 5).read_to_string(&mut text).unwrap(), 5);
        let error = Unpacking::most(&b"123456"[..], 5).read_to_string(&mut text).unwrap_err();
        assert!(UnpacksTooFar::is(&error) && !UnpacksTooFar::is(&io::Error::other("something else")));
        let mut left = 8;
        assert!(Unpacking::most(&b"12345"[..], &mut left).read_to_string(&mut text).is_ok());
        assert!(Unpacking::most(&b"12345"[..], &mut left).read_to_string(&mut text).is_err());
    }

    #[test]
    fn a_small_file_may_unpack_to_some_bytes_and_a_large_one_to_a_multiple_of_its_own() {
        let limits = Limits::default();
        assert_eq!(limits.most_unpacked(17_000), 64 << 20);
        assert_eq!(limits.most_unpacked(1 << 20), 200 << 20);
        assert_eq!(limits.most_unpacked(u64::MAX), u64::MAX);
    }

    #[test]
    fn bytes_are_told_in_the_largest_unit() {
        let words = [16 << 20, 1 << 30, 1500, 2048, 1_252_827_800].map(bytes_in_words);
        assert_eq!(words, ["16 MiB", "1 GiB", "1500 bytes", "2 KiB", "1194 MiB"]);
    }
}
