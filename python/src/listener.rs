//! Between a run and Python: progress is shown, and Ctrl-C or an exception stops the run.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use coldlink::Error;
use coldlink::evaluate::Validated;
use coldlink::train::{Control, Event, Observer, Phase};
use coldlink::tune::{Planned, SeedStarted, Tried, Watcher};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::error::raised;
use crate::threads::pool;

/// Time between two looks at Python, which cost a moment of its lock.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// What a run tells an object of `coldlink.progress`.
type Tale = Box<dyn FnOnce(&Bound<'_, PyAny>) -> PyResult<()> + Send>;

/// Hands events of a run to the thread that waits for it.
pub struct Listener {
    tales: SyncSender<Tale>,
    /// Whether the run is to stop, after each tale.
    stops: Receiver<bool>,
    /// What stands before everything, as the seed of several.
    label: String,
    /// The trial at hand, where settings are searched for.
    trial: Option<String>,
    looked: Instant,
    is_stopped: bool,
}

/// What a run gives, whose events `shown` is told, if there is one; or the exception that was to stop it, even where it came too late
/// to. The run is on threads of its own: this one alone sees Ctrl-C.
pub fn watched<T: Send, E: Into<Error> + Send>(
    py: Python<'_>,
    shown: Option<Py<PyAny>>,
    run: impl FnOnce(&mut Listener) -> Result<T, E> + Send,
) -> PyResult<T> {
    let pool = pool(py)?;
    let ((tales, told), (answers, stops)) = (sync_channel::<Tale>(0), sync_channel(1));
    let (label, trial, looked, is_stopped) = (String::new(), None, Instant::now(), false);
    let mut listener = Listener { tales, stops, label, trial, looked, is_stopped };
    let (mut result, mut stopped) = (None, None);
    py.detach(|| {
        let result = &mut result;
        pool.in_place_scope(|scope| {
            scope.spawn(move |_| *result = Some(run(&mut listener)));
            for tale in told {
                let looked = Python::attach(|py| {
                    py.check_signals()?;
                    shown.as_ref().map_or(Ok(()), |shown| tale(shown.bind(py)))
                });
                if let Err(error) = looked {
                    stopped.get_or_insert(error);
                }
                // Nobody hears it where the run has panicked, which ends this too.
                let _ = answers.send(stopped.is_some());
            }
        });
    });
    match (stopped, result) {
        (Some(stopped), _) => Err(stopped),
        (None, Some(result)) => result.map_err(raised),
        (None, None) => Err(PyRuntimeError::new_err("the run has ended without a result")),
    }
}

impl Listener {
    /// Lets Python look at Ctrl-C, and at what there is to tell.
    fn look(&mut self, tale: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<()> + Send + 'static) {
        self.looked = Instant::now();
        let answer = self.tales.send(Box::new(tale)).ok().and_then(|()| self.stops.recv().ok());
        self.is_stopped |= answer.unwrap_or(true);
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
                self.look(move |shown| shown.call_method1("started", (name, step, steps)).map(drop));
            }
            Event::Advanced { step, loss } if self.looked.elapsed() > BETWEEN_LOOKS => {
                self.look(move |shown| shown.call_method1("advanced", (step, loss)).map(drop));
            }
            Event::Validated(Validated { auc, ap, .. }) => {
                self.look(move |shown| shown.call_method1("validated", (auc, ap)).map(drop));
            }
            Event::Ended { step, .. } => self.look(move |shown| shown.call_method1("ended", (step,)).map(drop)),
            Event::Advanced { .. } | Event::Scoring { .. } | Event::Saved { .. } | Event::OtherCpu { .. } => {}
        }
        if self.is_stopped { Control::Stop } else { Control::Continue }
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
        self.look(move |shown| shown.call_method1("note", (text,)).map(drop));
    }
}
