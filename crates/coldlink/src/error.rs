//! Every error of the library in one type, for those who do not care which stage failed.

use crate::load::LoadError;
use crate::split::SplitError;

/// Any error of the library.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Reading or writing data.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// Splitting.
    #[error(transparent)]
    Split(#[from] SplitError),
}
