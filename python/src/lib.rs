//! The compiled half of the Python package `coldlink`; what people call is in `python/coldlink`.
//!
//! Everything here works without Python's global lock, looks at Ctrl-C now and then, and raises the exceptions of
//! `coldlink.errors`.

mod arrays;
mod error;
mod evaluate;
mod graph;
mod listener;
mod new_nodes;
mod query;
mod referee;
mod settings;
mod table;
mod threads;
mod trained;
mod tune;

use pyo3::prelude::*;

/// The compiled half of coldlink.
#[pymodule]
mod _coldlink {
    #[pymodule_export]
    use super::evaluate::evaluate;
    #[pymodule_export]
    use super::graph::Graph;
    #[pymodule_export]
    use super::new_nodes::NewNodes;
    #[pymodule_export]
    use super::query::Query;
    #[pymodule_export]
    use super::referee::evaluate_scores;
    #[pymodule_export]
    use super::settings::Settings;
    #[pymodule_export]
    use super::threads::forget_threads;
    #[pymodule_export]
    use super::trained::Trained;
    #[pymodule_export]
    use super::tune::tune;
}
