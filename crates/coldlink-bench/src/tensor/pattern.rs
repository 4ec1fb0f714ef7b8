//! Where a sparse matrix has entries, by row and by column.

/// The places of a sparse matrix's entries (CSR), and the same places by column.
#[derive(Debug)]
pub struct Pattern {
    columns: usize,
    offsets: Vec<u32>,
    indices: Vec<u32>,
    by_column: ByColumn,
}

/// The entries of each column: which row, and the entry's number by rows.
#[derive(Debug)]
pub(super) struct ByColumn {
    pub offsets: Vec<u32>,
    pub rows: Vec<u32>,
    pub entries: Vec<u32>,
}

impl Pattern {
    /// From row starts and the columns of all entries, row by row.
    ///
    /// # Panics
    /// Where a column is out of range or the offsets do not span the entries: a mistake of the caller's.
    pub fn new(columns: usize, offsets: Vec<u32>, indices: Vec<u32>) -> Self {
        assert_eq!(offsets.last().copied(), Some(indices.len() as u32), "the offsets do not span the entries");
        let by_column = ByColumn::of(columns, &offsets, &indices);
        Pattern { columns, offsets, indices, by_column }
    }

    /// From lists of columns.
    pub fn from_lists<L: AsRef<[u32]>>(columns: usize, lists: impl IntoIterator<Item = L>) -> Self {
        let (mut offsets, mut indices) = (vec![0], Vec::new());
        for list in lists {
            indices.extend_from_slice(list.as_ref());
            offsets.push(indices.len() as u32);
        }
        Pattern::new(columns, offsets, indices)
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Entries of all rows.
    pub fn entries(&self) -> usize {
        self.indices.len()
    }

    /// Row starts, one more than rows.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// The column of each entry.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// The row of each entry.
    pub fn row_of_entries(&self) -> Vec<u32> {
        let lengths = self.offsets.windows(2).map(|ends| (ends[1] - ends[0]) as usize);
        lengths.enumerate().flat_map(|(row, length)| std::iter::repeat_n(row as u32, length)).collect()
    }

    pub(super) fn by_column(&self) -> &ByColumn {
        &self.by_column
    }
}

impl ByColumn {
    /// Counting sort by column; rows of a column stay in order.
    fn of(columns: usize, row_offsets: &[u32], indices: &[u32]) -> Self {
        let mut offsets = vec![0_u32; columns + 1];
        for &column in indices {
            offsets[column as usize + 1] += 1;
        }
        for column in 0..columns {
            offsets[column + 1] += offsets[column];
        }
        let mut next = offsets.clone();
        let (mut rows, mut entries) = (vec![0; indices.len()], vec![0; indices.len()]);
        for (row, ends) in row_offsets.windows(2).enumerate() {
            for entry in ends[0]..ends[1] {
                let slot = &mut next[indices[entry as usize] as usize];
                (rows[*slot as usize], entries[*slot as usize]) = (row as u32, entry);
                *slot += 1;
            }
        }
        ByColumn { offsets, rows, entries }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_by_column_as_well() {
        let pattern = Pattern::from_lists(4, [&[1, 3][..], &[], &[0, 1]]);
        assert_eq!((pattern.rows(), pattern.columns(), pattern.entries()), (3, 4, 4));
        assert_eq!(pattern.row_of_entries(), [0, 0, 2, 2]);
        let back = pattern.by_column();
        assert_eq!(back.offsets, [0, 1, 3, 3, 4]);
        assert_eq!((&back.rows[..], &back.entries[..]), (&[2, 0, 2, 0][..], &[2, 0, 3, 1][..]));
    }
}
