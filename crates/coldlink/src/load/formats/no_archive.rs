//! What stands for `.npz` files where the feature `npz` is left out.

use std::convert::Infallible;
use std::path::Path;

use crate::load::error::{ArrayProblem, LoadError};
use crate::load::input::Input;

/// An open `.npz` file, of which there is none without the feature `npz`.
pub struct NpzFile(Infallible);

impl NpzFile {
    /// Says which feature is missing.
    pub fn open(path: &Path) -> Result<Self, LoadError> {
        Err(LoadError::MissingFeature { path: path.to_owned(), feature: "npz" })
    }

    /// Says which feature is missing.
    pub(in crate::load) fn of(input: &Input) -> Result<Self, LoadError> {
        NpzFile::open(input.path())
    }

    /// The arrays' names, sorted.
    pub fn names(&self) -> Vec<String> {
        match self.0 {}
    }

    /// Whether there is an array of that name.
    pub fn has(&self, _: &str) -> bool {
        match self.0 {}
    }

    /// The shape and numbers of an array of whole numbers, row by row.
    pub fn integers(&mut self, _: &str) -> Result<(Vec<usize>, Vec<i64>), LoadError> {
        match self.0 {}
    }

    /// The shape and numbers of an array of any numbers, row by row.
    pub fn floats(&mut self, _: &str) -> Result<(Vec<usize>, Vec<f64>), LoadError> {
        match self.0 {}
    }

    pub(super) fn problem(&self, _: &str, _: ArrayProblem) -> LoadError {
        match self.0 {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_names_the_feature_it_needs() {
        let error = NpzFile::open(Path::new("graph.npz")).err().unwrap();
        assert_eq!(error.to_string(), "`graph.npz` needs the feature `npz`, which this coldlink was built without");
        assert_eq!(error.hint().unwrap().to_string(), "build coldlink with the cargo feature `npz`");
    }
}
