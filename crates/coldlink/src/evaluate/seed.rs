//! One seed of an evaluation: split, train, measure.

use std::time::Instant;

use super::{ChosenSettings, Run, SeedResult, Test};
use crate::graph::Dataset;
use crate::model::EmbeddingScorer;
use crate::score::{Evidence, LinkScorer, Side, TfIdfRows};
use crate::split::{Audit, Protocol, Split};
use crate::train::Fit;
use crate::tune::{Auto, Chosen, Passing, Search, Watcher, auto};
use crate::{Config, Error};

/// What is evaluated, and how.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// Which test set.
    pub protocol: Protocol,
    /// The settings of the model; they say what is validated on too.
    pub config: Config,
    /// How settings are searched for around these, in each split anew; `None` takes them as they are.
    pub auto: Option<Auto>,
    /// How much a node's links count in its favour; 1 is as much as helps.
    pub popularity: f32,
    /// Whether the baselines are ranked among all candidates as well.
    pub rank_baselines: bool,
}

impl Evaluation {
    /// Of settings as they are.
    pub fn new(protocol: Protocol, config: Config) -> Self {
        Evaluation { protocol, config, auto: None, popularity: 1.0, rank_baselines: false }
    }
}

/// Makes the split of a seed, trains on it, and measures the model on its test set.
pub fn evaluate_seed(
    dataset: &Dataset,
    evaluation: &Evaluation,
    seed: u64,
    watcher: &mut dyn Watcher,
) -> Result<(SeedResult, Audit), Error> {
    let split = Split::make(dataset, &evaluation.protocol, Some(evaluation.config.validation), seed)?;
    let result = evaluate_split(dataset, &split, evaluation, seed, watcher)?;
    Ok((result, split.audit().clone()))
}

/// Trains on a split that was made already, and measures the model on its test set.
pub fn evaluate_split(
    dataset: &Dataset,
    split: &Split,
    evaluation: &Evaluation,
    seed: u64,
    watcher: &mut dyn Watcher,
) -> Result<SeedResult, Error> {
    let attributes = &dataset.attributes;
    let started = Instant::now();
    let chosen = match &evaluation.auto {
        Some(settings) => {
            auto(&Search { split, attributes, seed, journal: None }, &evaluation.config, settings, watcher)?
        }
        None => Chosen::given(evaluation.config.clone()),
    };
    let search_seconds = started.elapsed().as_secs_f64();
    let started = Instant::now();
    let config = &chosen.config;
    let fit = Fit { split, attributes, config, seed, checkpoints: None };
    let fitted = fit.run_after(chosen.trial.as_ref(), &mut Passing(watcher))?;
    let train_seconds = started.elapsed().as_secs_f64();
    let view = split.final_view(attributes);
    let embeddings = fitted.embed_all(&view);
    let queries = split.test().queries(&view);
    let rank_baselines = evaluation.rank_baselines;
    let test = Test { pairs: split.test().pairs(), queries: &queries, view, rank_baselines };
    let run = Run { seed, steps: fitted.steps as usize, train_seconds, search_seconds };
    let result = match &fitted.weights {
        Some(weights) => {
            let words = TfIdfRows::of(&view);
            let evidence = Evidence::new(view.graph(), Side { embeddings: &embeddings, words: &words });
            SeedResult::measure_links(run, &LinkScorer { evidence, weights, popularity: evaluation.popularity }, &test)?
        }
        None => {
            let lambda = config.lambda.map(|weight| weight as f32);
            SeedResult::measure(run, &EmbeddingScorer { embeddings: &embeddings, lambda }, &test)?
        }
    };
    let chosen = chosen.best().map(|tried| ChosenSettings {
        settings: tried.name.clone(),
        auc: tried.trial.best.auc,
        ap: tried.trial.best.ap,
        trials: chosen.tried.len(),
    });
    Ok(SeedResult { chosen, ..result })
}
