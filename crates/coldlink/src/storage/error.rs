//! What can be wrong with a file of ours, and what to do about it.

use std::io;
use std::path::PathBuf;

use super::FileFormat;
use crate::hint::Hint;

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
#[non_exhaustive]
pub enum FileProblem {
    /// The system could not read it.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The system could not write it.
    #[error(transparent)]
    Write(io::Error),
    /// No file of ours, or one that is cut off.
    #[error("it is not a file that coldlink wrote, or it is cut off: {reason}")]
    Container {
        /// What it should be.
        wanted: FileFormat,
        /// What the reader says.
        reason: String,
    },
    /// Somebody else's safetensors.
    #[error("it is a safetensors file, but coldlink did not write it")]
    NotOurs,
    /// A file of ours in another format.
    #[error("it is {found}, but {wanted} is wanted")]
    Format {
        /// What it is.
        found: FileFormat,
        /// What it should be.
        wanted: FileFormat,
    },
    /// Written before formats were kept.
    #[error("a coldlink from before the first release wrote it, and this one cannot read it")]
    BeforeRelease {
        /// What it is.
        format: FileFormat,
    },
    /// Written by a later coldlink.
    #[error("a newer coldlink wrote it: it has version {found}, and this one reads up to version {known}")]
    Version {
        /// The file's version.
        found: u32,
        /// The newest known.
        known: u32,
    },
    /// Changed after it was written.
    #[error("it is damaged: the checksum is {found:016x}, but {stored:016x} was written")]
    Checksum {
        /// What it is.
        format: FileFormat,
        /// Of what is there.
        found: u64,
        /// Of what was written.
        stored: u64,
    },
    /// Whole, but its parts contradict each other.
    #[error("it is not consistent: {reason}")]
    Inconsistent {
        /// What it is.
        format: FileFormat,
        /// What contradicts what.
        reason: String,
    },
}

impl FileProblem {
    fn action(&self) -> &'static str {
        if matches!(self, FileProblem::Write(_)) { "write" } else { "open" }
    }
}

impl FileError {
    /// What to do about it.
    pub fn hint(&self) -> Option<Hint> {
        match &self.problem {
            FileProblem::Io(error) if error.kind() == io::ErrorKind::NotFound => {
                Some(Hint::new("check the path | make a model with {coldlink train}"))
            }
            FileProblem::Format { found, wanted } => Some(wanted.instead_of(*found)),
            FileProblem::BeforeRelease { format } => Some(Hint::new(format.again())),
            FileProblem::Version { .. } => Some(Hint::new("update coldlink")),
            FileProblem::Container { wanted: format, .. }
            | FileProblem::Checksum { format, .. }
            | FileProblem::Inconsistent { format, .. } => Some(Hint::new("copy the file again").or(format.again())),
            FileProblem::Io(_) | FileProblem::Write(_) | FileProblem::NotOurs => None,
        }
    }
}
