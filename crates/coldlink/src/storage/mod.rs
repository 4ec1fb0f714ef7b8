//! Bytes on disk and in memory: mapped files, shared arrays, files that appear whole or not at all, and the one container of
//! sections that packed graphs, models, indexes and checkpoints are kept in.

mod buffer;
mod container;
mod error;
mod format;
mod identity;
mod lock;
mod map;
mod read;
mod segments;
mod write;

pub use buffer::Buffer;
pub(crate) use container::{Container, ContainerWriter, START_BYTES, Segmented, format_of};
pub use error::{FileError, FileProblem};
pub use format::FileFormat;
pub use identity::{Identity, is_same_file};
pub use lock::{FolderLock, Lock};
pub use map::Map;
pub(crate) use read::open_regular;
pub use read::read_short;
pub(crate) use segments::append;
pub use write::{Written, destination, is_partial, write_atomically};
