//! What the fuzz targets share: sound samples of every format, a folder for damaged ones, and what is done with whatever was loaded.
//!
//! A target is a file in `bin/`. Its first byte chooses among the forms of a format, the others are the file. A finding is a panic, an
//! input that takes long, memory for a length that was not read, or a broken promise that the target names.

mod checksum;
mod memory;
mod model;
mod npz;
mod panics;
mod samples;
mod split;
mod walk;

pub use checksum::{claim, matched, matched_graph};
pub use memory::check_memory;
pub use model::{Saved, graph, trained, use_model};
pub use npz::{archive, arrays, npy};
pub use panics::{guard, silence};
pub use samples::{
    COLUMNS, EDGE_LINES, EDGES, NEW_LINES, NODE_LINES, NODES, PARQUET, PPI_GRAPH, STORED_ARCHIVE, dataset, ppi_arrays,
    schema, tabbed, zipped,
};
pub use split::{SoundSplit, TABLES};
pub use walk::{fit, same_as_new, walk, walk_loaded, walk_new};

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tempfile::TempDir;

/// A folder of this run, in memory where the system has such folders.
pub fn folder() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let make = || tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder for files");
    FOLDER.get_or_init(make).path()
}

/// A file of this name in the folder, with these bytes.
pub fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder().join(name);
    // Some file systems wait for the disk when a file is overwritten, and not when it is new.
    let _ = fs::remove_file(&path);
    fs::write(&path, bytes).expect("the folder can be written");
    path
}

/// What is done before the first input: all work is done on the thread that asks for it, so that none is lost to waiting.
pub fn prepare() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    pool.build_global().expect("the first to ask for threads");
}

/// The first byte, which chooses a form, and the others.
pub fn form(bytes: &[u8]) -> Option<(u8, &[u8])> {
    bytes.split_first().map(|(first, rest)| (*first, rest))
}

/// Two files in one input, with a zero byte between them.
pub fn two(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let place = bytes.iter().position(|byte| *byte == 0)?;
    Some((&bytes[..place], &bytes[place + 1..]))
}
