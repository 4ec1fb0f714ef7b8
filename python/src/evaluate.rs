//! How good settings are on links that a model has not seen.

use coldlink::Error;
use coldlink::evaluate::{About, Evaluation, Record, Report, evaluate_split};
use coldlink::split::{Audit, Protocol, Split};
use pyo3::prelude::*;

use crate::error::{misconfigured, raised};
use crate::graph::Graph;
use crate::listener::Listener;
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
    popularity: f32,
    rank_baselines: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    if !(0.0..=1.0).contains(&popularity) {
        return Err(misconfigured(format!("`popularity` is {popularity}"), "it is a share from 0 to 1"));
    }
    let dataset = &graph.dataset;
    let parsed: Protocol = protocol.parse().map_err(raised)?;
    let settings = settings.inner.clone().under(&parsed).map_err(raised)?;
    let evaluation =
        Evaluation { protocol: parsed, config: settings.config, auto: settings.auto, popularity, rank_baselines };
    let rule = Some(evaluation.config.validation);
    let (mut results, mut worst) = (Vec::new(), None::<Audit>);
    for place in 0..seeds {
        let seed = first_seed.saturating_add(place);
        let label = if seeds > 1 { format!("seed {} of {seeds}, ", place + 1) } else { String::new() };
        let mut listener = Listener::new(progress.as_ref().map(|shown| shown.clone_ref(py)), label);
        let result = py.detach(|| {
            let split = Split::make(dataset, &evaluation.protocol, rule, seed)?;
            let result = evaluate_split(dataset, &split, &evaluation, seed, &mut listener)?;
            Ok::<_, Error>((result, split.audit().clone()))
        });
        let (result, audit) = listener.outcome(result)?;
        if worst.as_ref().is_none_or(|worst| audit.status() > worst.status()) {
            worst = Some(audit);
        }
        results.push(result);
        py.check_signals()?;
    }
    let Some(audit) = worst else {
        return Err(misconfigured("there is no seed to evaluate", "`seeds` is a number from 1 up"));
    };
    let about = About { protocol: protocol.to_owned(), ..About::of(dataset, &evaluation, &settings.preset, &audit) };
    let record = Record::of(Report::from_seeds(about, results), &evaluation, &audit);
    Ok(serde_json::to_string(&record).unwrap_or_default())
}
