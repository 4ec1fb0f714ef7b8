//! The index of a model: a file beside it, from which links of new nodes are found without looking at every node.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Hnsw;
use crate::storage::{Container, ContainerWriter, FileError, FileFormat, FileProblem};

const FORMAT: FileFormat = FileFormat::Index;
const VERSION: u32 = 1;

/// How many nodes are looked at for one new node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effort {
    /// The best by the dense part of the score.
    pub dense: usize,
    /// The best by words in common and by walks.
    pub sparse: usize,
    /// So many by words and walks are ranked once more, with the dense part, to find these.
    #[serde(default)]
    pub ranked_again: usize,
    /// Similar nodes among which the starts of its walk are looked for.
    pub similar: usize,
}

/// What an index is, and how good.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AboutIndex {
    /// A checksum of what it was made from, in hexadecimal digits.
    pub of: String,
    /// The first so many nodes of the model are in it.
    pub nodes: usize,
    /// Of the ten best links by scoring every node, the share that is found through the index.
    pub recall: f64,
    /// By how much the scores of these links differ from those by scoring every node, on average; nothing until it is measured.
    pub score_difference: Option<f64>,
    /// Over so many nodes, each held as if it were new.
    pub sample: usize,
    /// With which effort.
    pub effort: Effort,
}

/// Finds nodes that may be linked to a new one: the best by the dense part of the score, and those most like it, where walks start.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkIndex {
    /// What it is.
    pub about: AboutIndex,
    pub(crate) dense: Hnsw,
    /// None where the score has no walks.
    pub(crate) similar: Option<Hnsw>,
}

/// Finds linked nodes that are similar to another: a graph of near neighbours, searched with some breadth.
#[derive(Clone, Copy)]
pub(crate) struct Similar<'a> {
    pub graph: &'a Hnsw,
    pub breadth: usize,
}

impl LinkIndex {
    /// Where the index of a model lies: `papers.model.index` beside `papers.model`.
    pub fn path_of(model: &Path) -> PathBuf {
        let mut path = OsString::from(model);
        path.push(".index");
        path.into()
    }

    /// What finds the starts of walks.
    pub(crate) fn similar_nodes(&self) -> Option<Similar<'_>> {
        Some(Similar { graph: self.similar.as_ref()?, breadth: self.about.effort.similar })
    }

    /// Writes it, whole or not at all.
    pub fn save(&self, path: &Path) -> Result<(), FileError> {
        let error = |error| FileError { path: path.to_owned(), problem: FileProblem::Write(error) };
        let about = toml::to_string(&self.about).map_err(|problem| error(std::io::Error::other(problem)))?;
        let mut writer = ContainerWriter::default();
        self.dense.write("dense", &mut writer);
        if let Some(similar) = &self.similar {
            similar.write("similar", &mut writer);
        }
        writer.write(path, FORMAT, VERSION, &about).map_err(error)
    }

    /// Opens it by memory map, for embeddings of `width` numbers.
    pub fn open(path: &Path, width: usize) -> Result<Self, FileError> {
        let archive = Container::open(path, FORMAT, VERSION)?;
        let about: AboutIndex =
            toml::from_str(&archive.about).map_err(|error| archive.inconsistent(error.to_string()))?;
        let read = |prefix| Hnsw::read(&archive, prefix, width, about.nodes);
        let similar = archive.has("similar.nodes").then(|| read("similar")).transpose()?;
        Ok(LinkIndex { dense: read("dense")?, similar, about })
    }
}
