//! Bytes on disk and in memory: mapped files, shared arrays, files that appear whole or not at all, and the one container of
//! sections that packed graphs, models, indexes and checkpoints are kept in.

mod buffer;
mod container;
mod map;
mod write;

pub use buffer::Buffer;
pub(crate) use container::{Container, ContainerWriter};
pub use container::{FileError, FileProblem};
pub use map::Map;
pub use write::write_atomically;
