//! Training as a whole: search for the best number of steps on validation pairs, then fit again with them.

use std::time::Instant;

use rand::seq::index;

use super::checkpoint::{Checkpoints, Saved};
use super::judge::by_candidates;
use super::selection::{LONGEST_LOOK, STEPS_PER_LOOK};
use super::{
    Control, EncoderLearner, Event, Judge, Learner, Moment, Observer, Phase, Rule, Selection, TrainError, Trainer,
};
use crate::columns::Preparation;
use crate::config::{Config, Objective, Term};
use crate::evaluate::{Measures, Ranks, Validated, candidates};
use crate::graph::NodeId;
use crate::network::{Deal, Features, FrozenEncoders};
use crate::random::{Purpose, stream};
use crate::score::{Embeddings, Evidence, Examples, LinkScorer, ScoreWeights, Scorer, Side, TfIdfRows};
use crate::split::{Pair, RankingQuery, Split, TrainView};

/// A training run.
#[derive(Clone, Copy)]
pub struct Fit<'a> {
    /// What is trained on, validated on, and fitted again on.
    pub split: &'a Split,
    /// The settings.
    pub config: &'a Config,
    /// The seed.
    pub seed: u64,
    /// Where checkpoints go, if anywhere.
    pub checkpoints: Option<&'a Checkpoints>,
}

/// Trained encoders, and all that scores need beside them.
pub struct Fitted {
    /// The encoders.
    pub encoders: FrozenEncoders,
    /// Their attributes, scaled as they want them.
    pub features: Features,
    /// What was fitted to the attributes as they were loaded, where something was.
    pub preparation: Option<Preparation>,
    /// How many steps they were trained for.
    pub steps: u64,
    /// All validations, in order.
    pub history: Vec<Validated>,
    /// The weights of the score's terms, where they are fitted.
    pub weights: Option<ScoreWeights>,
}

impl Fitted {
    /// Both embeddings of all nodes, for the view that was trained on last.
    pub fn embed_all(&self, view: &TrainView<'_>) -> Embeddings {
        embed_all(&self.encoders, &self.features, view)
    }
}

fn embed_all(encoders: &FrozenEncoders, features: &Features, view: &TrainView<'_>) -> Embeddings {
    let nodes: Vec<NodeId> = (0..view.graph().nodes() as NodeId).collect();
    Embeddings::of(encoders, features, &nodes, |node| view.is_warm(node))
}

/// What a score's terms are computed from, for encoders of the search.
struct Known<'a> {
    view: TrainView<'a>,
    embeddings: Embeddings,
    words: TfIdfRows,
}

impl<'a> Known<'a> {
    fn of(encoders: &FrozenEncoders, features: &Features, view: TrainView<'a>) -> Self {
        Known { view, embeddings: embed_all(encoders, features, &view), words: TfIdfRows::of(&view) }
    }

    fn evidence(&self, terms: &[Term]) -> Evidence<'_> {
        let side = Side { embeddings: &self.embeddings, words: &self.words };
        Evidence::new(self.view.graph(), side).in_roles(self.view.roles()).voting(terms.contains(&Term::Votes))
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
        Trial { best: Validated { step, auc: 0.0, ap: 0.0, prevalence: 0.0, lists: None }, weights: None }
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.best.prevalence == 0.0
    }
}

/// Training that was interrupted in one of its phases: the steps done, and the network after them.
pub(super) struct Interrupted {
    pub step: u64,
    pub model: Deal<f32>,
}

/// What a search has found: all that the final encoders depend on.
#[derive(Clone)]
pub(super) struct Found {
    pub history: Vec<Validated>,
    /// Steps of the final encoders.
    pub steps: u64,
    pub weights: Option<ScoreWeights>,
}

/// Where a run begins.
enum Start {
    /// With the search, from its first step or where it was interrupted.
    Search(Selection<FrozenEncoders>, Option<Interrupted>),
    /// With the refit: what the search found is known.
    Refit(Found, Option<Interrupted>),
}

/// Validation pairs by what they are for.
struct Halves {
    /// To choose the number of steps on.
    judge: Judge,
    /// To choose settings on.
    choosing: Half,
    /// To fit the score's weights on; none where they are not fitted.
    weighing: Half,
    /// Whom questions are about that do not say so.
    candidates: Vec<NodeId>,
}

/// Some validation pairs and, where these are asked, questions about them.
#[derive(Default)]
struct Half {
    pairs: Vec<Pair>,
    queries: Vec<RankingQuery>,
}

/// Questions of each node type that settings are chosen and weights fitted on.
pub(crate) const QUESTIONS: usize = 500;

impl<'a> Fit<'a> {
    /// Trains, from the start or from a checkpoint.
    pub fn run(&self, observer: &mut dyn Observer) -> Result<Fitted, TrainError> {
        self.run_after(None, observer)
    }

    /// The same for settings that were tried before on the same split: what the search would find is known then.
    pub fn run_after(&self, trial: Option<&Trial>, observer: &mut dyn Observer) -> Result<Fitted, TrainError> {
        self.config.check()?;
        let halves = self.halves();
        let (found, best, interrupted) = match self.start(trial, &halves, observer)? {
            Start::Refit(found, interrupted) => (found, None, interrupted),
            Start::Search(selection, interrupted) => {
                let (found, best) = self.found(selection, interrupted, &halves, observer)?;
                (found, best, None)
            }
        };
        let (encoders, features) = match self.split.refit() {
            Some(view) => self.refit(view.by(self.config), &found, interrupted, observer)?,
            None => {
                let encoders = best.ok_or(TrainError::Diverged { step: found.steps })?;
                (encoders, self.features(&self.split.search().by(self.config)))
            }
        };
        let preparation = self.split.final_view().by(self.config).preparation().cloned();
        let Found { history, steps, weights } = found;
        Ok(Fitted { encoders, features, preparation, steps, history, weights })
    }

    fn start(&self, trial: Option<&Trial>, halves: &Halves, observer: &mut dyn Observer) -> Result<Start, TrainError> {
        let saved = self.checkpoints.map(|checkpoints| checkpoints.saved(self, observer)).transpose()?.flatten();
        Ok(match (saved, trial.filter(|_| self.split.refit().is_some())) {
            (Some(Saved::Search { interrupted, history, best }), _) => {
                Start::Search(self.selection(halves).resumed(history, best), Some(interrupted))
            }
            (Some(Saved::Refit { interrupted, found }), _) => Start::Refit(*found, Some(interrupted)),
            (None, Some(Trial { best, weights })) => {
                Start::Refit(Found { history: vec![*best], steps: best.step, weights: weights.clone() }, None)
            }
            (None, None) => Start::Search(self.selection(halves), None),
        })
    }

    /// The best encoders are needed after the search where there is no refit, or where weights are fitted to them.
    fn selection(&self, halves: &Halves) -> Selection<FrozenEncoders> {
        let Config { steps, validate_every, patience, .. } = *self.config;
        let keeps_best = self.split.refit().is_none() || !halves.weighing.pairs.is_empty();
        let selection = Selection::new(Rule { steps, validate_every, patience }, keeps_best);
        selection.looking_every(self.checkpoints.map_or(STEPS_PER_LOOK, Checkpoints::every))
    }

    /// Searches, and fits the score's weights to what was found.
    fn found(
        &self,
        selection: Selection<FrozenEncoders>,
        interrupted: Option<Interrupted>,
        halves: &Halves,
        observer: &mut dyn Observer,
    ) -> Result<(Found, Option<FrozenEncoders>), TrainError> {
        let view = self.split.search().by(self.config);
        let features = self.features(&view);
        let selection = self.search(view, &features, selection, interrupted, halves, observer)?;
        let steps = selection.best().map_or(self.config.steps, |best| best.step);
        self.tell_of_scoring(halves, observer)?;
        let (history, best) = selection.into_parts();
        let weighed = best.as_ref().filter(|_| !halves.weighing.pairs.is_empty());
        let weights = weighed.map(|encoders| {
            let known = Known::of(encoders, &features, view);
            ScoreWeights::fit(&known.evidence(&self.config.terms), &self.config.terms, &self.examples(halves))
        });
        // A refit starts anew, and needs the room.
        Ok((Found { history, steps, weights }, best.filter(|_| self.split.refit().is_none())))
    }

    /// Trains on the search view alone and tells how good the score is on the validation pairs that are chosen on.
    pub fn try_out(&self, observer: &mut dyn Observer) -> Result<Trial, TrainError> {
        self.config.check()?;
        let (halves, view) = (self.halves(), self.split.search().by(self.config));
        let features = self.features(&view);
        let selection = self.search(view, &features, self.selection(&halves), None, &halves, observer)?;
        let best = selection.best().ok_or(TrainError::Diverged { step: self.config.steps })?;
        let (Some(encoders), false) = (selection.snapshot(), halves.weighing.pairs.is_empty()) else {
            return Ok(Trial { best, weights: None });
        };
        self.tell_of_scoring(&halves, observer)?;
        let known = Known::of(encoders, &features, view);
        let evidence = known.evidence(&self.config.terms);
        let weights = ScoreWeights::fit(&evidence, &self.config.terms, &self.examples(&halves));
        let scorer = LinkScorer { evidence, weights: &weights, popularity: 1.0 };
        let Half { pairs, queries } = &halves.choosing;
        let ends: Vec<_> = pairs.iter().map(|pair| (pair.source, pair.target)).collect();
        let linked: Vec<bool> = pairs.iter().map(|pair| pair.linked).collect();
        let scored = Measures::of(&scorer.scores(&ends), &linked)?.validated(best.step);
        let lists = Ranks::measure_sampled(&scorer, queries, &halves.candidates, self.seed)?.quality();
        let best = Validated { lists, ..scored.unwrap_or(best) };
        Ok(Trial { best, weights: Some(weights) })
    }

    fn tell_of_scoring(&self, halves: &Halves, observer: &mut dyn Observer) -> Result<(), TrainError> {
        let pairs = halves.weighing.pairs.len();
        match pairs {
            0 => Ok(()),
            _ if observer.on(Event::Scoring { pairs }) == Control::Continue => Ok(()),
            _ => {
                let checkpoint = self.checkpoints.map(Checkpoints::path);
                Err(TrainError::Stopped { step: self.config.steps, checkpoint })
            }
        }
    }

    fn examples<'h>(&self, halves: &'h Halves) -> Examples<'h> {
        let Half { pairs, queries } = &halves.weighing;
        let lists: &[RankingQuery] = if self.config.objective == Objective::Lists { queries } else { &[] };
        Examples { pairs, lists, joining: queries, candidates: &halves.candidates, seed: self.seed }
    }

    fn features(&self, view: &TrainView<'_>) -> Features {
        Features::new(view.attributes(), self.config.scaling)
    }

    /// What to choose on, and what to fit weights on where the score has any and there are enough pairs.
    fn halves(&self) -> Halves {
        let [choosing, weighing] = self.split.validation_halves();
        let fitted = !self.config.terms.is_empty()
            && [&choosing, &weighing].into_iter().all(|half| ScoreWeights::can_be_fitted_to(half));
        let halves = if fitted { [choosing, weighing] } else { [self.split.validation_sample(), Vec::new()] };
        let lists = self.config.objective == Objective::Lists;
        let candidates = if lists { candidates(&self.split.search()) } else { Vec::new() };
        let half = |pairs: Vec<Pair>, asked: bool| {
            let queries = if asked { self.split.validation_queries(&pairs) } else { Vec::new() };
            Half { queries: self.some(queries), pairs }
        };
        let [choosing, weighing] = halves;
        // Nodes that ask join the graph to weigh pairs of known nodes, lists or not.
        let (choosing, weighing) = (half(choosing, lists), half(weighing, true));
        let judge = Judge::of_pairs(choosing.pairs.clone()).with_lists(&choosing.queries, &candidates, self.seed);
        Halves { judge, choosing, weighing, candidates }
    }

    /// Up to [`QUESTIONS`] of each node type.
    fn some(&self, queries: Vec<RankingQuery>) -> Vec<RankingQuery> {
        let mut kept = Vec::new();
        for (place, group) in by_candidates(&queries).into_iter().enumerate() {
            let random = &mut stream(self.seed, Purpose::Lists, u64::MAX - 1, place as u64);
            let drawn = index::sample(random, group.len(), group.len().min(QUESTIONS));
            kept.extend(drawn.into_iter().map(|place| group[place].clone()));
        }
        kept
    }

    /// Trains on the search view until validation has not improved for a while.
    fn search(
        &self,
        view: TrainView<'a>,
        features: &Features,
        mut selection: Selection<FrozenEncoders>,
        interrupted: Option<Interrupted>,
        halves: &Halves,
        observer: &mut dyn Observer,
    ) -> Result<Selection<FrozenEncoders>, TrainError> {
        let mut learner = self.learner(view, features, interrupted)?;
        let mut reporter = Reporter::start(self, Phase::Search, self.config.steps, learner.step(), observer);
        selection.run(&mut learner, &halves.judge, &mut |learner, selection, moment| {
            let save = |checkpoints: &Checkpoints| checkpoints.write_search(self, learner, selection);
            reporter.tell(learner.step(), moment.into(), &save)
        })?;
        // The fit of the score takes its time as well.
        reporter.save(learner.step(), &|checkpoints| checkpoints.write_search(self, &learner, &selection))?;
        reporter.end(learner.step());
        Ok(selection)
    }

    /// Trains anew on everything but the test nodes, for the number of steps that was found.
    fn refit(
        &self,
        view: TrainView<'a>,
        found: &Found,
        interrupted: Option<Interrupted>,
        observer: &mut dyn Observer,
    ) -> Result<(FrozenEncoders, Features), TrainError> {
        let features = self.features(&view);
        let mut learner = self.learner(view, &features, interrupted)?;
        let mut reporter = Reporter::start(self, Phase::Refit, found.steps, learner.step(), observer);
        let mut looks = self.checkpoints.map_or(STEPS_PER_LOOK, |checkpoints| checkpoints.every().min(STEPS_PER_LOOK));
        while learner.step() < found.steps {
            let started = Instant::now();
            learner.advance(found.steps.min(learner.step() + looks));
            if started.elapsed() > LONGEST_LOOK {
                looks = (looks / 2).max(1);
            }
            let (step, loss) = (learner.step(), learner.loss());
            if !loss.is_finite() {
                return Err(TrainError::Diverged { step });
            }
            let save = |checkpoints: &Checkpoints| checkpoints.write_refit(self, &learner, found);
            reporter.tell(step, Event::Advanced { step, loss }, &save)?;
        }
        reporter.end(learner.step());
        Ok((learner.into_encoders(), features))
    }

    /// What is trained: the one place that chooses a device.
    fn learner(
        &self,
        view: TrainView<'a>,
        features: &Features,
        interrupted: Option<Interrupted>,
    ) -> Result<impl EncoderLearner, TrainError> {
        let mut trainer = Trainer::new(view, features, self.config, self.seed)?;
        if let Some(Interrupted { step, model }) = interrupted {
            trainer.restore(model, step);
        }
        Ok(trainer)
    }
}

impl From<Moment> for Event {
    fn from(moment: Moment) -> Self {
        match moment {
            Moment::Advanced { step, loss } => Event::Advanced { step, loss },
            Moment::Validated(validated) => Event::Validated(validated),
        }
    }
}

/// Tells an observer what goes on in a phase, and writes its checkpoints.
struct Reporter<'a, 'o> {
    checkpoints: Option<&'a Checkpoints>,
    phase: Phase,
    saved: u64,
    observer: &'o mut dyn Observer,
}

type Save<'s> = &'s dyn Fn(&Checkpoints) -> Result<(), TrainError>;

impl<'a, 'o> Reporter<'a, 'o> {
    fn start(fit: &Fit<'a>, phase: Phase, steps: u64, step: u64, observer: &'o mut dyn Observer) -> Self {
        observer.on(Event::Started { phase, step, steps });
        Reporter { checkpoints: fit.checkpoints, phase, saved: step, observer }
    }

    fn tell(&mut self, step: u64, event: Event, save: Save<'_>) -> Result<(), TrainError> {
        if self.observer.on(event) == Control::Stop {
            self.save(step, save)?;
            return Err(TrainError::Stopped { step, checkpoint: self.checkpoints.map(Checkpoints::path) });
        }
        let due = |checkpoints: &Checkpoints| step >= self.saved.saturating_add(checkpoints.every());
        let advanced = matches!(event, Event::Advanced { .. });
        if advanced && self.checkpoints.is_some_and(due) { self.save(step, save) } else { Ok(()) }
    }

    fn save(&mut self, step: u64, save: Save<'_>) -> Result<(), TrainError> {
        let Some(checkpoints) = self.checkpoints else { return Ok(()) };
        save(checkpoints)?;
        self.saved = step;
        self.observer.on(Event::Saved { step });
        Ok(())
    }

    fn end(self, step: u64) {
        self.observer.on(Event::Ended { phase: self.phase, step });
    }
}
