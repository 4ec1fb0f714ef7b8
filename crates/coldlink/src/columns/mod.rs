//! From the columns of a table to attributes: what a column is, what its cells say, what is fitted to them, and what the
//! attributes are called.
//!
//! Cells come typed (`cell.rs`). `survey.rs` finds out what each column is, unless users say so (`kind.rs`). `encoding.rs` is the
//! table of what each kind becomes. `encode.rs` turns rows of cells into rows of attributes, and `collected.rs` puts them in order
//! once a table was read. A `Schema` lists what cells may say, so that new rows become the same attributes. `preparation.rs` fits
//! means, ranks and word weights on training rows alone.

mod cell;
mod collected;
mod encode;
mod encoding;
mod kind;
mod lookup;
mod mismatches;
mod preparation;
mod problem;
mod schema;
mod survey;
mod times;
mod words;

pub use cell::{Cell, Cells};
pub(crate) use encode::{Encoded, Encoder};
pub use kind::{ColumnKind, Columns, EdgeColumns, RelationOptions, Scale, StopWords, WordWeights};
pub use mismatches::Mismatches;
pub use preparation::Preparation;
pub(crate) use preparation::Stored as StoredPreparation;
pub use problem::CellProblem;
pub use schema::{Column, Schema, Values};
pub(crate) use survey::{Survey, look_at_row};
