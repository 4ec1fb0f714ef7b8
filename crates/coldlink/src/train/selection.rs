//! The rule of selection, one for everything that is trained: the earliest of the best validations, and a stop
//! after some without a new best.

use std::time::{Duration, Instant};

use super::{Judge, Learner};
use crate::evaluate::Validated;

/// Steps between two looks at what is trained.
pub(super) const STEPS_PER_LOOK: u64 = 25;
/// Time between them, after which looks come more often.
pub(super) const LONGEST_LOOK: Duration = Duration::from_millis(300);

/// How long something is trained, and how often it is validated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Steps at the most.
    pub steps: u64,
    /// Steps between validations.
    pub validate_every: u64,
    /// Validations without a new best before training stops; 0 never stops early.
    pub patience: u32,
}

/// A search for the best number of steps.
#[derive(Clone, Debug)]
pub struct Selection<S> {
    rule: Rule,
    history: Vec<Validated>,
    best: Option<S>,
    keeps_best: bool,
    /// Steps between two looks at what is trained.
    look_every: u64,
}

/// What happened in a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Moment {
    /// Some steps were done.
    Advanced {
        /// Steps done.
        step: u64,
        /// The loss of the last batch.
        loss: f64,
    },
    /// A validation.
    Validated(Validated),
}

/// Numbers went out of range before there was anything to go back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Diverged {
    /// Steps done.
    pub step: u64,
}

impl<S> Selection<S> {
    /// A search that has not begun. The best snapshot is kept only where `keeps_best`.
    pub fn new(rule: Rule, keeps_best: bool) -> Self {
        Selection { rule, history: Vec::new(), best: None, keeps_best, look_every: STEPS_PER_LOOK }
    }

    /// The same with a look at least every so many steps.
    pub(super) fn looking_every(self, steps: u64) -> Self {
        Selection { look_every: steps.clamp(1, STEPS_PER_LOOK), ..self }
    }

    /// A search that goes on after earlier validations.
    pub(super) fn resumed(self, history: Vec<Validated>, best: Option<S>) -> Self {
        Selection { history, best, ..self }
    }

    /// All validations, in order.
    pub fn history(&self) -> &[Validated] {
        &self.history
    }

    /// The earliest of the best validations.
    pub fn best(&self) -> Option<Validated> {
        best(&self.history)
    }

    /// What was learned at it, where that is kept; where there was nothing to choose by, what was learned last.
    pub fn snapshot(&self) -> Option<&S> {
        self.best.as_ref()
    }

    /// The validations and the snapshot.
    pub fn into_parts(self) -> (Vec<Validated>, Option<S>) {
        (self.history, self.best)
    }

    fn is_over(&self) -> bool {
        let since = |best: Validated| self.history.iter().filter(|validated| validated.step > best.step).count();
        self.rule.patience > 0 && self.best().is_some_and(|best| since(best) >= self.rule.patience as usize)
    }

    /// Trains until the search is over. What was good before numbers went out of range still is.
    pub fn run<L, E>(
        &mut self,
        learner: &mut L,
        judge: &Judge,
        on: &mut dyn FnMut(&L, &Self, Moment) -> Result<(), E>,
    ) -> Result<(), E>
    where
        L: Learner<Snapshot = S>,
        E: From<Diverged>,
    {
        let Rule { steps, validate_every: every, .. } = self.rule;
        let mut validated_at = self.history.last().map_or(0, |validated| validated.step);
        while !self.is_over() {
            let step = learner.step();
            let is_done = step >= steps;
            if (step.is_multiple_of(every) || is_done) && step > validated_at {
                validated_at = step;
                if self.validate(learner, judge, on)? {
                    break;
                }
            } else if is_done {
                break;
            } else {
                let until = ((step / every + 1) * every).min(steps).min(step + self.look_every);
                let started = Instant::now();
                learner.advance(until);
                // Whoever wants to stop should not wait long. What is learned does not depend on it.
                if started.elapsed() > LONGEST_LOOK {
                    self.look_every = (self.look_every / 2).max(1);
                }
                let (step, loss) = (learner.step(), learner.loss());
                if !loss.is_finite() {
                    return if self.history.is_empty() { Err(Diverged { step }.into()) } else { Ok(()) };
                }
                on(learner, self, Moment::Advanced { step, loss })?;
            }
        }
        Ok(())
    }

    /// Validates once, and tells whether numbers went out of range.
    fn validate<L, E>(
        &mut self,
        learner: &L,
        judge: &Judge,
        on: &mut dyn FnMut(&L, &Self, Moment) -> Result<(), E>,
    ) -> Result<bool, E>
    where
        L: Learner<Snapshot = S>,
        E: From<Diverged>,
    {
        let step = learner.step();
        let Ok(validated) = judge.judge(&learner.scores(judge.pairs()), step) else {
            return if self.history.is_empty() { Err(Diverged { step }.into()) } else { Ok(true) };
        };
        let better = match (validated, self.best()) {
            (Some(validated), Some(best)) => validated.quality() > best.quality(),
            // Nothing to choose by: the last counts.
            (None, best) => best.is_none(),
            (Some(_), None) => true,
        };
        if self.keeps_best && better {
            // Never two of them at a time: they may be large.
            self.best = None;
            self.best = Some(learner.snapshot());
        }
        if let Some(validated) = validated {
            self.history.push(validated);
            on(learner, self, Moment::Validated(validated))?;
        }
        Ok(false)
    }
}

fn best(history: &[Validated]) -> Option<Validated> {
    history.iter().copied().reduce(|best, next| if next.quality() > best.quality() { next } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::Pair;

    /// Scores a linked pair by a number per validation, and an unlinked one by 0.5.
    struct Scripted {
        step: u64,
        scores: Vec<f32>,
        diverges_at: u64,
    }

    impl Learner for Scripted {
        type Snapshot = u64;

        fn step(&self) -> u64 {
            self.step
        }

        fn advance(&mut self, steps: u64) {
            self.step = steps;
        }

        fn loss(&self) -> f64 {
            if self.step >= self.diverges_at { f64::NAN } else { 1.0 }
        }

        fn scores(&self, pairs: &[Pair]) -> Vec<f32> {
            let now = self.scores[self.step as usize / 10 - 1];
            pairs.iter().map(|pair| if pair.linked { now } else { 0.5 }).collect()
        }

        fn snapshot(&self) -> u64 {
            self.step
        }
    }

    fn run(scores: &[f32], diverges_at: u64, patience: u32) -> Result<(Vec<u64>, Option<u64>), Diverged> {
        let pairs = [Pair { source: 0, target: 1, linked: true }, Pair { source: 0, target: 2, linked: false }];
        let mut selection = Selection::new(Rule { steps: 60, validate_every: 10, patience }, true);
        let mut learner = Scripted { step: 0, scores: scores.to_vec(), diverges_at };
        selection.run::<_, Diverged>(&mut learner, &Judge::of_pairs(pairs.to_vec()), &mut |_, _, _| Ok(()))?;
        let steps = selection.history().iter().map(|validated| validated.step).collect();
        Ok((steps, selection.snapshot().copied()))
    }

    #[test]
    fn the_earliest_of_the_best_is_kept_and_patience_ends_the_search() {
        assert_eq!(run(&[0.1, 0.9, 0.9, 0.9, 0.9, 0.9], u64::MAX, 2), Ok((vec![10, 20, 30, 40], Some(20))));
        assert_eq!(
            run(&[0.1, 0.9, 0.1, 0.1, 0.1, 0.1], u64::MAX, 0),
            Ok(((1..=6).map(|n| n * 10).collect(), Some(20)))
        );
    }

    #[test]
    fn what_was_good_before_numbers_went_out_of_range_still_is() {
        assert_eq!(run(&[0.9; 6], 25, 0), Ok((vec![10, 20], Some(10))));
        assert_eq!(run(&[0.9; 6], 5, 0), Err(Diverged { step: 10 }));
        assert_eq!(run(&[0.9, f32::NAN, 0.9, 0.9, 0.9, 0.9], u64::MAX, 0), Ok((vec![10], Some(10))));
        assert_eq!(run(&[f32::NAN; 6], u64::MAX, 0), Err(Diverged { step: 10 }));
    }
}
