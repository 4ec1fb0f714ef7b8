//! Matrices in files: stored with their rows' filling, and used from the mapped file without a copy.

use super::{Chunk, LANES, Matrix};
use crate::storage::{Buffer, Container, ContainerWriter, FileError};

impl<'a> ContainerWriter<'a> {
    /// Adds a matrix, filling included.
    pub fn matrix(&mut self, name: impl Into<String>, matrix: &'a Matrix<f32>) {
        self.rows::<f32>(name, matrix.row_chunks() * LANES, bytemuck::cast_slice(matrix.chunks()));
    }
}

impl Container {
    /// A matrix, used from the mapped file.
    pub fn matrix(&self, name: &str, rows: usize, columns: usize) -> Result<Matrix<f32>, FileError> {
        let chunks: Buffer<Chunk<f32>> = self.rows::<f32, _>(name, columns.next_multiple_of(LANES))?;
        let matrix = Matrix::from_chunks(rows, columns, chunks);
        matrix.ok_or_else(|| self.inconsistent(format!("section `{name}` is not {rows} rows of {columns} numbers")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::FileFormat;

    #[test]
    fn a_matrix_is_read_again_without_a_copy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let matrix = Matrix::from_fn(3, 20, |row, column| (row * 20 + column) as f32);
        let mut writer = ContainerWriter::default();
        writer.list("letters", b"abc");
        writer.matrix("numbers", &matrix);
        writer.write(&path, FileFormat::Model, 1, "").unwrap();
        let container = Container::open(&path, FileFormat::Model, 1).unwrap();
        assert_eq!(container.matrix("numbers", 3, 20).unwrap(), matrix);
        assert!(matches!(container.rows::<f32, Chunk<f32>>("numbers", 32), Ok(Buffer::Mapped { .. })));
        assert!(container.matrix("numbers", 3, 19).is_err(), "the filling would not be zero");
        assert!(container.matrix("numbers", 2, 20).is_err());
        assert!(container.matrix("missing", 3, 20).is_err());
    }
}
