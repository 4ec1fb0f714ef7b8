//! One model as it is served.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::OnceLock;
use std::time::SystemTime;

use axum::body::Bytes;
use coldlink::graph::NodeId;
use coldlink::index::LinkIndex;
use coldlink::model::Model;
use coldlink::storage::{FileError, FileProblem};

use crate::error::Causes;
use crate::map::Map;

/// A model that is served. It never changes; a newer one takes its place.
pub struct Served {
    /// The model.
    pub model: Model,
    /// The checksum of its file: the same model has the same.
    pub fingerprint: String,
    /// Which file it was opened from, as far as that could be found out.
    pub identity: Option<Identity>,
    /// The map of its nodes, made when first asked for.
    map: OnceLock<Map>,
    /// The OpenAPI document that fits it, made when first asked for.
    pub(crate) document: OnceLock<Bytes>,
}

impl Served {
    /// Maps a model's file, and the index beside it, into memory.
    ///
    /// coldlink replaces files by renaming, so what is mapped stays as it is. Another program must do so too: nothing can guard
    /// a request against one that truncates the file or writes into it.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let failed = |error: io::Error| FileError { path: path.to_owned(), problem: FileProblem::Io(error) };
        let identity = Identity::of(path).map_err(failed)?;
        let (model, problem) = Model::open_indexed(path)?;
        if let Some(problem) = problem {
            tracing::warn!(error = %Causes(&problem), "the index beside the model is not used; `coldlink index` builds it again");
        }
        Ok(Served::new(model, Some(identity)))
    }

    /// A model that was just written to `path`.
    pub fn in_memory(model: Model, path: &Path) -> Self {
        Served::new(model, Identity::of(path).ok())
    }

    fn new(model: Model, identity: Option<Identity>) -> Self {
        model.prepare();
        let fingerprint = model.fingerprint().unwrap_or_default();
        Served { model, fingerprint, identity, map: OnceLock::new(), document: OnceLock::new() }
    }

    /// How many links a node has; none where the model keeps no links.
    pub fn degree(&self, node: NodeId) -> Option<usize> {
        self.model.degree(node)
    }

    /// Where a known node lies on the map: as a target, as which new nodes meet it.
    pub fn place(&self, node: NodeId) -> [f64; 2] {
        let roles = self.model.roles();
        self.map().place(self.model.attribute_embedding(roles.at(node, roles.ends(0).1)))
    }

    /// The map of its nodes.
    pub fn map(&self) -> &Map {
        self.map.get_or_init(|| Map::of(&self.model.target_embeddings().attributes))
    }
}

/// Tells a model's file, with the index beside it, from others that took their places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    model: FileIdentity,
    index: Option<FileIdentity>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct FileIdentity {
    bytes: u64,
    changed: Option<SystemTime>,
    number: u64,
}

impl Identity {
    /// Of the model at `path`.
    pub fn of(path: &Path) -> io::Result<Self> {
        Ok(Identity { model: FileIdentity::of(path)?, index: FileIdentity::of(&LinkIndex::path_of(path)).ok() })
    }
}

impl FileIdentity {
    fn of(path: &Path) -> io::Result<Self> {
        let about = fs::metadata(path)?;
        #[cfg(unix)]
        let number = std::os::unix::fs::MetadataExt::ino(&about);
        #[cfg(not(unix))]
        let number = 0;
        Ok(FileIdentity { bytes: about.len(), changed: about.modified().ok(), number })
    }
}
