//! What stands for Parquet files where the feature `parquet` is left out.

use std::convert::Infallible;

use crate::columns::Cells;
use crate::load::error::LoadError;
use crate::load::input::Input;

/// The rows of a file, of which there is none without the feature `parquet`.
pub(in crate::load) struct ParquetRows(Infallible);

impl ParquetRows {
    /// Says which feature is missing.
    pub fn open(input: &Input) -> Result<(Self, Vec<String>), LoadError> {
        Err(LoadError::MissingFeature { path: input.path().to_owned(), feature: "parquet" })
    }

    /// Goes on to the next row and tells its number.
    pub fn read(&mut self, _: &Input) -> Result<Option<u64>, LoadError> {
        match self.0 {}
    }

    /// The row that was read last.
    pub fn row(&self) -> &dyn Cells {
        match self.0 {}
    }
}
