//! The one place that maps files into memory.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::Path;

/// A file's bytes, mapped read-only.
pub struct Map(memmap2::Mmap);

impl Map {
    /// Maps a whole file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        // SAFETY: coldlink replaces files by renaming and never writes into one that exists, so what it maps does
        // not change under it; another program that truncates the file is outside what any mapping can guard.
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
}
