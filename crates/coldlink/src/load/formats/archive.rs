//! `.npz` files: an archive of numpy arrays.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use zip::ZipArchive;

use super::npy::Array;
use crate::load::error::{ArrayProblem, LoadError, read_error};

/// The ending of an array's file within the archive.
const ENDING: &str = ".npy";

/// An open `.npz` file. Arrays are read when they are asked for.
pub struct NpzFile {
    path: PathBuf,
    archive: ZipArchive<BufReader<File>>,
}

impl NpzFile {
    /// Opens a file and reads its list of arrays.
    pub fn open(path: &Path) -> Result<Self, LoadError> {
        let file = File::open(path).map_err(|source| read_error(path, source))?;
        let archive = ZipArchive::new(BufReader::new(file))
            .map_err(|error| LoadError::Archive { path: path.to_owned(), reason: error.to_string() })?;
        Ok(NpzFile { path: path.to_owned(), archive })
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
            Ok(entry) => Array::read(entry),
            Err(error) => Err(ArrayProblem::Damaged { reason: error.to_string() }),
        };
        array.map_err(|problem| self.problem(name, problem))
    }

    pub(super) fn problem(&self, array: &str, problem: ArrayProblem) -> LoadError {
        LoadError::Array { path: self.path.clone(), array: array.to_owned(), problem }
    }
}
