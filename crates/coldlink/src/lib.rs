//! Links for nodes that a graph has never seen, from their attributes alone.
//!
//! The folders are the pipeline, and each uses only those before it: [`hint`], [`storage`], [`random`], [`kernel`], [`graph`],
//! [`columns`], [`dataset`], [`load`], [`config`], [`split`], [`sample`], [`network`], [`index`], [`score`], [`evaluate`],
//! [`train`], [`tune`], [`model`], [`error`], [`pipeline`].

pub mod columns;
pub mod config;
pub mod dataset;
pub mod error;
pub mod evaluate;
pub mod graph;
pub mod hint;
pub mod index;
pub mod kernel;
pub mod load;
pub mod model;
pub mod network;
pub mod pipeline;
pub mod random;
pub mod sample;
pub mod score;
pub mod split;
pub mod storage;
#[doc(hidden)]
pub mod synthetic;
pub mod train;
pub mod tune;

pub use config::Config;
pub use error::Error;
pub use hint::Hint;
