//! Dense matrices with rows of whole chunks.

use super::{Chunk, LANES, Real};
use crate::storage::Buffer;

/// A dense matrix. Rows are filled up with zeros to a multiple of [`LANES`] columns, and every kernel keeps them zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix<T: Real> {
    rows: usize,
    columns: usize,
    chunks: Buffer<Chunk<T>>,
}

impl<T: Real> Matrix<T> {
    /// All zeros.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        let chunks = vec![Chunk([T::ZERO; LANES]); rows * columns.div_ceil(LANES)];
        Matrix { rows, columns, chunks: Buffer::Owned(chunks) }
    }

    /// Filled by (row, column), row after row.
    pub fn from_fn(rows: usize, columns: usize, mut value: impl FnMut(usize, usize) -> T) -> Self {
        let mut matrix = Self::zeros(rows, columns);
        for row in 0..rows {
            for (column, cell) in matrix.row_mut(row).iter_mut().enumerate() {
                *cell = value(row, column);
            }
        }
        matrix
    }

    /// From whole rows of chunks; `None` where there are not `rows` of them or the filling is not zero.
    pub fn from_chunks(rows: usize, columns: usize, chunks: impl Into<Buffer<Chunk<T>>>) -> Option<Self> {
        let matrix = Matrix { rows, columns, chunks: chunks.into() };
        let whole = matrix.chunks.len() == rows.checked_mul(matrix.row_chunks())?;
        let filling = columns..matrix.row_chunks() * LANES;
        let zero =
            || (0..rows).all(|row| T::flat(matrix.chunk_row(row))[filling.clone()].iter().all(|v| *v == T::ZERO));
        (whole && zero()).then_some(matrix)
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns, without the filling.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Chunks in a row.
    #[inline(always)]
    pub fn row_chunks(&self) -> usize {
        self.columns.div_ceil(LANES)
    }

    /// A row's numbers, without the filling.
    #[inline]
    pub fn row(&self, row: usize) -> &[T] {
        &T::flat(self.chunk_row(row))[..self.columns]
    }

    /// A row's numbers to write.
    #[inline]
    pub fn row_mut(&mut self, row: usize) -> &mut [T] {
        let columns = self.columns;
        &mut T::flat_mut(self.chunk_row_mut(row))[..columns]
    }

    /// A row's chunks.
    #[inline(always)]
    pub fn chunk_row(&self, row: usize) -> &[Chunk<T>] {
        let width = self.row_chunks();
        &self.chunks[row * width..][..width]
    }

    /// A row's chunks to write; the filling must stay zero.
    #[inline(always)]
    pub fn chunk_row_mut(&mut self, row: usize) -> &mut [Chunk<T>] {
        let width = self.row_chunks();
        &mut self.chunks_mut()[row * width..][..width]
    }

    /// All chunks, row after row.
    #[inline(always)]
    pub fn chunks(&self) -> &[Chunk<T>] {
        &self.chunks
    }

    /// All chunks to write; the filling must stay zero.
    #[inline(always)]
    pub fn chunks_mut(&mut self) -> &mut [Chunk<T>] {
        self.chunks.to_mut()
    }

    /// Makes it `rows` high, keeping its memory; what the rows hold is not defined.
    pub fn resize_rows(&mut self, rows: usize) {
        self.rows = rows;
        let chunks = rows * self.row_chunks();
        self.chunks.to_mut().resize(chunks, Chunk([T::ZERO; LANES]));
    }

    /// Rows and columns swapped.
    pub fn transposed(&self) -> Matrix<T> {
        Matrix::from_fn(self.columns, self.rows, |row, column| self.row(column)[row])
    }
}
