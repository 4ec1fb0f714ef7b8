//! How good settings are on links that a model has not seen.

use coldlink::model::checked_popularity;
use coldlink::pipeline::Evaluation;
use coldlink::split::Protocol;
use pyo3::prelude::*;

use crate::error::{out_of_range, raised, unanswered};
use crate::graph::Graph;
use crate::listener::watched;
use crate::settings::Settings;

/// Evaluates as `coldlink evaluate --json` does, and gives the same JSON.
#[pyfunction]
#[pyo3(signature = (graph, settings, protocol, first_seed, seeds, popularity, rank_baselines, progress))]
#[expect(clippy::too_many_arguments, reason = "keywords in Python")]
pub fn evaluate(
    py: Python<'_>,
    graph: &Graph,
    settings: &Settings,
    protocol: &str,
    first_seed: u64,
    seeds: u64,
    popularity: f64,
    rank_baselines: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let popularity = checked_popularity(popularity).map_err(unanswered)?;
    let dataset = &graph.dataset;
    let parsed: Protocol = protocol.parse().map_err(raised)?;
    let settings = settings.inner.clone().under(&parsed).map_err(raised)?;
    if seeds == 0 {
        return Err(out_of_range("seeds", "a positive integer", seeds));
    }
    let evaluation =
        Evaluation { dataset, protocol: &parsed, settings: &settings, first_seed, seeds, popularity, rank_baselines };
    let evaluated = watched(py, progress, |listener| evaluation.run(listener))?;
    Ok(serde_json::to_string(&evaluated.record).unwrap_or_default())
}
