//! Between a run and Python: progress is shown, and Ctrl-C or an exception stops the run.

use std::time::{Duration, Instant};

use coldlink::Error;
use coldlink::evaluate::Validated;
use coldlink::train::{Control, Event, Observer, Phase};
use coldlink::tune::{Planned, SeedStarted, Tried, Watcher};
use pyo3::prelude::*;

use crate::error::raised;

/// Time between two looks at Python, which cost a moment of its lock.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// Hands events to an object of `coldlink.progress`, where there is one.
pub struct Listener {
    shown: Option<Py<PyAny>>,
    /// What stands before everything, as the seed of several.
    label: String,
    /// The trial at hand, where settings are searched for.
    trial: Option<String>,
    looked: Instant,
    /// What stopped the run.
    stopped: Option<PyErr>,
}

impl Listener {
    /// Shows nothing without an object.
    pub fn new(shown: Option<Py<PyAny>>) -> Self {
        Listener { shown, label: String::new(), trial: None, looked: Instant::now(), stopped: None }
    }

    /// What a run gave; or the exception that was to stop it, even where it came too late to.
    pub fn outcome<T>(self, result: Result<T, impl Into<Error>>) -> PyResult<T> {
        match self.stopped {
            Some(stopped) => Err(stopped),
            None => result.map_err(raised),
        }
    }

    /// Lets Python look at Ctrl-C, and at what there is to tell.
    fn look(&mut self, tell: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<()>) {
        self.looked = Instant::now();
        let looked = Python::attach(|py| {
            py.check_signals()?;
            self.shown.as_ref().map_or(Ok(()), |shown| tell(shown.bind(py)))
        });
        if let Err(error) = looked {
            self.stopped.get_or_insert(error);
        }
    }

    fn name(&self, phase: Phase) -> String {
        let phase = match phase {
            Phase::Search => "search",
            Phase::Refit => "final fit",
        };
        format!("{}{}", self.label, self.trial.as_deref().unwrap_or(phase))
    }
}

impl Observer for Listener {
    fn on(&mut self, event: Event) -> Control {
        match event {
            Event::Started { phase, step, steps } => {
                let name = self.name(phase);
                self.look(|shown| shown.call_method1("started", (name, step, steps)).map(drop));
            }
            Event::Advanced { step, loss } if self.looked.elapsed() > BETWEEN_LOOKS => {
                self.look(|shown| shown.call_method1("advanced", (step, loss)).map(drop));
            }
            Event::Validated(Validated { auc, ap, .. }) => {
                self.look(|shown| shown.call_method1("validated", (auc, ap)).map(drop));
            }
            Event::Ended { step, .. } => self.look(|shown| shown.call_method1("ended", (step,)).map(drop)),
            Event::Advanced { .. } | Event::Scoring { .. } | Event::Saved { .. } | Event::OtherCpu { .. } => {}
        }
        if self.stopped.is_some() { Control::Stop } else { Control::Continue }
    }
}

impl Watcher for Listener {
    fn seed_started(&mut self, started: &SeedStarted<'_>) {
        let SeedStarted { place, seeds, .. } = *started;
        self.label = if seeds > 1 { format!("seed {} of {seeds}, ", place + 1) } else { String::new() };
    }

    fn trial_started(&mut self, planned: &Planned<'_>) {
        self.trial = Some(format!("trial {} of {}", planned.number, planned.trials));
    }

    fn trial_ended(&mut self, tried: &Tried) {
        let Validated { auc, ap, .. } = tried.trial.best;
        let trial = self.trial.take().unwrap_or_default();
        let text = format!("{}{trial}: AUC {auc:.3}, AP {ap:.3} with {}", self.label, tried.name);
        self.look(|shown| shown.call_method1("note", (text,)).map(drop));
    }
}
