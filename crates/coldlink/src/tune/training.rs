//! The whole way from a dataset to a model that is to be used: settings are chosen, then the model is trained with them.

use super::{Chosen, Journal, Passing, Search, Settings, Watcher, auto};
use crate::Error;
use crate::graph::Dataset;
use crate::model::Model;
use crate::split::Split;
use crate::train::{Checkpoints, Fit};

/// What a model is made from. The same dataset, settings and seed give the same model, bit for bit.
pub struct Training<'a> {
    /// The graph.
    pub dataset: &'a Dataset,
    /// The settings, and whether better ones are searched for first.
    pub settings: &'a Settings,
    /// The seed.
    pub seed: u64,
    /// Where finished trials of the search are kept, if anywhere.
    pub journal: Option<&'a Journal>,
    /// Where checkpoints of the training go, if anywhere.
    pub checkpoints: Option<&'a Checkpoints>,
}

impl Training<'_> {
    /// Chooses settings, trains, and fits the final model on everything.
    pub fn run(&self, watcher: &mut dyn Watcher) -> Result<Model, Error> {
        let Training { dataset, settings, seed, journal, checkpoints } = *self;
        let attributes = &dataset.attributes;
        let split = &Split::for_training(&dataset.graph, attributes, settings.config.validation, seed)?;
        let chosen = match &settings.auto {
            Some(how) => auto(&Search { split, attributes, seed, journal }, &settings.config, how, watcher)?,
            None => Chosen::given(settings.config.clone()),
        };
        let config = &chosen.config;
        let fit = Fit { split, attributes, config, seed, checkpoints };
        let fitted = fit.run_after(chosen.trial.as_ref(), &mut Passing(watcher))?;
        Ok(Model::new(dataset, &fitted, config, &settings.preset, seed))
    }
}
