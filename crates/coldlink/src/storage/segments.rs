//! Segments: what is added to a file of ours without writing the file anew.
//!
//! ```text
//! the file as it was written | zeros up to a whole page | a page with two marks | segment | segment | …
//! ```
//!
//! A segment is a container like the file itself. A mark says where the last segment ends, and a checksum of all checksums up to
//! there. Marks are written in turn, each after what it speaks of is on disk. So whoever opens the file sees an addition as a whole or
//! not at all: what lies behind the newest mark's end was never finished. Nothing before that end is ever written again, except for
//! the other mark, so that files can be mapped while something is added to them.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::Lock;
use super::container::Head;

/// Marks and the first segment start at multiples of this.
const PAGE: u64 = 4096;
/// Bytes of a mark.
const MARK: usize = 32;
/// Where segments start, and in each the first section and every row of a matrix.
pub(super) const ALIGNMENT: usize = 64;

/// How far a file goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    /// The newer of two has the larger one.
    turn: u64,
    /// Where the last segment ends.
    end: u64,
    /// See [`chained`].
    chain: u64,
}

impl Mark {
    fn to_bytes(self) -> [u8; MARK] {
        let mut bytes = [0; MARK];
        for (out, number) in bytes.chunks_exact_mut(8).zip([self.turn, self.end, self.chain]) {
            out.copy_from_slice(&number.to_le_bytes());
        }
        let check = xxh3_64(&bytes[..MARK - 8]);
        bytes[MARK - 8..].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut numbers = bytes.chunks_exact(8).map(|number| u64::from_le_bytes(number.try_into().expect("8 bytes")));
        let mut next = || numbers.next();
        let mark = Mark { turn: next()?, end: next()?, chain: next()? };
        (mark.to_bytes() == bytes).then_some(mark)
    }
}

/// The checksum of a file and its segments up to one with this checksum.
pub(super) fn chained(chain: u64, checksum: u64) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(&chain.to_le_bytes());
    hash.update(&checksum.to_le_bytes());
    hash.digest()
}

/// Where the parts of a file lie to which something was added, or was about to be.
#[derive(Debug)]
pub(super) struct Segments {
    head: Head,
    /// Where the marks are.
    page: u64,
    newest: Option<Mark>,
}

/// Why it cannot be said.
#[derive(Debug)]
pub(super) enum Unclear {
    Io(io::Error),
    Damaged(String),
}

impl From<io::Error> for Unclear {
    fn from(error: io::Error) -> Self {
        Unclear::Io(error)
    }
}

impl Segments {
    /// Of a file; none where it ends with what was written first, or is none of ours.
    pub fn of(file: &File) -> Result<Option<Self>, Unclear> {
        let length = file.metadata()?.len();
        let Some(head) = Head::of(file)? else { return Ok(None) };
        let Some(page) = page(&head).filter(|page| length > page + PAGE) else { return Ok(None) };
        let mut marks = [0; 2 * MARK];
        read_at(file, page, &mut marks)?;
        let mut newest: Option<Mark> = None;
        for bytes in marks.chunks_exact(MARK).filter(|bytes| bytes.iter().any(|byte| *byte != 0)) {
            let mark = Mark::from_bytes(bytes).filter(|mark| mark.end > page + PAGE);
            let mark =
                mark.ok_or_else(|| Unclear::Damaged("a mark behind it says nothing that makes sense".to_owned()))?;
            newest = newest.into_iter().chain([mark]).max_by_key(|mark| mark.turn);
        }
        if let Some(missing) = newest.and_then(|mark| mark.end.checked_sub(length)).filter(|missing| *missing > 0) {
            return Err(Unclear::Damaged(format!("it is cut off: {missing} bytes are missing")));
        }
        Ok(Some(Segments { head, page, newest }))
    }

    /// The bytes of the file as it was written first.
    pub fn first(&self) -> Range<u64> {
        0..self.head.length
    }

    /// The bytes of all segments, and the chain at their end; none where none was finished.
    pub fn later(&self) -> Option<(Range<u64>, u64)> {
        self.newest.map(|mark| (self.page + PAGE..mark.end, mark.chain))
    }
}

/// Where the marks are, or would be; nothing where a header claims more than any file has.
fn page(head: &Head) -> Option<u64> {
    head.length.checked_next_multiple_of(PAGE).filter(|page| *page < u64::MAX / 2)
}

/// Adds a segment to a locked file, if that still has the chain `after` and can be written to, and hands back its new chain. Where an
/// error is handed back, the file is as it was, unless the system failed to tell whether the last mark is on disk.
pub(crate) fn append(lock: &Lock, after: u64, segment: &[u8]) -> io::Result<Option<u64>> {
    // Whatever stands against it, writing the whole may do, or says why not.
    let Ok(file) = OpenOptions::new().read(true).write(true).open(lock.path()) else { return Ok(None) };
    if !lock.is_of(&file)? {
        return Ok(None);
    }
    let (Some(head), Ok(found)) = (Head::of(&file)?, Segments::of(&file)) else { return Ok(None) };
    let newest = found.and_then(|segments| segments.newest);
    let Some(checksum) = Head::of_bytes(segment).map(|head| head.checksum) else { return Ok(None) };
    if newest.map_or(head.checksum, |mark| mark.chain) != after {
        return Ok(None);
    }
    let Some(page) = page(&head) else { return Ok(None) };
    let Some(turn) = newest.map_or(0, |mark| mark.turn).checked_add(1) else { return Ok(None) };
    let (before, start) = newest.map_or((head.length, page + PAGE), |mark| (mark.end, mark.end));
    let mut padded = segment.to_vec();
    padded.resize(segment.len().next_multiple_of(ALIGNMENT), 0);
    // What an interrupted addition has left goes first.
    let written = file.set_len(before).and_then(|()| write_at(&file, start, &padded)).and_then(|()| file.sync_data());
    if let Err(error) = written {
        let _ = file.set_len(before);
        return Err(error);
    }
    let chain = chained(after, checksum);
    let mark = Mark { turn, end: start + padded.len() as u64, chain };
    write_at(&file, page + MARK as u64 * (turn % 2), &mark.to_bytes())?;
    file.sync_data()?;
    Ok(Some(chain))
}

pub(super) fn read_at(mut file: &File, place: u64, out: &mut [u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(place))?;
    file.read_exact(out)
}

fn write_at(mut file: &File, place: u64, bytes: &[u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(place))?;
    file.write_all(bytes)
}
