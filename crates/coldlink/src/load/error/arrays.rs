//! What can be wrong with a NumPy array.

use super::DAMAGED;
use crate::hint::Hint;
use crate::load::limits::bytes_in_words;

/// What can be wrong with an array.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ArrayProblem {
    /// It is not in the archive.
    #[error("it is missing")]
    Missing,
    /// It holds Python objects.
    #[error("it holds pickled Python objects")]
    Pickled,
    /// Its header cannot be read.
    #[error("its NumPy header is invalid: {reason}")]
    Header {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Its type is not a number.
    #[error("its type is `{dtype}`, expected numbers")]
    Type {
        /// The type, as numpy writes it.
        dtype: String,
    },
    /// The archive's data cannot be decompressed, or fails its checksum.
    #[error("its data is damaged: {reason}")]
    Damaged {
        /// What the archive's reader says.
        reason: String,
    },
    /// Less data than the shape claims, or more.
    #[error("its shape needs {expected} bytes, but it has {found}")]
    Length {
        /// Bytes the shape asks for.
        expected: u64,
        /// Bytes that were found; reading stops one after the last that is expected.
        found: u64,
    },
    /// More columns than attributes may be.
    #[error("it asks for {columns} attribute columns, more than {most}")]
    TooManyColumns {
        /// Columns there are.
        columns: usize,
        /// The limit.
        most: usize,
    },
    /// The arrays of an archive are much larger once they are unpacked.
    #[error("the arrays so far unpack to more than {}", bytes_in_words(*.most))]
    UnpacksTooFar {
        /// Bytes that all of them may unpack to.
        most: u64,
    },
    /// Its shape is not the one that its role asks for.
    #[error("its shape is {found:?}, expected {expected}")]
    Shape {
        /// What is expected, in words.
        expected: String,
        /// Its shape.
        found: Vec<usize>,
    },
    /// A number where a whole number must be.
    #[error("entry {entry} is {value}, expected a 64-bit integer")]
    NotWhole {
        /// Which entry, from 0.
        entry: usize,
        /// Its value.
        value: f64,
    },
    /// A number beyond what it may be.
    #[error("entry {entry} is {value}, expected 0 to {limit}")]
    OutOfRange {
        /// Which entry, from 0.
        entry: usize,
        /// Its value.
        value: i64,
        /// The largest it may be.
        limit: i64,
    },
    /// A number other than the only one it may be.
    #[error("entry {entry} is {value}, expected {expected}")]
    Unexpected {
        /// Which entry, from 0.
        entry: usize,
        /// Its value.
        value: i64,
        /// What it must be.
        expected: i64,
    },
    /// Row starts that fall.
    #[error("row starts must not decrease, but entry {entry} is smaller than the one before it")]
    Falling {
        /// Which entry, from 0.
        entry: usize,
    },
    /// A weight below 0.
    #[error("entry {entry} is {value}, expected a weight of 0 or more")]
    Negative {
        /// Which entry, from 0.
        entry: usize,
        /// Its value.
        value: f64,
    },
    /// NaN, infinite, or beyond 32-bit floating point.
    #[error("entry {entry} is {value}, expected a finite 32-bit number")]
    NotFinite {
        /// Which entry, from 0.
        entry: usize,
        /// Its value.
        value: f64,
    },
}

impl ArrayProblem {
    pub(super) fn hint(&self, array: &str) -> Option<Hint> {
        Some(match self {
            ArrayProblem::Missing if array.starts_with("adj_") || array.starts_with("attr_") => {
                Hint::new("a graph needs the CSR arrays `adj_*` and `attr_*` (data, indices, indptr, shape)")
            }
            ArrayProblem::Pickled => {
                Hint::text(format!("store `{array}` as plain numbers; coldlink never runs code from files"))
            }
            ArrayProblem::Damaged { .. } | ArrayProblem::Length { .. } => Hint::new(DAMAGED),
            ArrayProblem::TooManyColumns { .. } => Hint::new("leave out columns that are 0 in all rows"),
            ArrayProblem::UnpacksTooFar { .. } => {
                Hint::new("if you trust the file, save it again with `numpy.savez`, which does not compress")
            }
            ArrayProblem::Negative { .. } => {
                Hint::new("a weight of 0 is no link; store signs as attributes or leave such links out")
            }
            ArrayProblem::NotFinite { .. } => Hint::new("replace missing values with 0 | leave them out"),
            _ => return None,
        })
    }
}
