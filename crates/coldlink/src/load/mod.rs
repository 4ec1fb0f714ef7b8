//! From files to a [`crate::graph::Dataset`]: one file per format.

mod error;
mod map;

pub use error::LoadError;
pub use map::Map;
