//! Which files a graph is read from.

use std::fs;
use std::path::{Path, PathBuf};

use super::{formats, tables};
use crate::columns::Columns;

/// The files that a graph at `path` is read from: the file itself, or those in a folder that loading would look at. A table that
/// is not there counts as well: writing it would change the graph.
pub fn files_of(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_owned()];
    }
    let tables =
        ["nodes", "edges"].into_iter().flat_map(|table| tables::endings().map(move |end| format!("{table}{end}")));
    tables.chain(formats::PPI_FILES.map(str::to_owned)).map(|name| path.join(name)).collect()
}

/// The files that a description of columns names, and itself. One that cannot be read names none, and a pipe is left to whoever reads
/// it.
pub fn files_of_columns(path: &Path) -> Vec<PathBuf> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let text = path.is_file().then(|| fs::read_to_string(path).ok()).flatten();
    let named = text.and_then(|text| Columns::parse(&text).ok());
    named.into_iter().flat_map(|columns| columns.files(folder)).chain([path.to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_read_from_its_tables_and_a_file_from_itself() {
        let folder = tempfile::tempdir().unwrap();
        let files = files_of(folder.path());
        for name in ["nodes.csv", "edges.csv", "nodes.jsonl.zst", "edges.parquet", "train_graph.json"] {
            assert!(files.contains(&folder.path().join(name)), "{name}");
        }
        assert!(!files.contains(&folder.path().join("papers.model")));
        assert_eq!(files_of(Path::new("papers.npz")), [Path::new("papers.npz")]);
    }
}
