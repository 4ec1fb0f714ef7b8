//! The one place that maps files into memory.
//!
//! A mapped file that another program cuts short while it is in use is the one case that no check can catch: the system ends the
//! process (SIGBUS) when it touches a page that is gone. coldlink itself never does that; it replaces files by renaming, and whoever
//! has the old one mapped keeps it whole. Files that are already cut off when they are opened are errors (`container.rs`).
#![allow(unsafe_code)]

use std::io;
use std::ops::Deref;
use std::path::Path;

use super::open_regular;

/// A file's bytes, mapped read-only.
pub struct Map(memmap2::Mmap);

impl Map {
    /// Maps a whole file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = open_regular(path)?;
        // SAFETY: coldlink replaces files by renaming and never writes into one that exists, so what it maps does
        // not change under it. What another program does to the file is outside what any mapping can guard, see above.
        let map = unsafe { memmap2::Mmap::map(&file)? };
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
