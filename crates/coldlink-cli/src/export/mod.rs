//! Embeddings for use elsewhere: a file per place they can go to.

mod npy;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "postgres")]
mod postgres;

use coldlink::graph::Names;
use coldlink::kernel::Matrix;

pub use npy::{names_beside, write_npy};
#[cfg(feature = "parquet")]
pub use parquet::write_parquet;
#[cfg(feature = "postgres")]
pub use postgres::write_table;

/// What is exported of some nodes: a row each.
pub struct Export {
    pub names: Names,
    pub embeddings: Matrix<f32>,
    /// What is needed to search by inner products.
    #[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "only PostgreSQL needs it"))]
    pub search: Search,
}

/// A table in a database.
#[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "only PostgreSQL needs it"))]
pub struct Destination<'a> {
    /// Where the server is.
    pub url: &'a str,
    /// Its name, with a schema or without.
    pub table: &'a str,
    /// Whether one that is there may go.
    pub replace: bool,
}

/// The vectors of a search, a row per node.
#[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "only PostgreSQL needs them"))]
pub enum Search {
    /// Of nodes that are looked for, with whether each has links.
    Nodes { vectors: Matrix<f32>, warm: Vec<bool> },
    /// Of new nodes that look for them.
    Queries(Matrix<f32>),
}

/// Says which feature a Parquet file needs.
#[cfg(not(feature = "parquet"))]
pub fn write_parquet(path: &std::path::Path, _: &Export) -> anyhow::Result<()> {
    let path = path.to_owned();
    Err(coldlink::load::LoadError::MissingFeature { path, feature: "parquet" }.into())
}

/// Says which feature a table needs.
#[cfg(not(feature = "postgres"))]
pub fn write_table(to: &Destination<'_>, _: &Export) -> anyhow::Result<()> {
    let message = format!("table `{}` needs the feature `postgres`, which this coldlink was built without", to.table);
    Err(crate::failure::Failure::new(message).hint("build coldlink with `--features postgres`").into())
}
