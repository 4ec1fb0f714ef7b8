//! Tries candidates stage by stage; each stage goes on with the best of the one before.

use std::time::Instant;

use super::journal::{Finished, Journal};
use super::{Plan, TuneError};
use crate::config::Config;
use crate::split::{Audit, Split};
use crate::train::{Control, Event, Fit, Observer, Silent, TrainError, Trial};

/// Settings to try.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// What they are called: the settings that differ from the others'.
    pub name: String,
    /// All settings.
    pub config: Config,
}

/// A stage of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// How many of the best candidates so far are tried.
    pub candidates: usize,
    /// For which share of their steps.
    pub share: f64,
}

impl Stage {
    /// The stages of a longer search: a ninth of the steps for all candidates, a third for a third of them, all for a ninth.
    pub fn in_thirds(candidates: usize) -> [Stage; 3] {
        [(1, 9.0), (3, 3.0), (9, 1.0)]
            .map(|(part, divisor)| Stage { candidates: candidates.div_ceil(part), share: 1.0 / divisor })
    }
}

/// A trial that is about to begin.
#[derive(Clone, Copy, Debug)]
pub struct Planned<'a> {
    /// Its place among all trials, from 1.
    pub number: usize,
    /// How many there will be.
    pub trials: usize,
    /// What is tried.
    pub candidate: &'a Candidate,
    /// The share of the steps it is trained for.
    pub share: f64,
}

/// A trial that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// Its place among the candidates.
    pub candidate: usize,
    /// What they are called.
    pub name: String,
    /// The share of the steps it was trained for.
    pub share: f64,
    /// How good it was.
    pub trial: Trial,
    /// Wall time.
    pub seconds: f64,
}

/// The settings that were found best.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// All of them.
    pub config: Config,
    /// How good they are on validation pairs; `None` where nothing was tried.
    pub trial: Option<Trial>,
    /// All trials, in order.
    pub tried: Vec<Tried>,
    /// The place of the one that decided among them.
    decided: Option<usize>,
    /// Whether the clock ended the search.
    pub out_of_time: bool,
}

impl Chosen {
    /// Settings that were given and not searched for.
    pub fn given(config: Config) -> Self {
        Chosen { config, trial: None, tried: Vec::new(), decided: None, out_of_time: false }
    }

    /// How many candidates were tried.
    pub fn candidates(&self) -> usize {
        self.tried.iter().map(|tried| tried.candidate + 1).max().unwrap_or(0)
    }

    /// The trial that decided.
    pub fn best(&self) -> Option<&Tried> {
        self.tried.get(self.decided?)
    }
}

/// A seed of an evaluation that is about to be trained on.
#[derive(Clone, Copy, Debug)]
pub struct SeedStarted<'a> {
    /// Its place among the seeds, from 0.
    pub place: u64,
    /// How many there are.
    pub seeds: u64,
    /// What was found when its split was checked.
    pub audit: &'a Audit,
}

/// Watches an evaluation, a search, and the training of each trial.
pub trait Watcher: Observer {
    /// A seed of an evaluation begins.
    fn seed_started(&mut self, _started: &SeedStarted<'_>) {}
    /// A run is about to begin, and this is what it is likely to take.
    fn planned(&mut self, _plan: &Plan) {}
    /// A trial begins.
    fn trial_started(&mut self, _planned: &Planned<'_>) {}
    /// A trial has ended.
    fn trial_ended(&mut self, _tried: &Tried) {}
    /// The search is over.
    fn search_ended(&mut self, _chosen: &Chosen) {}
}

impl Watcher for Silent {}

/// A search inside one split.
pub struct Search<'a> {
    /// What is trained and validated on.
    pub split: &'a Split,
    /// The seed of every trial.
    pub seed: u64,
    /// Where finished trials are kept.
    pub journal: Option<&'a Journal>,
    /// When the clock ends the search, if it does: what was found by then depends on the machine.
    pub until: Option<Instant>,
}

impl Search<'_> {
    /// The best of the candidates. The last stage decides; where it tries none, the first candidate is taken as it is.
    pub fn run(
        &self,
        candidates: &[Candidate],
        stages: &[Stage],
        watcher: &mut dyn Watcher,
    ) -> Result<Chosen, TuneError> {
        let first = candidates.first().ok_or(TuneError::Nothing)?;
        let trials = stages.iter().map(|stage| stage.candidates.min(candidates.len())).sum();
        let mut tried: Vec<Tried> = Vec::new();
        let mut order: Vec<usize> = (0..candidates.len()).collect();
        let mut out_of_time = false;
        for stage in stages {
            order.truncate(stage.candidates);
            let before = tried.len();
            for &candidate in &order {
                let planned =
                    Planned { number: tried.len() + 1, trials, candidate: &candidates[candidate], share: stage.share };
                watcher.trial_started(&planned);
                let Some((trial, seconds)) = self.try_in_time(&planned, watcher)? else {
                    out_of_time = true;
                    break;
                };
                let name = candidates[candidate].name.clone();
                tried.push(Tried { candidate, name, share: stage.share, trial, seconds });
                if let Some(last) = tried.last() {
                    watcher.trial_ended(last);
                }
            }
            let mut ranked: Vec<&Tried> = tried[before..].iter().collect();
            // A stable sort: the earlier of equals stays first.
            ranked.sort_by(|a, b| b.trial.best.quality().total_cmp(&a.trial.best.quality()));
            if !ranked.is_empty() {
                order = ranked.iter().map(|tried| tried.candidate).collect();
            }
            if out_of_time {
                break;
            }
        }
        let decided = order.first().and_then(|best| tried.iter().rposition(|tried| tried.candidate == *best));
        let best = decided.map(|place| &tried[place]);
        if let Some(failed) = best.filter(|best| best.trial.has_failed()) {
            return Err(TrainError::Diverged { step: failed.trial.best.step }.into());
        }
        let config = best.map_or(&first.config, |best| &candidates[best.candidate].config).clone();
        // How many steps are best is seen in a trial of all of them alone.
        let trial = best.filter(|best| best.share >= 1.0).map(|best| best.trial.clone());
        let chosen = Chosen { config, trial, tried, decided, out_of_time };
        watcher.search_ended(&chosen);
        Ok(chosen)
    }

    /// A trial that ends before the clock does.
    fn try_in_time(&self, planned: &Planned<'_>, watcher: &mut dyn Watcher) -> Result<Option<(Trial, f64)>, TuneError> {
        let Some(until) = self.until else { return self.try_out(planned, watcher).map(Some) };
        let mut timed = Timed { watcher, until, is_over: Instant::now() >= until };
        if timed.is_over {
            return Ok(None);
        }
        match self.try_out(planned, &mut timed) {
            Err(TuneError::Train(TrainError::Stopped { .. })) if timed.is_over => Ok(None),
            tried => tried.map(Some),
        }
    }

    fn try_out(&self, planned: &Planned<'_>, watcher: &mut dyn Watcher) -> Result<(Trial, f64), TuneError> {
        let config = self.split.search().sized(&planned.candidate.config);
        let steps = ((config.steps as f64 * planned.share).round() as u64).max(1);
        // The learning rate falls over the steps that there are.
        let config = Config { steps, validate_every: config.validate_every.min(steps), ..config };
        let fit = Fit { split: self.split, config: &config, seed: self.seed, checkpoints: None };
        if let Some(Finished { trial, seconds, other_cpu }) = self.journal.and_then(|journal| journal.find(&fit)) {
            other_cpu.into_iter().for_each(|event| _ = watcher.on(event));
            return Ok((trial, seconds));
        }
        let started = Instant::now();
        let trial = match fit.try_out(&mut Forward(watcher)) {
            // Settings under which numbers go out of range are bad ones, not an error.
            Err(TrainError::Diverged { step }) => Trial::failed(step),
            other => other?,
        };
        let seconds = started.elapsed().as_secs_f64();
        if let Some(journal) = self.journal {
            journal.keep(&fit, &trial, seconds)?;
        }
        Ok((trial, seconds))
    }
}

/// Watches until a time comes.
struct Timed<'a> {
    watcher: &'a mut dyn Watcher,
    until: Instant,
    is_over: bool,
}

impl Observer for Timed<'_> {
    fn on(&mut self, event: Event) -> Control {
        let asked = self.watcher.on(event);
        self.is_over = asked == Control::Continue && Instant::now() >= self.until;
        if self.is_over { Control::Stop } else { asked }
    }
}

impl Watcher for Timed<'_> {}

/// Hands the events of training on to a watcher.
pub struct Forward<'a>(pub &'a mut dyn Watcher);

impl Observer for Forward<'_> {
    fn on(&mut self, event: Event) -> Control {
        self.0.on(event)
    }
}
