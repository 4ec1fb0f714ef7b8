//! `.npz` files: an archive of numpy arrays.

use std::io::BufReader;
use std::path::{Path, PathBuf};

use zip::ZipArchive;

use super::npy::Array;
use crate::load::Limits;
use crate::load::error::{ArrayProblem, LoadError};
use crate::load::input::{Input, ReadSeek};
use crate::load::limits::Unpacking;

/// The ending of an array's file within the archive.
const ENDING: &str = ".npy";

/// An open `.npz` file. Arrays are read when they are asked for.
pub struct NpzFile {
    path: PathBuf,
    archive: ZipArchive<BufReader<Box<dyn ReadSeek>>>,
    /// Bytes that all arrays may unpack to, and how many of these are left.
    most: u64,
    left: u64,
}

impl NpzFile {
    /// Opens a file and reads its list of arrays.
    pub fn open(path: &Path) -> Result<Self, LoadError> {
        NpzFile::of(&Input::open(path, &Limits::default())?)
    }

    /// The same from an input.
    pub(in crate::load) fn of(input: &Input) -> Result<Self, LoadError> {
        let path = input.path().to_owned();
        let most = input.limits().most_unpacked(input.len()?);
        match ZipArchive::new(BufReader::new(input.reader()?)) {
            Ok(archive) => Ok(NpzFile { path, archive, most, left: most }),
            Err(error) => Err(LoadError::Archive { path, reason: error.to_string() }),
        }
    }

    /// The arrays' names, sorted.
    pub fn names(&self) -> Vec<String> {
        let array = |file: &str| file.strip_suffix(ENDING).map(str::to_owned);
        let mut names: Vec<String> = self.archive.file_names().flatten().filter_map(|file| array(&file)).collect();
        names.sort_unstable();
        names
    }

    /// Whether there is an array of that name.
    pub fn has(&self, name: &str) -> bool {
        self.archive.index_for_name(&format!("{name}{ENDING}")).is_some()
    }

    /// The shape and numbers of an array of whole numbers, row by row.
    pub fn integers(&mut self, name: &str) -> Result<(Vec<usize>, Vec<i64>), LoadError> {
        let array = self.array(name)?;
        let integers = array.integers().map_err(|problem| self.problem(name, problem))?;
        Ok((array.shape, integers))
    }

    /// The shape and numbers of an array of any numbers, row by row.
    pub fn floats(&mut self, name: &str) -> Result<(Vec<usize>, Vec<f64>), LoadError> {
        let array = self.array(name)?;
        let floats = array.floats();
        Ok((array.shape, floats))
    }

    fn array(&mut self, name: &str) -> Result<Array, LoadError> {
        if !self.has(name) {
            return Err(self.problem(name, ArrayProblem::Missing));
        }
        let array = match self.archive.by_name(&format!("{name}{ENDING}")) {
            Ok(entry) => Array::read(Unpacking::most(entry, &mut self.left)),
            Err(error) => Err(ArrayProblem::Damaged { reason: error.to_string() }),
        };
        array.map_err(|problem| match problem {
            ArrayProblem::UnpacksTooFar { .. } => self.problem(name, ArrayProblem::UnpacksTooFar { most: self.most }),
            problem => self.problem(name, problem),
        })
    }

    pub(super) fn problem(&self, array: &str, problem: ArrayProblem) -> LoadError {
        LoadError::Array { path: self.path.clone(), array: array.to_owned(), problem }
    }
}
