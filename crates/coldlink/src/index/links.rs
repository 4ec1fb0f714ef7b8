//! The index of a model: a file beside it, from which links of new nodes are found without looking at every node.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Hnsw;
use crate::graph::{NodeId, Roles};
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
    /// The roles of each, which have a graph of near neighbours each.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub roles: usize,
    /// Of the ten best links by scoring every node, the share that is found through the index.
    pub recall: f64,
    /// By how much the scores of these links differ from those by scoring every node, on average; nothing until it is measured.
    pub score_difference: Option<f64>,
    /// Over so many nodes, each held as if it were new.
    pub sample: usize,
    /// With which effort.
    pub effort: Effort,
}

fn one() -> usize {
    1
}

fn is_one(roles: &usize) -> bool {
    *roles == 1
}

/// Finds nodes that may be linked to a new one: the best by the dense part of the score, and those most like it, where walks start.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkIndex {
    /// What it is.
    pub about: AboutIndex,
    /// By the role of the nodes that are found.
    pub(crate) dense: Vec<Hnsw>,
    /// By the role of the new node, which those like it have too; none where the score has no walks.
    pub(crate) similar: Option<Vec<Hnsw>>,
}

/// Finds linked nodes that are similar to another: a graph of near neighbours for each role, searched with some breadth.
#[derive(Clone, Copy)]
pub(crate) struct Similar<'a> {
    pub graphs: &'a [Hnsw],
    pub breadth: usize,
}

impl AboutIndex {
    /// How many role nodes are in it.
    pub(crate) fn role_nodes(&self) -> Option<usize> {
        let roles = Some(self.roles).filter(|roles| (1..=Roles::MOST).contains(roles))?;
        self.nodes.checked_mul(roles).filter(|&nodes| nodes <= NodeId::MAX as usize)
    }

    /// What a graph of a role is called in the file: of nodes with one role, as ever.
    fn section(&self, what: &str, role: usize) -> String {
        if self.roles == 1 { what.to_owned() } else { format!("{what}.{role}") }
    }
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
        Some(Similar { graphs: self.similar.as_ref()?, breadth: self.about.effort.similar })
    }

    /// Writes it, whole or not at all.
    pub fn save(&self, path: &Path) -> Result<(), FileError> {
        let error = |error| FileError { path: path.to_owned(), problem: FileProblem::Write(error) };
        let about = toml::to_string(&self.about).map_err(|problem| error(std::io::Error::other(problem)))?;
        let mut writer = ContainerWriter::default();
        for (what, graphs) in [("dense", Some(&self.dense)), ("similar", self.similar.as_ref())] {
            for (role, graph) in graphs.into_iter().flatten().enumerate() {
                graph.write(&self.about.section(what, role), &mut writer);
            }
        }
        writer.write(path, FORMAT, VERSION, &about).map_err(error)
    }

    /// Opens it by memory map, for embeddings of `width` numbers.
    pub fn open(path: &Path, width: usize) -> Result<Self, FileError> {
        let archive = Container::open(path, FORMAT, VERSION)?;
        let about: AboutIndex =
            toml::from_str(&archive.about).map_err(|error| archive.inconsistent(error.to_string()))?;
        let nodes = about.role_nodes().ok_or_else(|| archive.inconsistent("it has too many nodes or roles"))?;
        let read = |what: &str| {
            let of_roles = (0..about.roles).map(|role| Hnsw::read(&archive, &about.section(what, role), width, nodes));
            of_roles.collect::<Result<Vec<Hnsw>, FileError>>()
        };
        let has_walks = archive.has(&format!("{}.nodes", about.section("similar", 0)));
        let (dense, similar) = (read("dense")?, has_walks.then(|| read("similar")).transpose()?);
        Ok(LinkIndex { dense, similar, about })
    }
}
