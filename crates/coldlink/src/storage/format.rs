//! The formats of our files: what each is called, and how a file of it is made.

use std::fmt;

use crate::hint::Hint;

/// What a file of ours holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// A packed graph.
    Graph,
    /// A trained model.
    Model,
    /// The index beside a model.
    Index,
    /// Training that can go on.
    Checkpoint,
}

impl FileFormat {
    /// All of them.
    pub const ALL: [FileFormat; 4] = [FileFormat::Graph, FileFormat::Model, FileFormat::Index, FileFormat::Checkpoint];

    /// The word for it in a file's header.
    pub fn name(self) -> &'static str {
        match self {
            FileFormat::Graph => "graph",
            FileFormat::Model => "model",
            FileFormat::Index => "index",
            FileFormat::Checkpoint => "checkpoint",
        }
    }

    /// The format of that name.
    pub(super) fn named(name: &str) -> Option<Self> {
        FileFormat::ALL.into_iter().find(|format| format.name() == name)
    }

    /// How to make such a file again.
    pub(super) fn again(self) -> &'static str {
        match self {
            FileFormat::Graph => "make it again with {coldlink convert}",
            FileFormat::Model => "make it again with {coldlink train}",
            FileFormat::Index => "make it again with {coldlink index}",
            FileFormat::Checkpoint => "remove it and start training anew",
        }
    }

    /// What to give where this is wanted and `found` was given.
    pub(super) fn instead_of(self, found: FileFormat) -> Hint {
        Hint::new(match (self, found) {
            (FileFormat::Graph, _) => {
                "a graph is an `.npz` file, a `.coldlink` file, or a folder with `edges.csv` and `nodes.csv` (or `.tsv`, `.jsonl`, `.parquet`)"
            }
            (FileFormat::Model, FileFormat::Graph) => "train a model on it with {coldlink train}",
            (FileFormat::Model, FileFormat::Index) => "give the model that it lies beside: the path without `.index`",
            (FileFormat::Model, _) => "make a model with {coldlink train}",
            (FileFormat::Index, _) => "make the index of a model with {coldlink index}",
            (FileFormat::Checkpoint, _) => "give a folder that {coldlink train} wrote checkpoints to",
        })
    }
}

/// With its article: "a graph", "an index".
impl fmt::Display for FileFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let article = if *self == FileFormat::Index { "an" } else { "a" };
        write!(f, "{article} {}", self.name())
    }
}
