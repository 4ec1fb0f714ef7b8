//! The one place that maps files into memory.
//!
//! A mapped file that another program cuts short while it is in use is the one case that no check can catch: the system ends the
//! process (SIGBUS) when it touches a page that is gone. coldlink itself never does that; it replaces files by renaming, and whoever
//! has the old one mapped keeps it whole; or it writes behind all that is mapped (`segments.rs`). Files that are cut off already when
//! they are opened are errors (`container.rs`).
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::path::Path;

use super::open_regular;

/// A file's bytes, mapped read-only.
pub struct Map(memmap2::Mmap);

impl Map {
    /// Maps a whole file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = open_regular(path)?;
        let length = file.metadata()?.len();
        Map::part(&file, 0..length)
    }

    /// Maps a part of a file.
    pub fn part(file: &File, range: Range<u64>) -> io::Result<Self> {
        let too_long = |_| io::Error::from(io::ErrorKind::FileTooLarge);
        let length = usize::try_from(range.end.saturating_sub(range.start)).map_err(too_long)?;
        let mut options = memmap2::MmapOptions::new();
        options.offset(range.start).len(length);
        // SAFETY: coldlink replaces files by renaming, or writes into parts that it never maps, so what it maps does
        // not change under it. What another program does to the file is outside what any mapping can guard, see above.
        let map = unsafe { options.map(file)? };
        Ok(Map(map))
    }
}

impl Deref for Map {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_shows_what_reading_shows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bytes");
        std::fs::write(&path, b"coldlink").unwrap();
        assert_eq!(&*Map::open(&path).unwrap(), std::fs::read(&path).unwrap());
        let file = File::open(&path).unwrap();
        assert_eq!(&*Map::part(&file, 2..6).unwrap(), b"ldli");
        assert!(Map::open(&folder.path().join("missing")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_refused_at_once() {
        for path in ["/dev/zero", "/dev/stdin", "/"] {
            let is_file = std::fs::metadata(path).is_ok_and(|about| about.is_file());
            assert!(is_file || Map::open(Path::new(path)).is_err(), "{path}");
        }
    }
}
