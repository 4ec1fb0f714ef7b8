//! One model as it is served: opened, with what is looked up in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;

use axum::body::Bytes;
use coldlink::graph::NodeId;
use coldlink::model::{FileError, FileProblem, Model};
use xxhash_rust::xxh3::xxh3_64;

use crate::map::Map;
use crate::names::NameOrder;

/// A model with its look-ups. It never changes; a newer one takes its place.
pub struct Served {
    /// The model.
    pub model: Model,
    /// From names to nodes.
    pub names: NameOrder,
    /// What its attributes are called, where that is known.
    pub attribute_names: Vec<String>,
    /// A hash of the file, the same for the same model.
    pub fingerprint: String,
    /// Which file it was opened from.
    pub identity: Identity,
    /// The map of its nodes, made when first asked for.
    map: OnceLock<Map>,
    /// The OpenAPI document that fits it, made when first asked for.
    pub(crate) document: OnceLock<Bytes>,
}

impl Served {
    /// Opens a model's file.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let failed = |error: io::Error| FileError { path: path.to_owned(), problem: FileProblem::Io(error) };
        loop {
            let identity = Identity::of(path).map_err(failed)?;
            let fingerprint = format!("{:016x}", xxh3_64(&fs::read(path).map_err(failed)?));
            let model = Model::open(path)?;
            // All three must have looked at the same file.
            if Identity::of(path).map_err(failed)? == identity {
                return Ok(Served::new(model, fingerprint, identity));
            }
        }
    }

    fn new(model: Model, fingerprint: String, identity: Identity) -> Self {
        Served {
            names: NameOrder::new(&model.names),
            attribute_names: model.attribute_names(),
            model,
            fingerprint,
            identity,
            map: OnceLock::new(),
            document: OnceLock::new(),
        }
    }

    /// The node of that name.
    pub fn find(&self, name: &str) -> Option<NodeId> {
        self.names.find(&self.model.names, name)
    }

    /// What an attribute is called.
    pub fn attribute_name(&self, column: u32) -> String {
        self.attribute_names.get(column as usize).cloned().unwrap_or_else(|| format!("attribute {column}"))
    }

    /// How many links a node has; none where the model keeps no links.
    pub fn degree(&self, node: NodeId) -> Option<usize> {
        self.model.memory.as_ref().map(|memory| memory.graph.degree(node))
    }

    /// The map of its nodes.
    pub fn map(&self) -> &Map {
        self.map.get_or_init(|| Map::of(&self.model.embeddings.attributes))
    }
}

/// Tells one file from another that took its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    path: PathBuf,
    bytes: u64,
    changed: Option<SystemTime>,
    number: u64,
}

impl Identity {
    /// Of the file at `path`.
    pub fn of(path: &Path) -> io::Result<Self> {
        let about = fs::metadata(path)?;
        #[cfg(unix)]
        let number = std::os::unix::fs::MetadataExt::ino(&about);
        #[cfg(not(unix))]
        let number = 0;
        Ok(Identity { path: path.to_owned(), bytes: about.len(), changed: about.modified().ok(), number })
    }
}
