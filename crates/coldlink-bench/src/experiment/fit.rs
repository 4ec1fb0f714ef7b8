//! The rule of selection, the same for every method: the earliest of the best validations by AUC + AP, stopping after some
//! without a new best; then either that model itself, or one fitted anew on everything but the test nodes for as many steps.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use coldlink::evaluate::{Measured, Test, Validated};
use coldlink::score::Scorer;
use coldlink::split::{Pair, Split, TrainView};
use coldlink::train::{self, Diverged, Judge, Moment, Rule, Selection};

use crate::method::{Learner, Method, MethodError, Training};

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
    pub scorer: Rc<dyn Scorer + 'a>,
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
    scorer: Rc<dyn Scorer + 'a>,
    /// All validations.
    pub history: Vec<Validated>,
    /// The one that is chosen by.
    pub best: Option<Validated>,
}

/// A method at work, as the library's rule of selection wants it.
struct Counted<'a> {
    learner: Box<dyn Learner<'a> + 'a>,
    step: u64,
    loss: f64,
    /// Its scorer after some step, made once: it may embed every node.
    scorer: RefCell<Option<(u64, Rc<dyn Scorer + 'a>)>>,
}

impl<'a> Counted<'a> {
    fn scorer(&self) -> Rc<dyn Scorer + 'a> {
        let mut known = self.scorer.borrow_mut();
        match &*known {
            Some((step, scorer)) if *step == self.step => Rc::clone(scorer),
            _ => {
                let scorer: Rc<dyn Scorer + 'a> = Rc::from(self.learner.scorer());
                *known = Some((self.step, Rc::clone(&scorer)));
                scorer
            }
        }
    }
}

impl<'a> train::Learner for Counted<'a> {
    type Snapshot = Rc<dyn Scorer + 'a>;

    fn step(&self) -> u64 {
        self.step
    }

    fn advance(&mut self, steps: u64) {
        while self.step < steps && self.loss.is_finite() {
            self.loss = self.learner.step();
            self.step += 1;
        }
    }

    fn loss(&self) -> f64 {
        self.loss
    }

    fn scores(&self, pairs: &[Pair]) -> Vec<f32> {
        self.scorer().scores(&pairs.iter().map(|pair| (pair.source, pair.target)).collect::<Vec<_>>())
    }

    fn snapshot(&self) -> Rc<dyn Scorer + 'a> {
        self.scorer()
    }
}

impl From<Diverged> for FitError {
    fn from(Diverged { step }: Diverged) -> Self {
        FitError::Diverged { step }
    }
}

/// Trains on the search view until validation has not improved for a while, or nothing finite comes out any more.
fn search<'a>(
    method: &dyn Method,
    (view, pairs): (TrainView<'a>, &[Pair]),
    seed: u64,
    observe: &mut dyn FnMut(Look),
) -> Result<Searched<'a>, FitError> {
    let Training { steps, validate_every, patience, .. } = method.training();
    let mut counted = Counted { learner: method.start(view, seed)?, step: 0, loss: 0.0, scorer: RefCell::new(None) };
    let mut selection = Selection::new(Rule { steps, validate_every, patience }, true);
    selection.run::<_, FitError>(&mut counted, &Judge::of_pairs(pairs.to_vec()), &mut |_, _, moment| {
        observe(match moment {
            Moment::Advanced { step, .. } => Look::Steps(step, steps),
            Moment::Validated(validated) => Look::Validated(validated),
        });
        Ok(())
    })?;
    let best = selection.best();
    let (history, scorer) = selection.into_parts();
    // What needs no training is never validated.
    let scorer = scorer.unwrap_or_else(|| counted.scorer());
    Ok(Searched { learner: counted.learner, scorer, history, best })
}

/// A method to be fitted and measured on a split.
pub(super) struct Task<'t, 'a> {
    pub method: &'t dyn Method,
    pub split: &'a Split,
    pub seed: u64,
}

impl<'a> Task<'_, 'a> {
    /// Trains on the search view, and looks at the validation pairs.
    pub fn search(&self, observe: &mut dyn FnMut(Look)) -> Result<Searched<'a>, FitError> {
        let Task { method, split, seed } = *self;
        search(method, (split.search(), split.validation()), seed, observe)
    }

    /// The same, and then the final model where there is more to train on.
    pub fn fit(&self, observe: &mut dyn FnMut(Look)) -> Result<Fitted<'a>, FitError> {
        let Task { method, split, seed } = *self;
        let started = Instant::now();
        let searched = self.search(observe)?;
        let best = searched.best;
        let steps = best.map_or(method.training().steps, |best| best.step);
        let (mut learner, mut scorer) = (searched.learner, searched.scorer);
        if let Some(view) = split.refit() {
            learner = method.start(view, seed)?;
            for step in 1..=steps {
                if !learner.step().is_finite() {
                    return Err(FitError::Diverged { step });
                }
                if step.is_multiple_of(method.training().validate_every) {
                    observe(Look::Steps(step, steps));
                }
            }
            scorer = Rc::from(learner.scorer());
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
        let view = self.split.final_view();
        let queries = if fitted.can_rank { self.split.test().queries(&view) } else { Vec::new() };
        let test = Test {
            pairs: self.split.test().pairs(),
            queries: &queries,
            view,
            rank_baselines: false,
            seed: 0,
            given: None,
        };
        // The split was audited, so only a score can be at fault.
        test.measure(&*fitted.scorer).map_err(|_| FitError::Diverged { step: fitted.steps })
    }
}
