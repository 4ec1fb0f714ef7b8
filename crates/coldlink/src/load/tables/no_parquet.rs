//! What stands for Parquet files where the feature `parquet` is left out.

use std::convert::Infallible;
use std::path::Path;

use csv::StringRecord;

use crate::load::error::LoadError;

/// The rows of a file, of which there is none without the feature `parquet`.
pub(in crate::load) struct ParquetRows(Infallible);

impl ParquetRows {
    /// Says which feature is missing.
    pub fn open(path: &Path) -> Result<(Self, Vec<String>), LoadError> {
        Err(LoadError::MissingFeature { path: path.to_owned(), feature: "parquet" })
    }

    /// Fills a record with the next row and tells its number.
    pub fn read(&mut self, _: &Path, _: &mut StringRecord) -> Result<Option<u64>, LoadError> {
        match self.0 {}
    }
}
