//! What burn has no operation for: products with sparse matrices, their gradients written out, in `f32` and `f64`.

mod attention;
mod flex;
mod pattern;
mod product;

pub use attention::{row_softmax, weighted_product};
pub use flex::{device, from_matrix, numbers, rows};
pub use pattern::Pattern;
pub use product::{Sparse, pick, product};
