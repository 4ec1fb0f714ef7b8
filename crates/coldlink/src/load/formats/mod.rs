//! One file per format that holds a whole graph.

#[cfg(feature = "npz")]
mod archive;
#[cfg(not(feature = "npz"))]
#[path = "no_archive.rs"]
mod archive;
mod npy;
mod npz;
mod packed;
mod ppi;

pub use archive::NpzFile;
pub use npy::write_npy_f32;
pub use npz::load_new_npz;
pub(in crate::load) use npz::{is_npz, load_new_arrays, load_sparse_graph};
pub use packed::{open_packed, write_packed};
pub(in crate::load) use ppi::{FILES as PPI_FILES, GRAPH as PPI_GRAPH, load_folder as load_ppi};
