//! What can be wrong with a cell.

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
