//! What can go wrong while a split is made or read.

/// Why there is no split.
#[derive(Debug, thiserror::Error)]
pub enum SplitError {}
