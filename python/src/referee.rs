//! Methods that coldlink has never heard of, on the test set of a split.

use std::path::PathBuf;

use coldlink::dataset::Dataset;
use coldlink::load::{ScoreTable, load_scores, scores_in_memory};
use coldlink::pipeline::Referee;
use coldlink::split::Protocol;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{raised, refused_rows};
use crate::graph::Graph;
use crate::table::Table;
use crate::threads::work;

/// A table of scores: a file, or columns.
#[derive(FromPyObject)]
pub enum Scores<'py> {
    File(PathBuf),
    Columns(Bound<'py, PyDict>),
}

impl Scores<'_> {
    fn load(&self, py: Python<'_>, dataset: &Dataset) -> PyResult<ScoreTable> {
        match self {
            Scores::File(path) => work(py, || load_scores(path, dataset))?.map_err(raised),
            Scores::Columns(columns) => {
                let table = Table::new(columns)?;
                work(py, || scores_in_memory(&table, dataset))?.map_err(refused_rows)
            }
        }
    }
}

/// Measures as `coldlink evaluate --scores … --json` does, and gives the same JSON with what the user should know.
#[pyfunction]
pub fn evaluate_scores(
    py: Python<'_>,
    graph: &Graph,
    protocol: &str,
    tables: Vec<Scores<'_>>,
    method: &str,
    seed: u64,
) -> PyResult<(String, Vec<String>)> {
    let dataset = &graph.dataset;
    let protocol: Protocol = protocol.parse().map_err(raised)?;
    let tables = tables.iter().map(|table| table.load(py, dataset)).collect::<PyResult<Vec<_>>>()?;
    let referee = Referee { seed, ..Referee::new(dataset, &protocol, method) };
    let report = work(py, || referee.run(tables))?.map_err(raised)?.report;
    Ok((serde_json::to_string(&report).unwrap_or_default(), report.notes))
}
