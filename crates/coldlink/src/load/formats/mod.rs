//! One file per format that holds a whole graph.

mod npy;
mod npz;
mod packed;
mod ppi;

pub use npy::write_npy_f32;
pub(in crate::load) use npz::load_sparse_graph;
pub use npz::{NpzFile, is_npz, load_new_npz};
pub use packed::{open_packed, write_packed};
pub(in crate::load) use ppi::{GRAPH as PPI_GRAPH, load_folder as load_ppi};
