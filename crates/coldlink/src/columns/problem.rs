//! What can be wrong with a cell.

use crate::hint::Hint;

/// Why a cell cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CellProblem {
    /// Columns that make more attributes than are of use.
    #[error("the columns make more than {most} attributes up to here")]
    TooManyAttributes {
        /// The limit.
        most: u32,
    },
    /// A cell that is not what its column is.
    #[error("column `{column}` is of kind {kind}, and `{cell}` cannot be read as that")]
    Unreadable {
        /// The column.
        column: String,
        /// Its kind.
        kind: &'static str,
        /// The cell.
        cell: String,
    },
    /// A value that is not known, where all must be.
    #[error("column `{column}`: `{cell}` has a value that is not known")]
    UnknownValue {
        /// The column.
        column: String,
        /// The cell.
        cell: String,
    },
}

impl CellProblem {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<Hint> {
        Some(Hint::new(match self {
            CellProblem::TooManyAttributes { .. } => {
                "set some columns to `ignore` with {columns} | lower their `buckets` and `limit` with {columns}"
            }
            CellProblem::Unreadable { .. } => {
                "correct or empty the cell | give the column another kind with {columns} | omit {strict-input}"
            }
            CellProblem::UnknownValue { .. } => "omit {strict-input} to read unknown values as `(other)` or as empty",
        }))
    }
}
