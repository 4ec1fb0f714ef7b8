//! The rule of selection, the same for every method: the earliest of the best validations by AUC + AP, stopping after some
//! without a new best; then either that model itself, or one fitted anew on everything but the test nodes for as many steps.

use std::time::Instant;

use coldlink::evaluate::{Measured, Measures, Scorer, Test};
use coldlink::graph::Attributes;
use coldlink::split::{Pair, Split, TrainView};
use coldlink::train::Validated;

use crate::method::{Learner, Method, MethodError};

/// What goes on while a method is fitted.
pub enum Look {
    /// Steps done of those at the most.
    Steps(u64, u64),
    /// A validation.
    Validated(Validated),
}

/// A method, fitted.
pub(super) struct Fitted<'a> {
    /// Scores as the chosen model does.
    pub scorer: Box<dyn Scorer + 'a>,
    /// The validation it was chosen by; none where nothing is trained.
    pub best: Option<Validated>,
    /// All validations.
    pub history: Vec<Validated>,
    /// Steps of the chosen model.
    pub steps: u64,
    /// Numbers that were learned.
    pub parameters: usize,
    /// Wall time of the search for the number of steps and of the final model.
    pub seconds: f64,
    /// Whether all candidates can be ranked.
    pub can_rank: bool,
}

/// Why a fit has no result.
#[derive(Debug, thiserror::Error)]
pub(super) enum FitError {
    /// The method cannot be trained.
    #[error(transparent)]
    Method(#[from] MethodError),
    /// A score is not a number.
    #[error("a score is not a number after {step} steps")]
    Diverged {
        /// When it was seen.
        step: u64,
    },
}

/// The search's outcome.
pub(super) struct Searched<'a> {
    learner: Box<dyn Learner<'a> + 'a>,
    scorer: Box<dyn Scorer + 'a>,
    /// All validations.
    pub history: Vec<Validated>,
}

impl Searched<'_> {
    /// The earliest of the best validations.
    pub fn best(&self) -> Option<Validated> {
        best(&self.history)
    }
}

fn best(history: &[Validated]) -> Option<Validated> {
    history.iter().copied().reduce(|best, next| if next.quality() > best.quality() { next } else { best })
}

/// Trains on the search view until validation has not improved for a while, or nothing finite comes out any more.
fn search<'a>(
    method: &dyn Method,
    (view, pairs): (TrainView<'a>, &[Pair]),
    seed: u64,
    observe: &mut dyn FnMut(Look),
) -> Result<Searched<'a>, FitError> {
    let training = method.training();
    let mut learner = method.start(view, seed)?;
    let (mut history, mut scorer) = (Vec::new(), learner.scorer());
    for step in 1..=training.steps {
        if !learner.step().is_finite() {
            // What was good before still is.
            if history.is_empty() {
                return Err(FitError::Diverged { step });
            }
            break;
        }
        if !step.is_multiple_of(training.validate_every) && step < training.steps {
            continue;
        }
        observe(Look::Steps(step, training.steps));
        let now = learner.scorer();
        let validated = match validate(&*now, pairs, step) {
            Ok(Some(validated)) => validated,
            // Nothing to choose by: the last model counts.
            Ok(None) => {
                scorer = now;
                continue;
            }
            Err(_) if !history.is_empty() => break,
            Err(error) => return Err(error),
        };
        if best(&history).is_none_or(|best| validated.quality() > best.quality()) {
            scorer = now;
        }
        history.push(validated);
        observe(Look::Validated(validated));
        let since = best(&history).map_or(0, |best| history.iter().filter(|each| each.step > best.step).count());
        if since >= training.patience as usize {
            break;
        }
    }
    Ok(Searched { learner, scorer, history })
}

fn validate(scorer: &dyn Scorer, pairs: &[Pair], step: u64) -> Result<Option<Validated>, FitError> {
    let ends: Vec<_> = pairs.iter().map(|pair| (pair.source, pair.target)).collect();
    let linked: Vec<bool> = pairs.iter().map(|pair| pair.linked).collect();
    let measures = Measures::of(&scorer.scores(&ends), &linked).map_err(|_| FitError::Diverged { step })?;
    let values = measures.auc.zip(measures.ap).zip(measures.prevalence);
    Ok(values.map(|((auc, ap), prevalence)| Validated { step, auc, ap, prevalence }))
}

/// A method to be fitted and measured on a split.
pub(super) struct Task<'t, 'a> {
    pub method: &'t dyn Method,
    pub split: &'a Split,
    pub attributes: &'a Attributes,
    pub seed: u64,
}

impl<'a> Task<'_, 'a> {
    /// Trains on the search view, and looks at the validation pairs.
    pub fn search(&self, observe: &mut dyn FnMut(Look)) -> Result<Searched<'a>, FitError> {
        let Task { method, split, attributes, seed } = *self;
        search(method, (split.search(attributes), split.validation()), seed, observe)
    }

    /// The same, and then the final model where there is more to train on.
    pub fn fit(&self, observe: &mut dyn FnMut(Look)) -> Result<Fitted<'a>, FitError> {
        let Task { method, split, attributes, seed } = *self;
        let started = Instant::now();
        let searched = self.search(observe)?;
        let best = searched.best();
        let steps = best.map_or(method.training().steps, |best| best.step);
        let (mut learner, mut scorer) = (searched.learner, searched.scorer);
        if let Some(view) = split.refit(attributes) {
            learner = method.start(view, seed)?;
            for step in 1..=steps {
                if !learner.step().is_finite() {
                    return Err(FitError::Diverged { step });
                }
                if step.is_multiple_of(method.training().validate_every) {
                    observe(Look::Steps(step, steps));
                }
            }
            scorer = learner.scorer();
        }
        Ok(Fitted {
            scorer,
            best,
            history: searched.history,
            steps,
            parameters: learner.parameters(),
            seconds: started.elapsed().as_secs_f64(),
            can_rank: learner.can_rank(),
        })
    }

    /// Measures a fitted method on the split's test set.
    pub fn measure(&self, fitted: &Fitted<'_>) -> Result<Measured, FitError> {
        let view = self.split.final_view(self.attributes);
        let queries = if fitted.can_rank { self.split.test().queries(&view) } else { Vec::new() };
        let test = Test { pairs: self.split.test().pairs(), queries: &queries, view, rank_baselines: false };
        // The split was audited, so only a score can be at fault.
        test.measure(&*fitted.scorer).map_err(|_| FitError::Diverged { step: fitted.steps })
    }
}
