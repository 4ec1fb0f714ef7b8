//! The arithmetic: everything whose speed matters, and the only home of `unsafe` beside the mapping of files.
//!
//! A kernel is written once, generic over the instruction set ([`Simd`]), and runs on AVX-512, AVX2 or plain Rust,
//! whichever [`Cpu`] was chosen at start. All matrices have rows of whole 64-byte chunks, filled up with zeros, so no
//! kernel has a tail to care for. Work is cut into pieces of fixed size, never by the number of threads, and no sum
//! crosses a piece: results have the same bits on one thread and on many.

mod activation;
mod adam;
mod bytes;
mod cpu;
mod matrix;
mod product;
mod rows;
mod simd;
mod stored;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use activation::{elu, elu_backward, keep_at_random, kept_share, threshold};
pub use adam::{Adam, AdamStep, Moments, RowTask, update_rows};
pub use bytes::{BYTES, ByteProducts};
pub use cpu::{Cpu, CpuError};
pub use matrix::Matrix;
pub use product::{Left, product, product_from};
pub use rows::{Entry, add_scaled, dot, multiply, normalise, normalise_backward, sum_rows, weighted_row_sum};
pub use simd::{Chunk, Kernel, LANES, Real, Simd, prefetch, prefetch_to_write};

/// Rows that one task works on: large enough to pay for the hand-over, small enough to share out.
pub const ROWS_PER_TASK: usize = 64;
