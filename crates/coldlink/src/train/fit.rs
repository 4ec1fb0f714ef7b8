//! Training as a whole: search for the best number of steps on validation pairs, then fit again with them.

use super::checkpoint::{Checkpoints, Saved};
use super::{Control, Event, Observer, Phase, TrainError, Trainer};
use crate::Config;
use crate::evaluate::{Measures, MetricError, Scorer};
use crate::graph::{Attributes, NodeId};
use crate::model::{Deal, Embeddings, Features};
use crate::score::{Evidence, LinkScorer, ScoreWeights, Side, TfIdfRows};
use crate::split::{Pair, Preparation, Split, TrainView};

/// Steps between two looks at the observer.
const STEPS_PER_LOOK: u64 = 25;

/// A validation.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Validated {
    /// After so many steps.
    pub step: u64,
    /// Area under the ROC curve on the validation pairs.
    pub auc: f64,
    /// Average precision on them.
    pub ap: f64,
    /// The share of linked pairs among them, which average precision depends on.
    pub prevalence: f64,
}

impl Validated {
    /// What steps and settings are chosen by: AUC + AP.
    pub fn quality(&self) -> f64 {
        self.auc + self.ap
    }
}

/// A training run.
pub struct Fit<'a> {
    /// What is trained on, validated on, and fitted again on.
    pub split: &'a Split,
    /// The attributes of the split's nodes.
    pub attributes: &'a Attributes,
    /// The settings.
    pub config: &'a Config,
    /// The seed.
    pub seed: u64,
    /// Where checkpoints go, if anywhere.
    pub checkpoints: Option<&'a Checkpoints>,
}

/// A trained model.
pub struct Fitted {
    /// The model.
    pub model: Deal<f32>,
    /// Its attributes, scaled as it wants them.
    pub features: Features,
    /// What was fitted to the attributes as they were loaded, where something was.
    pub preparation: Option<Preparation>,
    /// How many steps it was trained for.
    pub steps: u64,
    /// All validations, in order.
    pub history: Vec<Validated>,
    /// The weights of the score's terms, where they are fitted.
    pub weights: Option<ScoreWeights>,
}

impl Fitted {
    /// Both embeddings of all nodes, for the view that the model was trained on last.
    pub fn embed_all(&self, view: &TrainView<'_>) -> Embeddings {
        embed_all(&self.model, &self.features, view)
    }
}

fn embed_all(model: &Deal<f32>, features: &Features, view: &TrainView<'_>) -> Embeddings {
    let nodes: Vec<NodeId> = (0..view.graph().nodes() as NodeId).collect();
    Embeddings::of(model, features, &nodes, |node| view.is_seen(node))
}

/// What a score's terms are computed from, for a model of the search.
struct Known<'a> {
    view: TrainView<'a>,
    embeddings: Embeddings,
    words: TfIdfRows,
}

impl<'a> Known<'a> {
    fn of(model: &Deal<f32>, features: &Features, view: TrainView<'a>) -> Self {
        Known { view, embeddings: embed_all(model, features, &view), words: TfIdfRows::of(&view) }
    }

    fn evidence(&self) -> Evidence<'_> {
        Evidence::new(self.view.graph(), Side { embeddings: &self.embeddings, words: &self.words })
    }
}

/// What settings are worth, without a final model.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Trial {
    /// The best number of steps, with the score's quality at it.
    pub best: Validated,
    /// The weights of the score's terms, where they are fitted.
    pub weights: Option<ScoreWeights>,
}

impl Trial {
    /// Of settings that cannot be trained with.
    pub(crate) fn failed(step: u64) -> Self {
        Trial { best: Validated { step, auc: 0.0, ap: 0.0, prevalence: 0.0 }, weights: None }
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.best.prevalence == 0.0
    }
}

/// What a search has found so far.
#[derive(Clone, Default)]
pub(super) struct Progress {
    pub history: Vec<Validated>,
    /// The model at the best validation, where it is needed after the search.
    pub best_model: Option<Deal<f32>>,
    /// The score's weights, once the search is over.
    pub weights: Option<ScoreWeights>,
}

/// Validation pairs by what they are for.
struct Halves {
    /// To choose the number of steps on.
    choosing: Vec<Pair>,
    /// To fit the score's weights on; none where they are not fitted.
    weighing: Vec<Pair>,
}

impl Progress {
    /// The earliest of the best validations.
    fn best(&self) -> Option<Validated> {
        let better = |best: Validated, next: &Validated| if next.quality() > best.quality() { *next } else { best };
        let first = *self.history.first()?;
        Some(self.history.iter().fold(first, better))
    }

    fn is_over(&self, config: &Config) -> bool {
        let since = |best: Validated| self.history.iter().filter(|validated| validated.step > best.step).count();
        config.patience > 0 && self.best().is_some_and(|best| since(best) >= config.patience as usize)
    }
}

impl Fit<'_> {
    /// Trains, from the start or from a checkpoint.
    pub fn run(&self, observer: &mut dyn Observer) -> Result<Fitted, TrainError> {
        self.run_after(None, observer)
    }

    /// The same for settings that were tried before on the same split: what the search would find is known then.
    pub fn run_after(&self, trial: Option<&Trial>, observer: &mut dyn Observer) -> Result<Fitted, TrainError> {
        self.config.check()?;
        let search = self.split.search(self.attributes);
        let mut features = Features::new(search.attributes(), self.config.scaling);
        let saved = self.checkpoints.map(|folder| folder.open(self)).transpose()?.flatten();
        let (mut progress, mut resumed) = match saved {
            Some(Saved { phase, step, model, progress }) => (progress, Some((phase, step, model))),
            None => (Progress::default(), None),
        };
        let halves = self.halves();
        let mut searched = None;
        let known = trial.filter(|_| resumed.is_none() && self.split.refit(self.attributes).is_some());
        if let Some(trial) = known {
            progress = Progress { history: vec![trial.best], best_model: None, weights: trial.weights.clone() };
        } else if resumed.as_ref().is_none_or(|(phase, ..)| *phase == Phase::Search) {
            let state = resumed.take().map(|(_, step, model)| (step, model));
            searched = Some(self.search(&features, &halves, &mut progress, state, observer)?);
            let best = progress.best_model.as_ref().filter(|_| !halves.weighing.is_empty());
            progress.weights = best.map(|model| self.weigh(model, &features, &halves.weighing));
        }
        let steps = progress.best().map_or(self.config.steps, |best| best.step);
        let best = progress.best_model.take();
        let model = match (self.split.refit(self.attributes), best) {
            (Some(view), _) => {
                drop(searched);
                if !std::ptr::eq(view.attributes(), search.attributes()) {
                    features = Features::new(view.attributes(), self.config.scaling);
                }
                let state = resumed.map(|(_, step, model)| (step, model));
                self.refit(view, &features, &progress, steps, state, observer)?
            }
            (None, Some(best)) => best,
            (None, None) => searched.ok_or(TrainError::Diverged { step: steps })?,
        };
        let preparation = self.split.final_view(self.attributes).preparation().cloned();
        Ok(Fitted { model, features, preparation, steps, history: progress.history, weights: progress.weights })
    }

    /// Trains on the search view alone and tells how good the score is on the validation pairs that are chosen on.
    pub fn try_out(&self, observer: &mut dyn Observer) -> Result<Trial, TrainError> {
        self.config.check()?;
        let features = Features::new(self.split.search(self.attributes).attributes(), self.config.scaling);
        let (halves, mut progress) = (self.halves(), Progress::default());
        self.search(&features, &halves, &mut progress, None, observer)?;
        let best = progress.best().ok_or(TrainError::Diverged { step: self.config.steps })?;
        let (Some(model), false) = (&progress.best_model, halves.weighing.is_empty()) else {
            return Ok(Trial { best, weights: None });
        };
        let known = Known::of(model, &features, self.split.search(self.attributes));
        let evidence = known.evidence();
        let weights = ScoreWeights::fit(&evidence, &self.config.terms, &halves.weighing);
        let scorer = LinkScorer { evidence, weights: &weights, popularity: 1.0 };
        let ends: Vec<_> = halves.choosing.iter().map(|pair| (pair.source, pair.target)).collect();
        let scored = measure(best.step, &scorer.scores(&ends), &halves.choosing)?;
        Ok(Trial { best: scored.unwrap_or(best), weights: Some(weights) })
    }

    /// Pairs to choose on, and others to fit weights on where the score has any and there are enough.
    fn halves(&self) -> Halves {
        if !self.config.terms.is_empty() {
            let [choosing, weighing] = self.split.validation_halves();
            if [&choosing, &weighing].into_iter().all(|half| ScoreWeights::can_be_fitted_to(half)) {
                return Halves { choosing, weighing };
            }
        }
        Halves { choosing: self.split.validation().to_vec(), weighing: Vec::new() }
    }

    /// The weights of the score's terms, from a model of the search.
    fn weigh(&self, model: &Deal<f32>, features: &Features, pairs: &[Pair]) -> ScoreWeights {
        let known = Known::of(model, features, self.split.search(self.attributes));
        ScoreWeights::fit(&known.evidence(), &self.config.terms, pairs)
    }

    /// Trains on the search view until validation has not improved for a while. Yields the last model.
    fn search(
        &self,
        features: &Features,
        halves: &Halves,
        progress: &mut Progress,
        state: Option<(u64, Deal<f32>)>,
        observer: &mut dyn Observer,
    ) -> Result<Deal<f32>, TrainError> {
        let view = self.split.search(self.attributes);
        let keep_best = self.split.refit(self.attributes).is_none() || !halves.weighing.is_empty();
        let mut run = Run::start(self, Phase::Search, view, features, self.config.steps, state, observer)?;
        let mut validated_at = progress.history.last().map_or(0, |validated| validated.step);
        while !progress.is_over(self.config) {
            let (step, every) = (run.trainer.step(), self.config.validate_every);
            let due = step.is_multiple_of(every) || run.is_done();
            if due && step > validated_at {
                validated_at = step;
                let Some(validated) = self.validate(&run.trainer, features, &view, &halves.choosing)? else { continue };
                let better = progress.best().is_none_or(|best| validated.quality() > best.quality());
                if keep_best && better {
                    progress.best_model = Some(run.trainer.model().frozen());
                }
                progress.history.push(validated);
                run.tell(Event::Validated(validated), progress)?;
            } else if run.is_done() {
                break;
            } else {
                run.advance(((step / every + 1) * every).min(self.config.steps), progress)?;
            }
        }
        run.end()
    }

    /// Trains anew on everything but the test nodes, for `steps` steps.
    fn refit(
        &self,
        view: TrainView<'_>,
        features: &Features,
        progress: &Progress,
        steps: u64,
        state: Option<(u64, Deal<f32>)>,
        observer: &mut dyn Observer,
    ) -> Result<Deal<f32>, TrainError> {
        let mut run = Run::start(self, Phase::Refit, view, features, steps, state, observer)?;
        while !run.is_done() {
            run.advance(steps, progress)?;
        }
        run.end()
    }

    fn validate(
        &self,
        trainer: &Trainer<'_>,
        features: &Features,
        view: &TrainView<'_>,
        pairs: &[Pair],
    ) -> Result<Option<Validated>, TrainError> {
        let scores = score_pairs(trainer.model(), features, view, self.config, pairs);
        if scores.iter().any(|score| !score.is_finite()) {
            return Err(TrainError::Diverged { step: trainer.step() });
        }
        Ok(measure(trainer.step(), &scores, pairs)?)
    }
}

/// How good scores of validation pairs are; nothing where all or none of them are linked.
fn measure(step: u64, scores: &[f32], pairs: &[Pair]) -> Result<Option<Validated>, MetricError> {
    let linked: Vec<bool> = pairs.iter().map(|pair| pair.linked).collect();
    let measures = Measures::of(scores, &linked)?;
    let values = measures.auc.zip(measures.ap).zip(measures.prevalence);
    Ok(values.map(|((auc, ap), prevalence)| Validated { step, auc, ap, prevalence }))
}

/// Scores pairs by embedding their nodes and no others.
fn score_pairs(
    model: &Deal<f32>,
    features: &Features,
    view: &TrainView<'_>,
    config: &Config,
    pairs: &[Pair],
) -> Vec<f32> {
    let mut nodes: Vec<NodeId> = pairs.iter().flat_map(|pair| [pair.source, pair.target]).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let embeddings = Embeddings::of(model, features, &nodes, |node| view.is_seen(node));
    let place = |node: NodeId| nodes.partition_point(|&other| other < node) as u32;
    let places: Vec<_> = pairs.iter().map(|pair| (place(pair.source), place(pair.target))).collect();
    let mut scores = vec![0.0; pairs.len()];
    embeddings.score(config.lambda.map(|weight| weight as f32), &places, &mut scores);
    scores
}

/// A phase that is under way.
struct Run<'a, 'o> {
    fit: &'a Fit<'a>,
    phase: Phase,
    trainer: Trainer<'a>,
    steps: u64,
    saved: u64,
    observer: &'o mut dyn Observer,
}

impl<'a, 'o> Run<'a, 'o> {
    fn start(
        fit: &'a Fit<'a>,
        phase: Phase,
        view: TrainView<'a>,
        features: &Features,
        steps: u64,
        state: Option<(u64, Deal<f32>)>,
        observer: &'o mut dyn Observer,
    ) -> Result<Self, TrainError> {
        let mut trainer = Trainer::new(view, features, fit.config, fit.seed)?;
        if let Some((step, model)) = state {
            trainer.restore(model, step);
        }
        let step = trainer.step();
        observer.on(Event::Started { phase, step, steps });
        Ok(Run { fit, phase, trainer, steps, saved: step, observer })
    }

    fn is_done(&self) -> bool {
        self.trainer.step() >= self.steps
    }

    fn advance(&mut self, until: u64, progress: &Progress) -> Result<(), TrainError> {
        while self.trainer.step() < until {
            let next = until.min(self.trainer.step() + STEPS_PER_LOOK).min(self.next_save());
            self.trainer.advance_to(next);
            let (step, loss) = (self.trainer.step(), self.trainer.last_loss());
            if !loss.is_finite() {
                return Err(TrainError::Diverged { step });
            }
            self.tell(Event::Advanced { step, loss }, progress)?;
            if step >= self.next_save() {
                self.save(progress)?;
            }
        }
        Ok(())
    }

    fn next_save(&self) -> u64 {
        self.fit.checkpoints.map_or(u64::MAX, |checkpoints| self.saved.saturating_add(checkpoints.every.max(1)))
    }

    fn save(&mut self, progress: &Progress) -> Result<(), TrainError> {
        let Some(checkpoints) = self.fit.checkpoints else { return Ok(()) };
        let step = self.trainer.step();
        checkpoints.write(self.fit, self.phase, step, self.trainer.model(), progress)?;
        self.saved = step;
        self.observer.on(Event::Saved { step });
        Ok(())
    }

    fn tell(&mut self, event: Event, progress: &Progress) -> Result<(), TrainError> {
        if self.observer.on(event) == Control::Continue {
            return Ok(());
        }
        let step = self.trainer.step();
        self.save(progress)?;
        Err(TrainError::Stopped { step, checkpoint: self.fit.checkpoints.map(Checkpoints::path) })
    }

    fn end(self) -> Result<Deal<f32>, TrainError> {
        self.observer.on(Event::Ended { phase: self.phase, step: self.trainer.step() });
        Ok(self.trainer.into_model())
    }
}
