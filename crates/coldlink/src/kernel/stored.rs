//! Matrices in files: stored with their rows' filling, and used from the mapped file without a copy.

use bytemuck::Pod;

use super::{Chunk, LANES, Matrix};
use crate::storage::{Buffer, Container, ContainerWriter, FileError};

impl<'a> ContainerWriter<'a> {
    /// Adds a matrix, filling included.
    pub fn matrix(&mut self, name: impl Into<String>, matrix: &'a Matrix<f32>) {
        self.rows(name, matrix.row_chunks() * LANES, matrix.chunks());
    }

    /// Adds chunks of anything, as rows of sixteen.
    pub fn chunks<C: Pod>(&mut self, name: impl Into<String>, chunks: &'a [C]) {
        self.rows(name, LANES, chunks);
    }
}

impl Container {
    /// A matrix, used from the mapped file.
    pub fn matrix(&self, name: &str, rows: usize, columns: usize) -> Result<Matrix<f32>, FileError> {
        let (shape, expected) = (self.shape(name)?, [rows, columns.next_multiple_of(LANES)]);
        if shape != expected {
            return Err(self.inconsistent(format!("`{name}` has shape {shape:?}, not {expected:?}")));
        }
        let chunks: Buffer<Chunk<f32>> = self.list(name)?;
        let matrix = Matrix::from_chunks(rows, columns, chunks);
        matrix.ok_or_else(|| self.inconsistent(format!("`{name}` is not {rows} rows of {columns} numbers")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::FileProblem;
    use std::path::Path;

    fn write(path: &Path) -> Matrix<f32> {
        let matrix = Matrix::from_fn(3, 20, |row, column| (row * 20 + column) as f32);
        let mut writer = ContainerWriter::default();
        writer.list("letters", b"abc");
        writer.list("counts", &[7_u64, 8]);
        writer.matrix("numbers", &matrix);
        writer.write(path, "model", 1, "answer = 42\n").unwrap();
        matrix
    }

    #[test]
    fn what_was_written_is_read_again_without_a_copy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let matrix = write(&path);
        let archive = Container::open(&path, "model", 1).unwrap();
        assert_eq!(archive.about, "answer = 42\n");
        assert_eq!(archive.matrix("numbers", 3, 20).unwrap(), matrix);
        assert!(matches!(archive.list::<Chunk<f32>>("numbers"), Ok(Buffer::Mapped { .. })));
        assert_eq!(*archive.list::<u64>("counts").unwrap(), [7, 8]);
        assert!(archive.matrix("numbers", 3, 19).is_err(), "the filling would not be zero");
        assert!(archive.matrix("missing", 3, 20).is_err());
        let again = folder.path().join("again");
        write(&again);
        assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(&again).unwrap());
    }

    #[test]
    fn every_flipped_byte_and_every_cut_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        write(&path);
        let whole = std::fs::read(&path).unwrap();
        let header = u64::from_le_bytes(whole[..8].try_into().unwrap()) as usize + 8;
        for place in 0..whole.len() {
            // Spaces after the header's text mean nothing.
            if place < header && whole[place] == b' ' && whole[place..header].iter().all(|byte| *byte == b' ') {
                continue;
            }
            let mut damaged = whole.clone();
            damaged[place] ^= 1;
            std::fs::write(&path, &damaged).unwrap();
            assert!(Container::open(&path, "model", 1).is_err(), "byte {place}");
        }
        for length in 0..whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert!(Container::open(&path, "model", 1).is_err(), "length {length}");
        }
    }

    #[test]
    fn another_kind_and_a_later_version_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        write(&path);
        let kind = Container::open(&path, "checkpoint", 1).err().unwrap();
        assert!(matches!(kind.problem, FileProblem::Kind { .. }));
        let version = Container::open(&path, "model", 0).err().unwrap();
        assert!(matches!(version.problem, FileProblem::Version { found: 1, known: 0 }));
    }
}
