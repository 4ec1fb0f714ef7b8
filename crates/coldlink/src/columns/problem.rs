//! What can be wrong with a cell.

use crate::hint::Hint;
use crate::text::quoted;

/// Why a cell cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CellProblem {
    /// Columns that need too many attributes.
    #[error("the rows so far need more than {most} attributes")]
    TooManyAttributes {
        /// The limit.
        most: u32,
    },
    /// A cell that does not fit the kind of its column.
    #[error("column `{}`: cannot read `{}` as {kind}", quoted(.column), quoted(.cell))]
    Unreadable {
        /// The column.
        column: String,
        /// Its kind.
        kind: &'static str,
        /// The cell.
        cell: String,
    },
    /// An unknown value, where input is strict.
    #[error("column `{}`: `{}` has an unknown value", quoted(.column), quoted(.cell))]
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
