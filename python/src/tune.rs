//! A longer search for settings.

use std::path::PathBuf;

use coldlink::Config;
use coldlink::evaluate::Validated;
use coldlink::pipeline::Tuning;
use coldlink::tune::{Journal, Space};
use pyo3::prelude::*;
use serde::Serialize;

use crate::error::{out_of_range, raised};
use crate::graph::Graph;
use crate::listener::watched;
use crate::settings::Settings;

/// What a search found.
#[derive(Serialize)]
struct Found {
    settings: Config,
    trials: Vec<Trial>,
}

/// One of its trials.
#[derive(Serialize)]
struct Trial {
    settings: String,
    share: f64,
    #[serde(flatten)]
    validated: Validated,
    seconds: f64,
}

/// Searches as `coldlink tune` does, and gives what it found as JSON.
#[pyfunction]
#[pyo3(signature = (graph, settings, trials, space, folder, seed, progress))]
#[expect(clippy::too_many_arguments, reason = "keywords in Python")]
pub fn tune(
    py: Python<'_>,
    graph: &Graph,
    settings: &Settings,
    trials: usize,
    space: Option<&str>,
    folder: Option<PathBuf>,
    seed: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    if !(2..=10_000).contains(&trials) {
        return Err(out_of_range("trials", "from 2 to 10000", trials));
    }
    let (dataset, settings) = (&graph.dataset, &settings.inner);
    let space = space.map_or_else(|| Ok(Space::built_in()), Space::parse).map_err(raised)?;
    let journal = folder.map(|folder| Journal::open(&folder)).transpose().map_err(raised)?;
    let tuning = Tuning { dataset, settings, space: &space, trials, seed, journal: journal.as_ref() };
    let chosen = watched(py, progress, |listener| tuning.run(listener))?;
    let trial = |tried: &coldlink::tune::Tried| Trial {
        settings: tried.name.clone(),
        share: tried.share,
        validated: tried.trial.best,
        seconds: tried.seconds,
    };
    let trials = chosen.tried.iter().map(trial).collect();
    Ok(serde_json::to_string(&Found { settings: chosen.config, trials }).unwrap_or_default())
}
