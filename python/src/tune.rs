//! A longer search for settings.

use std::path::PathBuf;

use coldlink::Config;
use coldlink::split::Split;
use coldlink::train::Validated;
use coldlink::tune::{Journal, Search, Space, Stage};
use pyo3::prelude::*;
use serde::Serialize;

use crate::error::{misconfigured, raised};
use crate::graph::Graph;
use crate::listener::Listener;
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
        return Err(misconfigured(format!("`trials` is {trials}"), "it is a number from 2 to 10000"));
    }
    let (dataset, settings) = (&graph.dataset, &settings.inner);
    let space = space.map_or_else(|| Ok(Space::built_in()), Space::parse).map_err(raised)?;
    let candidates = space.without(&settings.fixed).sample(&settings.config, trials, seed);
    let journal = folder.map(|folder| Journal::open(&folder)).transpose().map_err(raised)?;
    let mut listener = Listener::new(progress, String::new());
    let result = py.detach(|| {
        let attributes = &dataset.attributes;
        let split = Split::for_training(&dataset.graph, attributes, settings.config.validation, seed)?;
        let search = Search { split: &split, attributes, seed, journal: journal.as_ref() };
        Ok::<_, coldlink::Error>(search.run(&candidates, &Stage::in_thirds(candidates.len()), &mut listener)?)
    });
    let chosen = listener.outcome(result)?;
    let trial = |tried: &coldlink::tune::Tried| Trial {
        settings: tried.name.clone(),
        share: tried.share,
        validated: tried.trial.best,
        seconds: tried.seconds,
    };
    let trials = chosen.tried.iter().map(trial).collect();
    Ok(serde_json::to_string(&Found { settings: chosen.config, trials }).unwrap_or_default())
}
