//! The data sets by name.

use std::path::{Path, PathBuf};

use coldlink::dataset::Dataset;
use coldlink::load::{LoadOptions, load};

use super::BenchError;

/// What is known of a data set before it is opened.
pub struct SetFacts {
    /// Of its file or folder.
    pub name: &'static str,
    /// In tables.
    pub label: &'static str,
    /// Why it may not be here.
    pub missing: &'static str,
}

const fn set(name: &'static str, label: &'static str, missing: &'static str) -> SetFacts {
    SetFacts { name, label, missing }
}

/// All data sets of the tables, and two beside them.
const SETS: &[SetFacts] = &[
    set("cora", "Cora", "`cora.npz` is not here"),
    set("citeseer", "CiteSeer", "`citeseer.npz` is not here"),
    set("cs", "CS", "`cs.npz` is not here"),
    set("pubmed", "PubMed", "`pubmed.npz` (SparseGraph layout) is not here; the column fills once it is"),
    set("computers", "Computers", "`computers.npz` is not here"),
    set("photo", "Photo", "`photo.npz` is not here"),
    set(
        "ppi",
        "PPI",
        "the paper's graph (`ppi/train_graph.json`, 1,767 nodes) is not here; the column fills once it is",
    ),
    set("ppi_3480", "ppi_3480", "`ppi_3480.npz` is not here"),
    set("cora_ml", "cora_ml", "`cora_ml.npz` is not here"),
];

/// The facts of a set by its name.
pub fn set_facts(name: &str) -> Result<&'static SetFacts, BenchError> {
    SETS.iter().find(|set| set.name == name).ok_or_else(|| BenchError::UnknownSet {
        name: name.to_owned(),
        known: SETS.iter().map(|set| format!("`{}`", set.name)).collect::<Vec<_>>().join(", "),
    })
}

/// A data set, or the place where it should be.
pub enum Found {
    /// Its file or folder.
    Here(PathBuf),
    /// It is not here.
    Missing,
}

/// Refuses a folder that is not there.
pub(super) fn check_folder(folder: &Path) -> Result<(), BenchError> {
    if folder.is_dir() {
        return Ok(());
    }
    Err(BenchError::NoData { folder: folder.to_owned() })
}

/// Looks for a set: a file `NAME.npz`, or a folder `NAME`.
pub fn find_set(folder: &Path, name: &str) -> Result<Found, BenchError> {
    set_facts(name)?;
    let places = [folder.join(format!("{name}.npz")), folder.join(name)];
    Ok(places.into_iter().find(|path| path.exists()).map_or(Found::Missing, Found::Here))
}

impl Found {
    /// Opens the set.
    pub fn open(&self, folder: &Path, name: &str) -> Result<Dataset, BenchError> {
        match self {
            Found::Here(path) => Ok(load(path, &LoadOptions::default())?),
            Found::Missing => Err(BenchError::MissingSet { name: name.to_owned(), folder: folder.to_owned() }),
        }
    }
}
