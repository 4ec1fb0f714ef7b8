//! One seed of an evaluation: split, train, measure.

use std::time::Instant;

use super::{Run, SeedResult, Test};
use crate::graph::Dataset;
use crate::model::EmbeddingScorer;
use crate::score::{Evidence, LinkScorer, Side, TfIdfRows};
use crate::split::{Audit, Protocol, Split};
use crate::train::{Fit, Observer};
use crate::{Config, Error};

/// What is evaluated, and how.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// Which test set.
    pub protocol: Protocol,
    /// The settings of the model; they say what is validated on too.
    pub config: Config,
    /// Whether the baselines are ranked among all candidates as well.
    pub rank_baselines: bool,
}

/// Makes the split of a seed, trains on it, and measures the model on its test set.
pub fn evaluate_seed(
    dataset: &Dataset,
    evaluation: &Evaluation,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<(SeedResult, Audit), Error> {
    let split = Split::make(dataset, &evaluation.protocol, Some(evaluation.config.validation), seed)?;
    let result = evaluate_split(dataset, &split, evaluation, seed, observer)?;
    Ok((result, split.audit().clone()))
}

/// Trains on a split that was made already, and measures the model on its test set.
pub fn evaluate_split(
    dataset: &Dataset,
    split: &Split,
    evaluation: &Evaluation,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<SeedResult, Error> {
    let Evaluation { config, rank_baselines, .. } = evaluation;
    let started = Instant::now();
    let fit = Fit { split, attributes: &dataset.attributes, config, seed, checkpoints: None };
    let fitted = fit.run(observer)?;
    let train_seconds = started.elapsed().as_secs_f64();
    let view = split.final_view(&dataset.attributes);
    let embeddings = fitted.embed_all(&view);
    let queries = split.test().queries(&view);
    let test = Test { pairs: split.test().pairs(), queries: &queries, view, rank_baselines: *rank_baselines };
    let run = Run { seed, steps: fitted.steps as usize, train_seconds };
    if let Some(weights) = &fitted.weights {
        let words = TfIdfRows::of(&view);
        let evidence = Evidence::new(view.graph(), Side { embeddings: &embeddings, words: &words });
        let scorer = LinkScorer { evidence, weights, popularity: 1.0 };
        return Ok(SeedResult::measure(run, &scorer, &test)?);
    }
    let scorer = EmbeddingScorer { embeddings: &embeddings, lambda: config.lambda.map(|weight| weight as f32) };
    Ok(SeedResult::measure(run, &scorer, &test)?)
}
