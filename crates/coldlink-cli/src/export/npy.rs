//! A numpy array, and names in a text file beside it.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use coldlink::graph::{Names, NodeId};
use coldlink::kernel::Matrix;
use coldlink::load::write_npy_f32;
use coldlink::storage::write_atomically;

use super::Export;

/// Where the names of the rows go.
pub fn names_beside(path: &Path) -> PathBuf {
    path.with_extension("names.txt")
}

/// Writes both files and yields where the names are.
pub fn write_npy(path: &Path, export: &Export) -> anyhow::Result<PathBuf> {
    let beside = names_beside(path);
    write_names(&beside, &export.names)?;
    let rows = &export.embeddings;
    write_npy_f32(path, rows.rows(), rows.columns(), &flat(rows))?;
    Ok(beside)
}

fn flat(rows: &Matrix<f32>) -> Vec<f32> {
    (0..rows.rows()).flat_map(|row| rows.row(row)).copied().collect()
}

/// One name a line; a line break within a name becomes a space.
fn write_names(path: &Path, names: &Names) -> anyhow::Result<()> {
    let write = |node: NodeId, out: &mut dyn Write| writeln!(out, "{}", names.get(node).replace(['\n', '\r'], " "));
    write_atomically(path, |out| (0..names.len() as NodeId).try_for_each(|node| write(node, out)))
        .with_context(|| format!("cannot write `{}`", path.display()))
}
