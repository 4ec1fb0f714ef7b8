//! Links for nodes that a graph has never seen, from their attributes alone.
//!
//! The folders are the pipeline: [`load`] a [`graph::Dataset`], [`split`] it, [`sample`] batches of pairs, [`train`] a
//! [`model`], [`evaluate`] it, and look up links in an [`index`].

pub mod config;
pub mod error;
pub mod evaluate;
pub mod graph;
pub mod index;
pub mod kernel;
pub mod load;
pub mod model;
pub mod sample;
pub mod score;
pub mod split;
pub mod train;
pub mod tune;

pub use config::Config;
pub use error::Error;
