//! From the columns of a table to attributes: what a column is, what its cells say, what is fitted to them, and what the
//! attributes are called.
//!
//! Cells come typed (`cell.rs`). `survey.rs` looks at all of them, and the list of rules in `rules.rs` decides what each column is,
//! unless users say so (`kind.rs`). `encoding.rs` is the
//! table of what each kind becomes. `encode.rs` turns rows of cells into rows of attributes, and `collected.rs` puts them in order
//! once a table was read. A `Schema` lists what cells may say, so that new rows become the same attributes. `preparation.rs` fits
//! means, ranks and word weights on training rows alone. `vectors/` makes vectors of texts, where users give token vectors.

mod cell;
mod collected;
mod encode;
mod encoding;
mod kind;
mod lookup;
mod mismatches;
mod node_type;
mod numbers;
mod preparation;
mod problem;
mod rules;
mod schema;
mod shown;
mod survey;
mod times;
mod vectors;
mod words;

pub use cell::{Cell, Cells};
pub(crate) use encode::{Encoded, Encoder, Reading};
pub use kind::{
    CellPart, ColumnKind, Columns, DateOrder, Decimal, EdgeColumns, RelationOptions, Scale, Separator, StopWords,
    WordWeights,
};
pub use mismatches::{Mismatches, OddCells, UnknownValues};
pub(crate) use node_type::TypeColumn;
pub use preparation::Preparation;
pub(crate) use preparation::Stored as StoredPreparation;
pub use problem::CellProblem;
pub use rules::Finding;
pub use schema::{Column, Schema, Values};
pub(crate) use shown::is_called_a_title;
pub(crate) use survey::Surveys;
pub use vectors::{TokenVectors, VectorsError, VectorsProblem};
