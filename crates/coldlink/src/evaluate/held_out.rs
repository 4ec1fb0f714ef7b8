//! A trained model on links that it was not told of, beside trivial methods that are asked the same.

use rand::RngExt;
use rayon::prelude::*;
use serde::Serialize;

use super::baselines::{Degree, Random, Words};
use super::calibration::CalibrationSums;
use super::hits::AtEach;
use super::ranking::first_listed;
use super::{CalibrationBin, Hits, Measures, MetricError, Neighbours, Ranks, RoleResult, Sample};
use crate::graph::{Graph, Roles};
use crate::hint::Hint;
use crate::random::{Purpose, stream};
use crate::score::{Given, Scorer, TfIdfRows};
use crate::split::{Candidates, Pair, RankingQuery};

/// Questions whose probabilities are looked at, at the most: with their candidates these are enough pairs.
const MOST_QUERIES: usize = 2_000;
/// How often a candidate is drawn before a question counts as one that has links with nearly all of them.
const MOST_DRAWS: usize = 1_000;

/// How well a trained model finds links that it was not told of.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeldOutReport {
    /// Links that were looked for.
    pub links: usize,
    /// Questions they make: a node that asks, in one relation and direction.
    pub questions: usize,
    /// Those of them that new nodes ask; known nodes ask the others.
    pub new_questions: usize,
    /// The fewest and the most candidates of a question.
    pub candidates: [usize; 2],
    /// How much was measured, where that is not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
    /// Links that were not looked for.
    pub left_out: LeftOut,
    /// The model.
    pub model: MethodResult,
    /// Methods that need no training.
    pub baselines: TrivialTable<MethodResult>,
    /// Every relation and direction apart; none where there is one alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<RoleResult>,
    /// Probabilities against what came true; none where the model gives no probabilities.
    pub calibration: Option<ListCalibration>,
    /// What the user should know, a line each.
    pub notes: Vec<String>,
}

/// How many links were not looked for, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The model was trained on them.
    pub trained_on: usize,
    /// They are there twice.
    pub repeated: usize,
    /// They join a node with itself.
    pub self_loops: usize,
    /// They join two new nodes, and lists show known ones.
    pub between_new: usize,
    /// They lead to nodes of a type that the asking node's type is never linked with.
    pub unlisted: usize,
}

impl LeftOut {
    /// In words, a line each.
    pub fn notes(&self) -> Vec<String> {
        self.in_words().into_iter().map(|links| format!("left out {links}")).collect()
    }

    fn in_words(&self) -> Vec<String> {
        let links = |(count, why): (usize, &str)| {
            let s = if count == 1 { "" } else { "s" };
            (count > 0).then(|| format!("{count} link{s} {why}"))
        };
        let reasons = [
            (self.trained_on, "that the model was trained on"),
            (self.repeated, "that the table has already"),
            (self.self_loops, "of a node with itself"),
            (self.between_new, "between two new nodes: only known nodes are looked for"),
            (self.unlisted, "between node types that the model has never seen linked"),
        ];
        reasons.into_iter().filter_map(links).collect()
    }
}

/// Why held-out links cannot be measured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HeldOutError {
    /// There is none.
    #[error("there are no links to look for")]
    NoLinks,
    /// None is left.
    #[error("none of {links} links is left to look for: {}", .left_out.in_words().join(", "))]
    NothingLeft {
        /// How many there were.
        links: usize,
        /// Why they were left out.
        left_out: LeftOut,
    },
}

impl HeldOutError {
    /// What to do about it.
    pub fn hint(&self) -> Option<Hint> {
        Some(Hint::new("give links that the model was not trained on, each with a known node as its target"))
    }
}

/// One method on all questions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MethodResult {
    /// On each link and an unlinked pair of the same node.
    #[serde(flatten)]
    pub measures: Measures,
    /// The mean reciprocal rank of a true link.
    pub mrr: Option<f64>,
    /// The mean of 1 / place of the true link that stands highest.
    pub first_hit: Option<f64>,
    /// The share of a node's true links among its first k, of k at the most.
    #[serde(flatten)]
    pub recall: AtEach,
    /// The normalised discounted cumulative gain of the first k.
    #[serde(flatten)]
    pub ndcg: AtEach,
    /// The share of true links that rank among the first k, other true links left out.
    #[serde(flatten)]
    pub hits: Hits,
}

/// One entry for each trivial method.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TrivialTable<T> {
    /// See [`Neighbours`]; none where the model keeps no links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knn: Option<T>,
    /// See [`Words`]; none where the model keeps no words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tfidf: Option<T>,
    /// See [`Degree`]; none where the model keeps no links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub degree: Option<T>,
    /// See [`Random`].
    pub random: T,
}

impl<T> TrivialTable<T> {
    fn try_map<U, E>(&self, of: impl Fn(&T) -> Result<U, E>) -> Result<TrivialTable<U>, E> {
        let some = |entry: &Option<T>| entry.as_ref().map(&of).transpose();
        let (knn, tfidf, degree) = (some(&self.knn)?, some(&self.tfidf)?, some(&self.degree)?);
        Ok(TrivialTable { knn, tfidf, degree, random: of(&self.random)? })
    }
}

/// Probabilities of the candidates of lists, and how many of them are true links.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ListCalibration {
    /// The share of linked pairs that probabilities hold for: that of the training graph.
    pub base_rate: f64,
    /// Questions that were looked at.
    pub questions: usize,
    /// All of their candidates.
    pub candidates: Rates,
    /// The ten best of each; none where candidates are a sample.
    #[serde(rename = "top_10")]
    pub listed: Option<Rates>,
    /// The expected calibration error over all candidates.
    pub ece: f64,
    /// All candidates by their probabilities.
    pub bins: Vec<CalibrationBin>,
}

/// What was predicted of pairs, and what came true.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rates {
    /// How many pairs.
    pub pairs: usize,
    /// The mean of their probabilities.
    pub predicted: f64,
    /// The share of them that is linked.
    pub observed: f64,
}

impl Rates {
    fn of(sums: &CalibrationSums) -> Option<Self> {
        let (predicted, observed) = sums.rates()?;
        Some(Rates { pairs: sums.pairs(), predicted, observed })
    }
}

/// Questions that a scorer is asked, and what trivial methods need to be asked the same. Nodes that ask are numbered after those of
/// the model.
pub(crate) struct HeldOutPart<'a> {
    pub scorer: &'a dyn Scorer,
    pub queries: &'a [RankingQuery],
    pub kept: Option<Kept<'a>>,
    /// The links of nodes that ask.
    pub given: &'a Given,
    pub seed: u64,
}

/// What a model keeps of all nodes, those that ask included.
pub(crate) struct Kept<'a> {
    pub graph: &'a Graph,
    pub roles: &'a Roles,
    pub words: TfIdfRows,
}

/// All that could be asked, of which a sample may have been.
#[derive(Clone, Copy, Default)]
pub(crate) struct AllAsked {
    pub links: usize,
    pub questions: usize,
    pub new_questions: usize,
}

impl AllAsked {
    fn sample(&self, ranks: &Ranks, pairs: usize) -> Option<Sample> {
        let (questions, candidates) =
            ([ranks.queries(), self.questions], ranks.sample().map(|(some, all)| [some, all]));
        let all_pairs = if questions[0] < questions[1] { 2 * self.links } else { pairs };
        let is_whole = questions[0] == questions[1] && candidates.is_none();
        (!is_whole).then_some(Sample { pairs: [pairs, all_pairs], questions, candidates })
    }
}

/// What a method says to all questions.
#[derive(Default)]
struct Answers {
    /// The score of each pair that was drawn.
    scores: Vec<f32>,
    ranks: Ranks,
}

/// All that was measured of some questions; parts can be put together.
#[derive(Default)]
pub(crate) struct HeldOutAnswers {
    linked: Vec<bool>,
    model: Answers,
    baselines: TrivialTable<Answers>,
    judged: Judged,
    /// The candidates of each question.
    sizes: Vec<usize>,
}

/// Probabilities of candidates, and which of them are true links.
#[derive(Default)]
struct Judged {
    questions: usize,
    all: CalibrationSums,
    /// The ten best of each question.
    listed: CalibrationSums,
}

impl Judged {
    fn followed_by(mut self, other: &Judged) -> Self {
        self.all.add_all(&other.all);
        self.listed.add_all(&other.listed);
        Judged { questions: self.questions + other.questions, ..self }
    }
}

impl HeldOutPart<'_> {
    /// Asks the model and all trivial methods.
    pub fn measure(&self, probability: Option<&(dyn Fn(f32) -> f64 + Sync)>) -> Result<HeldOutAnswers, MetricError> {
        let candidates = Candidates::sampled(self.queries, &[], self.seed);
        let pairs = self.pairs(&candidates);
        let answers = |scorer: &dyn Scorer| self.answers(scorer, &pairs);
        let trivial = self.kept.as_ref().map(|kept| {
            let words = || Words::new(kept.words.clone());
            let knn = Neighbours::of(kept.graph, kept.roles, words()).with_given(Some(self.given));
            (knn, words(), Degree::of(kept.graph))
        });
        let [knn, tfidf, degree] = match &trivial {
            Some((knn, tfidf, degree)) => [Some(answers(knn)?), Some(answers(tfidf)?), Some(answers(degree)?)],
            None => [None, None, None],
        };
        let random = answers(&Random::new(self.seed))?;
        Ok(HeldOutAnswers {
            linked: pairs.iter().map(|pair| pair.linked).collect(),
            model: answers(self.scorer)?,
            baselines: TrivialTable { knn, tfidf, degree, random },
            judged: probability.map(|of| self.judge(&candidates, of)).unwrap_or_default(),
            sizes: self.queries.iter().map(|query| candidates.of(query).1).collect(),
        })
    }

    /// Each link, and for each link a candidate of the same node that is none.
    fn pairs(&self, candidates: &Candidates) -> Vec<Pair> {
        let of_query = |(place, query): (usize, &RankingQuery)| {
            let random = &mut stream(self.seed, Purpose::TestSample, place as u64, 2);
            let source = query.source;
            let (among, _) = candidates.of(query);
            let is_linked =
                |node: &u32| query.targets.binary_search(node).is_ok() || query.exclude.binary_search(node).is_ok();
            let mut draw = || {
                let mut drawn = (0..MOST_DRAWS).map(|_| among[random.random_range(0..among.len())]);
                let target = drawn.find(|node| !is_linked(node))?;
                Some(Pair { source, target, linked: false })
            };
            let unlinked: Vec<Pair> = query.targets.iter().filter_map(|_| draw()).collect();
            let linked = query.targets.iter().map(|&target| Pair { source, target, linked: true });
            linked.chain(unlinked).collect::<Vec<Pair>>()
        };
        self.queries.iter().enumerate().flat_map(of_query).collect()
    }

    fn answers(&self, scorer: &dyn Scorer, pairs: &[Pair]) -> Result<Answers, MetricError> {
        let ends: Vec<_> = pairs.iter().map(|pair| (pair.source, pair.target)).collect();
        let ranks = Ranks::measure_sampled(scorer, self.queries, &[], self.seed)?;
        Ok(Answers { scores: scorer.scores(&ends), ranks })
    }

    /// The probabilities of all candidates of some questions.
    fn judge(&self, candidates: &Candidates, probability: &(dyn Fn(f32) -> f64 + Sync)) -> Judged {
        let queries: Vec<&RankingQuery> =
            self.queries.iter().step_by(self.queries.len().div_ceil(MOST_QUERIES).max(1)).collect();
        let of_query = |query: &&RankingQuery| {
            let ((sampled, stands_for), among) = (candidates.of(query), candidates.with_targets(query));
            let mut scores = vec![0.0; among.len()];
            self.scorer.scores_against(query.source, &among, &mut scores);
            let weight = stands_for as f64 / sampled.len().max(1) as f64;
            let mut judged = Judged { questions: 1, ..Judged::default() };
            let shown = first_listed(query, &among, &scores);
            for (node, &score) in
                among.iter().zip(&scores).filter(|(node, _)| query.exclude.binary_search(node).is_err())
            {
                let (linked, probability) = (query.targets.binary_search(node).is_ok(), probability(score));
                judged.all.add(probability, linked, if linked { 1.0 } else { weight });
                if shown.contains(node) && stands_for == sampled.len() {
                    judged.listed.add(probability, linked, 1.0);
                }
            }
            judged
        };
        // Added up in the order of the questions, whatever the number of threads.
        let parts: Vec<Judged> = queries.par_iter().map(of_query).collect();
        parts.iter().fold(Judged::default(), Judged::followed_by)
    }
}

impl Answers {
    fn followed_by(mut self, other: Answers) -> Self {
        self.scores.extend(other.scores);
        Answers { scores: self.scores, ranks: self.ranks.followed_by(other.ranks) }
    }

    fn result(&self, linked: &[bool]) -> Result<MethodResult, MetricError> {
        let ranks = &self.ranks;
        Ok(MethodResult {
            measures: Measures::of(&self.scores, linked)?,
            mrr: ranks.mrr(),
            first_hit: ranks.first_hit(),
            recall: AtEach::of("recall", |k| ranks.recall_at(k)),
            ndcg: AtEach::of("ndcg", |k| ranks.ndcg(k)),
            hits: Hits::each(|k| ranks.hits(k)),
        })
    }
}

impl HeldOutAnswers {
    /// These, and then those to other questions.
    pub fn followed_by(mut self, other: HeldOutAnswers) -> Self {
        self.linked.extend(other.linked);
        self.sizes.extend(other.sizes);
        let both = |one: Option<Answers>, other: Option<Answers>| Some(one?.followed_by(other?));
        let (ours, theirs) = (self.baselines, other.baselines);
        let baselines = TrivialTable {
            knn: both(ours.knn, theirs.knn),
            tfidf: both(ours.tfidf, theirs.tfidf),
            degree: both(ours.degree, theirs.degree),
            random: ours.random.followed_by(theirs.random),
        };
        let judged = self.judged.followed_by(&other.judged);
        HeldOutAnswers { model: self.model.followed_by(other.model), baselines, judged, ..self }
    }

    /// All of it, of a model whose probabilities hold for this base rate.
    pub fn report(self, base_rate: f64, roles: &Roles, asked: AllAsked) -> Result<HeldOutReport, MetricError> {
        let HeldOutAnswers { linked, model, baselines, judged, sizes } = self;
        let nobody = Ranks::default();
        let neighbours = baselines.knn.as_ref().map_or(&nobody, |knn| &knn.ranks);
        let of_roles = RoleResult::of(roles, &model.ranks, neighbours);
        let calibration = Rates::of(&judged.all).map(|candidates| ListCalibration {
            base_rate,
            questions: judged.questions,
            candidates,
            listed: Rates::of(&judged.listed).filter(|_| model.ranks.sample().is_none()),
            ece: judged.all.calibration().error,
            bins: judged.all.calibration().bins,
        });
        Ok(HeldOutReport {
            links: asked.links,
            questions: asked.questions,
            new_questions: asked.new_questions,
            candidates: [sizes.iter().min(), sizes.iter().max()].map(|size| size.copied().unwrap_or(0)),
            sample: asked.sample(&model.ranks, linked.len()),
            left_out: LeftOut::default(),
            model: model.result(&linked)?,
            baselines: baselines.try_map(|answers| answers.result(&linked))?,
            roles: of_roles,
            calibration,
            notes: Vec::new(),
        })
    }
}
