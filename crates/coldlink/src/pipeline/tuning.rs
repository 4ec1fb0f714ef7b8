//! A longer search for settings, on a dataset of which nothing is tested.

use super::Settings;
use crate::dataset::Dataset;
use crate::error::Error;
use crate::split::Split;
use crate::tune::{Chosen, Journal, Plan, Search, Space, Stage, Watcher};

/// What is searched for, and where.
#[derive(Clone, Copy)]
pub struct Tuning<'a> {
    /// The graph.
    pub dataset: &'a Dataset,
    /// The settings to start from; those that someone asked for one by one stay as they are.
    pub settings: &'a Settings,
    /// The values that other settings may take.
    pub space: &'a Space,
    /// How many candidates are drawn.
    pub trials: usize,
    /// The seed.
    pub seed: u64,
    /// Where finished trials are kept, if anywhere.
    pub journal: Option<&'a Journal>,
}

impl Tuning<'_> {
    /// Draws candidates, tries all of them for a part of their steps and the best for all of them.
    pub fn run(&self, watcher: &mut dyn Watcher) -> Result<Chosen, Error> {
        let Tuning { dataset, settings, space, trials, seed, journal } = *self;
        let candidates = space.clone().without(&settings.fixed).sample(&settings.config, trials, seed);
        let split = &Split::for_training(dataset, settings.config.validation, seed)?;
        let stages = Stage::in_thirds(candidates.len());
        watcher.planned(&Plan::of_trials(split, &settings.config, &candidates, &stages));
        Ok(Search { split, seed, journal, until: None }.run(&candidates, &stages, watcher)?)
    }
}
