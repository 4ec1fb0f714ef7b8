//! What can be wrong with input files.

/// Why a file could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {}
