//! The container of all our files: safetensors with one text of our own in its header.
//!
//! That text starts with `coldlink KIND VERSION CHECKSUM`; what follows the line is TOML. The checksum covers kind, version, TOML and
//! every tensor with its name and shape. Matrices are stored with their rows' filling, in an order and at places that let
//! them be used as they lie in the mapped file.

use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytemuck::Pod;
use rayon::prelude::*;
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, Metadata, TensorInfo};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::{Buffer, Map, write_atomically};

/// The key of our text in the header.
const KEY: &str = "coldlink";
/// Where data starts, and every section of rows with it.
const ALIGNMENT: usize = 64;

/// Why a file could not be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot {} `{path}`", problem.action(), path = path.display())]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    #[source]
    pub problem: FileProblem,
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
pub enum FileProblem {
    /// The system's word.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The system's word about writing it.
    #[error(transparent)]
    Write(io::Error),
    /// Another format, or cut off.
    #[error("it is not a safetensors file, or it is cut off: {0}")]
    Container(String),
    /// Somebody else's safetensors.
    #[error("it is a safetensors file, but not one of coldlink's")]
    NotOurs,
    /// A model where a checkpoint is wanted, or the reverse.
    #[error("it is a {found}, but a {wanted} is wanted")]
    Kind {
        /// What it is.
        found: String,
        /// What it should be.
        wanted: &'static str,
    },
    /// Made by a later coldlink.
    #[error("it has version {found}; this coldlink reads up to version {known}")]
    Version {
        /// The file's.
        found: u32,
        /// The newest known.
        known: u32,
    },
    /// Changed after it was written.
    #[error("it is damaged: the checksum is {found:016x}, but {stored:016x} was written")]
    Checksum {
        /// Of what is there.
        found: u64,
        /// Of what was written.
        stored: u64,
    },
    /// Whole, but not what it says it is.
    #[error("it is not consistent: {0}")]
    Inconsistent(String),
}

impl FileProblem {
    fn action(&self) -> &'static str {
        if matches!(self, FileProblem::Write(_)) { "write" } else { "open" }
    }
}

impl FileError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match &self.problem {
            FileProblem::Io(error) if error.kind() == io::ErrorKind::NotFound => {
                Some("check the path; `coldlink train GRAPH -o MODEL` makes a model".to_owned())
            }
            FileProblem::Version { .. } => Some("update coldlink".to_owned()),
            FileProblem::Checksum { .. } | FileProblem::Container(_) | FileProblem::Inconsistent(_) => {
                Some("copy the file again, or train again".to_owned())
            }
            _ => None,
        }
    }
}

/// A number that a section may hold.
pub(crate) trait Element: Pod {
    /// Its name in the header.
    const TYPE: Dtype;
}

impl Element for u8 {
    const TYPE: Dtype = Dtype::U8;
}

impl Element for u32 {
    const TYPE: Dtype = Dtype::U32;
}

impl Element for u64 {
    const TYPE: Dtype = Dtype::U64;
}

impl Element for f32 {
    const TYPE: Dtype = Dtype::F32;
}

/// Sections to be written.
#[derive(Default)]
pub(crate) struct ContainerWriter<'a> {
    tensors: Vec<(String, Dtype, Vec<usize>, &'a [u8])>,
}

impl<'a> ContainerWriter<'a> {
    /// Adds a list of numbers.
    pub fn list<E: Element>(&mut self, name: impl Into<String>, values: &'a [E]) {
        self.tensors.push((name.into(), E::TYPE, vec![values.len()], bytemuck::cast_slice(values)));
    }

    /// Adds rows of `columns` 32-bit floats, a row being a multiple of [`ALIGNMENT`] bytes.
    pub fn rows<C: Pod>(&mut self, name: impl Into<String>, columns: usize, chunks: &'a [C]) {
        let bytes: &[u8] = bytemuck::cast_slice(chunks);
        let rows = bytes.len() / (columns * size_of::<f32>()).max(1);
        self.tensors.push((name.into(), Dtype::F32, vec![rows, columns], bytes));
    }

    /// Writes the file, whole or not at all. The same contents give the same bytes.
    pub fn write(mut self, path: &Path, kind: &str, version: u32, about: &str) -> io::Result<()> {
        // Matrices first: their sizes keep the alignment for the next. Then falling sizes of numbers.
        self.tensors.sort_by_key(|(name, dtype, shape, _)| {
            let rank = match dtype {
                Dtype::F32 if shape.len() == 2 => 0,
                Dtype::U64 => 1,
                Dtype::F32 | Dtype::U32 => 2,
                _ => 3,
            };
            (rank, name.clone())
        });
        let mut end = 0;
        let infos = self.tensors.iter().map(|(name, dtype, shape, bytes)| {
            let start = end;
            end += bytes.len();
            (name.clone(), TensorInfo { dtype: *dtype, shape: shape.clone(), data_offsets: (start, end) })
        });
        let infos: Vec<_> = infos.collect();
        let parts = self.tensors.par_iter().map(|(name, _, shape, bytes)| (name.as_str(), shape.as_slice(), *bytes));
        let checksum = checksum(&format!("{kind} {version} {about}"), parts.collect());
        let text = format!("{KEY} {kind} {version} {checksum:016x}\n{about}");
        let metadata = Metadata::new(Some(HashMap::from([(KEY.to_owned(), text)])), infos).map_err(io::Error::other)?;
        let mut header = serde_json::to_vec(&metadata)?;
        header.resize((header.len() + 8).next_multiple_of(ALIGNMENT) - 8, b' ');
        write_atomically(path, |file| {
            file.write_all(&(header.len() as u64).to_le_bytes())?;
            file.write_all(&header)?;
            self.tensors.iter().try_for_each(|(.., bytes)| file.write_all(bytes))
        })
    }
}

fn checksum(about: &str, parts: Vec<(&str, &[usize], &[u8])>) -> u64 {
    let hashes: Vec<u64> = parts.par_iter().map(|(.., bytes)| xxh3_64(bytes)).collect();
    let mut parts: Vec<_> = parts.into_iter().zip(hashes).collect();
    parts.sort_by_key(|((name, ..), _)| *name);
    let mut whole = Xxh3::new();
    whole.update(about.as_bytes());
    for ((name, shape, _), hash) in parts {
        whole.update(format!("{name} {shape:?} {hash}").as_bytes());
    }
    whole.digest()
}

/// A file that was opened and found whole.
pub(crate) struct Container {
    path: PathBuf,
    map: Arc<Map>,
    places: HashMap<String, (TensorInfo, Range<usize>)>,
    /// The TOML.
    pub about: String,
    /// Of all that is in it.
    pub checksum: u64,
}

impl Container {
    /// Opens a file of a kind, in a version up to `version`.
    pub fn open(path: &Path, kind: &'static str, version: u32) -> Result<Self, FileError> {
        Self::read(path, kind, version).map_err(|problem| FileError { path: path.to_owned(), problem })
    }

    fn read(path: &Path, kind: &'static str, version: u32) -> Result<Self, FileProblem> {
        let map = Arc::new(Map::open(path)?);
        let container = |error: safetensors::SafeTensorError| FileProblem::Container(error.to_string());
        let (header, metadata) = SafeTensors::read_metadata(&map).map_err(container)?;
        let text = metadata.metadata().as_ref().and_then(|texts| texts.get(KEY)).ok_or(FileProblem::NotOurs)?;
        let (first, about) = text.split_once('\n').ok_or(FileProblem::NotOurs)?;
        let words: Vec<&str> = first.split(' ').collect();
        let &[KEY, found_kind, found_version, stored] = words.as_slice() else { return Err(FileProblem::NotOurs) };
        let found: u32 = found_version.parse().map_err(|_| FileProblem::NotOurs)?;
        let stored = u64::from_str_radix(stored, 16).map_err(|_| FileProblem::NotOurs)?;
        if found_kind != kind {
            return Err(FileProblem::Kind { found: found_kind.to_owned(), wanted: kind });
        }
        if found > version {
            return Err(FileProblem::Version { found, known: version });
        }
        let start = header + 8;
        let mut places = HashMap::new();
        for (name, info) in metadata.tensors() {
            let range = start + info.data_offsets.0..start + info.data_offsets.1;
            if map.get(range.clone()).is_none() {
                return Err(FileProblem::Container(format!("tensor `{name}` ends beyond the file")));
            }
            places.insert(name, (info.clone(), range));
        }
        let parts =
            places.iter().map(|(name, (info, range))| (name.as_str(), info.shape.as_slice(), &map[range.clone()]));
        let found = checksum(&format!("{kind} {found_version} {about}"), parts.collect());
        if found != stored {
            return Err(FileProblem::Checksum { found, stored });
        }
        let (path, about) = (path.to_owned(), about.to_owned());
        Ok(Container { path, about, checksum: stored, map: Arc::clone(&map), places })
    }

    /// An error about this file.
    pub fn inconsistent(&self, what: impl Into<String>) -> FileError {
        FileError { path: self.path.clone(), problem: FileProblem::Inconsistent(what.into()) }
    }

    /// Whether there is such a tensor.
    pub fn has(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    /// The shape of a tensor.
    pub fn shape(&self, name: &str) -> Result<&[usize], FileError> {
        Ok(&self.place(name)?.0.shape)
    }

    /// The numbers of a section, used from the mapped file.
    pub fn list<N: Pod>(&self, name: &str) -> Result<Buffer<N>, FileError> {
        let (_, range) = self.place(name)?;
        Buffer::mapped(&self.map, range.clone())
            .ok_or_else(|| self.inconsistent(format!("`{name}` has a size or a place that does not fit its numbers")))
    }

    fn place(&self, name: &str) -> Result<&(TensorInfo, Range<usize>), FileError> {
        self.places.get(name).ok_or_else(|| self.inconsistent(format!("there is no tensor `{name}`")))
    }
}
