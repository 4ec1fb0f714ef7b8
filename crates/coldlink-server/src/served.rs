//! One model as it is served: opened, with what is looked up in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use axum::body::Bytes;
use coldlink::graph::NodeId;
use coldlink::index::LinkIndex;
use coldlink::model::Model;
use coldlink::storage::{FileError, FileProblem};
use xxhash_rust::xxh3::xxh3_64;

use crate::map::Map;
use coldlink::graph::NameOrder;

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
    /// Opens a model's file, by way of a copy: whoever writes over the file in its place harms no request.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let failed = |error: io::Error| FileError { path: path.to_owned(), problem: FileProblem::Io(error) };
        let identity = Identity::of(path).map_err(failed)?;
        let copy = Copy::of(path, Copy::new_path()).map_err(failed)?;
        let index = LinkIndex::path_of(path);
        let _index_copy =
            index.exists().then(|| Copy::of(&index, LinkIndex::path_of(&copy.0)).map_err(failed)).transpose()?;
        let fingerprint = format!("{:016x}", xxh3_64(&coldlink::storage::Map::open(&copy.0).map_err(failed)?));
        let (model, problem) =
            Model::open_indexed(&copy.0).map_err(|error| FileError { path: path.to_owned(), ..error })?;
        if let Some(problem) = problem {
            let error: &dyn std::error::Error = &problem;
            tracing::warn!(error, "the index beside the model is not used; `coldlink index` builds it again");
        }
        Ok(Served::new(model, fingerprint, identity))
    }

    fn new(model: Model, fingerprint: String, identity: Identity) -> Self {
        Served {
            names: NameOrder::new(&model.names),
            attribute_names: model.attribute_names().to_vec(),
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

/// A file that is removed when this ends. What is mapped of it stays there as long as it is needed.
struct Copy(PathBuf);

impl Copy {
    /// Of the file at `path`, at a path where nobody else may have put a file or a link.
    fn of(path: &Path, copy: PathBuf) -> io::Result<Self> {
        let mut file = fs::OpenOptions::new().write(true).create_new(true).open(&copy)?;
        let copy = Copy(copy);
        io::copy(&mut fs::File::open(path)?, &mut file)?;
        Ok(copy)
    }

    fn new_path() -> PathBuf {
        static COPIES: AtomicUsize = AtomicUsize::new(0);
        let number = COPIES.fetch_add(1, Ordering::Relaxed);
        let now = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_nanos());
        std::env::temp_dir().join(format!("coldlink-{}-{number}-{now}.model", std::process::id()))
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
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
