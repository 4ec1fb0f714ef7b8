//! One evaluation over several seeds, as it is printed and written.

use serde::Serialize;

use super::baselines::{Cosine, Degree, Random, TfIdf};
use super::ranking::LISTED;
use super::{
    Calibration, FewLinks, Hits, ListQuality, Measures, MetricError, Neighbours, Pools, Ranks, RoleResult, Sample,
    candidates,
};
use crate::config::{Config, Validation};
use crate::graph::NodeId;
use crate::score::{Given, LinkScorer, ScoreWeights, Scorer};
use crate::split::{Audit, AuditStatus, Pair, PairClass, Protocol, RankingQuery, TrainView};

/// What a scorer is measured on: one split's test set.
#[derive(Clone, Copy)]
pub struct Test<'a> {
    /// The test pairs.
    pub pairs: &'a [Pair],
    /// The nodes whose links are looked for among all candidates; none where no ranking is wanted.
    pub queries: &'a [RankingQuery],
    /// What the scorer was trained on (for a refitted model: the refit's), which decides who is new.
    pub view: TrainView<'a>,
    /// Whether the baselines are ranked as well, which takes longer than their scores.
    pub rank_baselines: bool,
    /// The seed of the candidates that are drawn where these are very many.
    pub seed: u64,
    /// Links that the new nodes are given, if any.
    pub given: Option<&'a Given>,
}

/// How a measured model came to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Run {
    /// Of the split, or of the initialisation where the split is given.
    pub seed: u64,
    /// Steps of the final model.
    pub steps: usize,
    /// Wall time of the training, without the search for settings.
    pub train_seconds: f64,
    /// Wall time of the search for settings.
    pub search_seconds: f64,
}

/// Every metric of one scorer on one test set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Metrics<N = usize> {
    /// Over all pairs. Where classes of pairs differ in prevalence, this rewards knowing the class.
    #[serde(flatten)]
    pub pooled: Measures<N>,
    /// The mean reciprocal rank; `None` without queries.
    pub mrr: Option<f64>,
    /// `None` without queries.
    #[serde(flatten)]
    pub hits: Hits,
    /// The share of a node's true links among its first ten; `None` without queries.
    #[serde(rename = "recall@10")]
    pub recall_at_10: Option<f64>,
    /// The normalised discounted cumulative gain of the first ten; `None` without queries.
    #[serde(rename = "ndcg@10")]
    pub ndcg_at_10: Option<f64>,
    /// The mean of 1 / place of the true link that stands highest; `None` without queries.
    pub first_hit: Option<f64>,
    /// Distinct nodes among the ten best of all queries; `None` without queries.
    #[serde(rename = "distinct@10")]
    pub distinct_at_10: Option<f64>,
    /// The expected calibration error; `None` where scores give no probabilities.
    pub ece: Option<f64>,
    /// Pairs of a new and a warm node; `None` where no node is hidden.
    pub cold_warm: Option<Measures<N>>,
    /// Pairs of two new nodes; `None` where no node is hidden.
    pub cold_cold: Option<Measures<N>>,
}

/// The mean or the standard deviation of every metric over seeds.
pub type Summary = Metrics<Option<f64>>;

/// The outcome of a search for settings.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChosenSettings {
    /// What differs from the base.
    pub settings: String,
    /// AUC on the validation pairs that they were chosen on.
    pub auc: f64,
    /// Average precision on them.
    pub ap: f64,
    /// Places of true links in lists, where settings were chosen by these.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub lists: Option<ListQuality>,
    /// How many trials there were.
    pub trials: usize,
}

/// One seed's measurement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SeedResult {
    /// How the model came to be.
    #[serde(flatten)]
    pub run: Run,
    /// What it scores.
    #[serde(flatten)]
    pub metrics: Metrics,
    /// How much of the test set was measured, where that is not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
    /// What was chosen where settings were searched for.
    pub chosen: Option<ChosenSettings>,
    /// Every relation and direction apart; none where there is one alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<RoleResult>,
    /// Lists of test nodes that are given ever more of their links; none where they keep none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub few: Vec<FewLinks>,
    /// New candidates beside known ones; none where the protocol does not ask about them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pools: Option<Pools>,
    /// Probabilities for the test's share of linked pairs against what is linked, where scores give any.
    pub calibration: Option<Calibration>,
    /// What the trivial scorers score on the same pairs.
    #[serde(skip)]
    pub baselines: BaselineTable<BaselineResult>,
    /// The score of each test pair, for a comparison with another method.
    #[serde(skip)]
    pub scores: Vec<f32>,
    /// The rank of each target, for a comparison with another method.
    #[serde(skip)]
    pub ranks: Ranks,
}

impl SeedResult {
    /// Measures a scorer, and the baselines beside it.
    pub fn measure(run: Run, scorer: &(impl Scorer + ?Sized), test: &Test) -> Result<Self, MetricError> {
        let Measured { metrics, scores, ranks } = test.measure(scorer)?;
        let (baselines, neighbours) = BaselineTable::measure(run.seed, test, &candidates(&test.view))?;
        let roles = RoleResult::of(test.view.roles(), &ranks, &neighbours);
        let (sample, chosen, few, pools, calibration) = (None, None, Vec::new(), None, None);
        Ok(SeedResult { run, metrics, sample, chosen, roles, few, pools, calibration, baselines, scores, ranks })
    }
}

impl SeedResult {
    /// The same with a look at the probabilities that the weights of a score give, at the test's own share of linked pairs.
    fn with_calibration(mut self, weights: &ScoreWeights, test: &Test) -> Result<Self, MetricError> {
        let Some(base_rate) = self.metrics.pooled.prevalence else { return Ok(self) };
        let probability = |&score: &f32| weights.probability(f64::from(score), base_rate);
        let probabilities: Vec<f64> = self.scores.iter().map(probability).collect();
        let linked: Vec<bool> = test.pairs.iter().map(|pair| pair.linked).collect();
        let calibration = Calibration::of(&probabilities, &linked)?;
        self.metrics.ece = Some(calibration.error);
        self.calibration = Some(calibration);
        for role in &mut self.roles {
            role.calibrate(weights, test, &self.scores)?;
        }
        Ok(self)
    }

    /// Measures a score of fitted terms, its probabilities included.
    pub fn measure_links(run: Run, scorer: &LinkScorer<'_>, test: &Test) -> Result<Self, MetricError> {
        let result = SeedResult::measure(run, scorer, test)?;
        // With popularity turned down a score is no longer a log-odds.
        if scorer.popularity < 1.0 { Ok(result) } else { result.with_calibration(scorer.weights, test) }
    }
}

/// A scorer on one test set.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// What it scores.
    pub metrics: Metrics,
    /// The score of each test pair, for a comparison with another method.
    pub scores: Vec<f32>,
    /// The rank of each target, for a comparison with another method.
    pub ranks: Ranks,
}

impl Test<'_> {
    /// Measures a scorer, and nothing beside it.
    pub fn measure(&self, scorer: &(impl Scorer + ?Sized)) -> Result<Measured, MetricError> {
        self.check()?;
        let scores = self.scores(scorer);
        let ranks = Ranks::measure_sampled(scorer, self.queries, &candidates(&self.view), self.seed)?;
        let class = |class| self.measures_of_class(class, &scores).transpose();
        let metrics = Metrics {
            pooled: self.measures(&scores)?,
            mrr: ranks.mrr(),
            hits: Hits::each(|k| ranks.hits(k)),
            recall_at_10: ranks.recall(),
            ndcg_at_10: ranks.ndcg(LISTED),
            first_hit: ranks.first_hit(),
            distinct_at_10: ranks.distinct().map(|count| count as f64),
            ece: None,
            cold_warm: class(PairClass::ColdWarm)?,
            cold_cold: class(PairClass::ColdCold)?,
        };
        Ok(Measured { metrics, scores, ranks })
    }

    fn check(&self) -> Result<(), MetricError> {
        let nodes = self.view.graph().nodes();
        let ends = self.pairs.iter().flat_map(|pair| [pair.source, pair.target]);
        let asked = self.queries.iter().flat_map(|query| query.targets.iter().copied().chain([query.source]));
        let unknown = ends.chain(asked).find(|&node| node as usize >= nodes);
        unknown.map_or(Ok(()), |node| Err(MetricError::UnknownNode { node, nodes }))
    }

    fn scores(&self, scorer: &(impl Scorer + ?Sized)) -> Vec<f32> {
        let ends: Vec<_> = self.pairs.iter().map(|pair| (pair.source, pair.target)).collect();
        scorer.scores(&ends)
    }

    fn measures(&self, scores: &[f32]) -> Result<Measures, MetricError> {
        Measures::of(scores, &self.pairs.iter().map(|pair| pair.linked).collect::<Vec<_>>())
    }

    /// `None` where no node is hidden: a visible node without a training link is not a new one.
    fn measures_of_class(&self, class: PairClass, scores: &[f32]) -> Option<Result<Measures, MetricError>> {
        let nodes = self.view.graph().nodes() as NodeId;
        (0..nodes).any(|node| !self.view.is_visible(node)).then(|| {
            let of_class = self.pairs.iter().zip(scores).filter(|(pair, _)| self.view.class(**pair) == class);
            let (scores, linked): (Vec<_>, Vec<_>) = of_class.map(|(pair, &score)| (score, pair.linked)).unzip();
            Measures::of(&scores, &linked)
        })
    }
}

/// One entry for each trivial scorer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct BaselineTable<T> {
    /// See [`Random`].
    pub random: T,
    /// See [`Degree`].
    pub degree: T,
    /// See [`Cosine`].
    pub cosine: T,
    /// See [`TfIdf`].
    pub tfidf: T,
    /// See [`Neighbours`]; always ranked.
    pub knn: T,
}

/// One baseline on one test set.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BaselineResult {
    /// Over all pairs.
    pub measures: Measures,
    /// The mean reciprocal rank, when asked for.
    pub mrr: Option<f64>,
    /// Hits@10, when asked for.
    pub hits_at_10: Option<f64>,
    /// Recall@10, when asked for.
    pub recall_at_10: Option<f64>,
    /// NDCG@10, when asked for.
    pub ndcg_at_10: Option<f64>,
}

impl BaselineTable<BaselineResult> {
    /// All of them, and the ranks of [`Neighbours`].
    fn measure(seed: u64, test: &Test, candidates: &[NodeId]) -> Result<(Self, Ranks), MetricError> {
        let result = |scorer: &dyn Scorer, queries| -> Result<(BaselineResult, Ranks), MetricError> {
            let ranks = Ranks::measure_sampled(scorer, queries, candidates, test.seed)?;
            let measures = test.measures(&test.scores(scorer))?;
            let (mrr, hits_at_10, recall_at_10) = (ranks.mrr(), ranks.hits(10), ranks.recall());
            let ndcg_at_10 = ranks.ndcg(LISTED);
            Ok((BaselineResult { measures, mrr, hits_at_10, recall_at_10, ndcg_at_10 }, ranks))
        };
        let queries = if test.rank_baselines { test.queries } else { &[] };
        let scorers = BaselineTable::scorers(test, seed);
        let (knn, ranks) = result(&*scorers.knn, test.queries)?;
        let table = BaselineTable {
            random: result(&*scorers.random, queries)?.0,
            degree: result(&*scorers.degree, queries)?.0,
            cosine: result(&*scorers.cosine, queries)?.0,
            tfidf: result(&*scorers.tfidf, queries)?.0,
            knn,
        };
        Ok((table, ranks))
    }
}

impl<'a> BaselineTable<Box<dyn Scorer + 'a>> {
    /// The scorers themselves, made for a test.
    pub(super) fn scorers(test: &Test<'a>, seed: u64) -> Self {
        BaselineTable {
            random: Box::new(Random::new(seed)),
            degree: Box::new(Degree::new(&test.view)),
            cosine: Box::new(Cosine::new(&test.view)),
            tfidf: Box::new(TfIdf::new(&test.view)),
            knn: Box::new(Neighbours::new(&test.view).with_given(test.given)),
        }
    }
}

impl<T> BaselineTable<T> {
    pub(super) fn try_map<U, E>(&self, of: impl Fn(&T) -> Result<U, E>) -> Result<BaselineTable<U>, E> {
        Ok(BaselineTable {
            random: of(&self.random)?,
            degree: of(&self.degree)?,
            cosine: of(&self.cosine)?,
            tfidf: of(&self.tfidf)?,
            knn: of(&self.knn)?,
        })
    }
}

/// A baseline over all seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct BaselineSummary {
    /// The mean AUC.
    pub auc: Option<f64>,
    /// The mean average precision.
    pub ap: Option<f64>,
    /// The mean prevalence, without which the average precision cannot be read.
    pub prevalence: Option<f64>,
    /// The standard deviation of the AUC.
    pub auc_sd: Option<f64>,
    /// The standard deviation of the average precision.
    pub ap_sd: Option<f64>,
    /// The mean MRR, when asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mrr: Option<f64>,
    /// The mean Hits@10, when asked for.
    #[serde(rename = "hits@10", skip_serializing_if = "Option::is_none")]
    pub hits_at_10: Option<f64>,
    /// The mean recall@10, when asked for.
    #[serde(rename = "recall@10", skip_serializing_if = "Option::is_none")]
    pub recall_at_10: Option<f64>,
    /// The mean NDCG@10, when asked for.
    #[serde(rename = "ndcg@10", skip_serializing_if = "Option::is_none")]
    pub ndcg_at_10: Option<f64>,
}

impl BaselineSummary {
    fn of(results: &[BaselineResult]) -> Self {
        let column = |field: fn(&BaselineResult) -> Option<f64>| results.iter().map(field);
        BaselineSummary {
            auc: mean(&mut column(|result| result.measures.auc)),
            ap: mean(&mut column(|result| result.measures.ap)),
            prevalence: mean(&mut column(|result| result.measures.prevalence)),
            auc_sd: deviation(&mut column(|result| result.measures.auc)),
            ap_sd: deviation(&mut column(|result| result.measures.ap)),
            mrr: mean(&mut column(|result| result.mrr)),
            hits_at_10: mean(&mut column(|result| result.hits_at_10)),
            recall_at_10: mean(&mut column(|result| result.recall_at_10)),
            ndcg_at_10: mean(&mut column(|result| result.ndcg_at_10)),
        }
    }
}

/// What the standard deviation over seeds is a deviation of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Deviation {
    /// Each seed is another split.
    Splits,
    /// The split is given, so that only the initialisation differs.
    Initialisation,
}

impl Deviation {
    /// What differs between the seeds of a protocol.
    pub fn of(protocol: &Protocol) -> Self {
        match protocol {
            Protocol::Files(_) | Protocol::Temporal { .. } | Protocol::TemporalLinks => Deviation::Initialisation,
            Protocol::Deal2020 | Protocol::Strict | Protocol::Few { .. } | Protocol::Transductive => Deviation::Splits,
        }
    }
}

/// What was evaluated, and how.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct About {
    /// The dataset's name.
    pub dataset: String,
    /// The protocol's name, or the path of a split given as files.
    pub protocol: String,
    /// The settings' name.
    pub preset: String,
    /// What steps and settings were chosen on.
    pub validation: Validation,
    /// Nodes of the whole graph.
    pub nodes: usize,
    /// Links of the whole graph, in every relation.
    pub edges: usize,
    /// Columns of the attributes.
    pub attributes: usize,
    /// "passed", "passed with warnings" or "failed: …".
    pub audit: String,
    /// What `sd` measures.
    pub deviation: Deviation,
}

/// The audit's outcome in a few words; only a failure says why.
pub(crate) fn verdict(audit: &Audit) -> String {
    match audit.status() {
        AuditStatus::PassedWithWarnings => "passed with warnings".to_owned(),
        AuditStatus::Passed | AuditStatus::Failed => audit.to_string(),
    }
}

/// A report and all that it depends on, as it is handed to other programs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Record {
    /// The report.
    #[serde(flatten)]
    pub report: Report,
    /// What the audit of the split found.
    pub audit_findings: Vec<String>,
    /// All settings.
    pub settings: Config,
    /// Estimated seconds of the search for settings, where there is one.
    pub budget: Option<f64>,
    /// How much a node's links counted in its favour.
    pub popularity: f32,
}

/// One evaluation over several seeds.
///
/// A metric that some seed lacks (a class is missing from its test) is averaged over the others; the seed shows it as
/// null.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// What was evaluated.
    #[serde(flatten)]
    pub about: About,
    /// The mean share of linked pairs in the test.
    pub prevalence: Option<f64>,
    /// Each seed's result.
    pub seeds: Vec<SeedResult>,
    /// The mean over the seeds.
    pub mean: Summary,
    /// The standard deviation over the seeds (n − 1); null for a single one.
    pub sd: Summary,
    /// The trivial scorers on the same pairs.
    pub baselines: BaselineTable<BaselineSummary>,
    /// The mean over the seeds of every relation and direction apart, with all queries and links; none where there is one alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<RoleResult>,
    /// The mean over the seeds of lists of test nodes that are given ever more of their links; none where they keep none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub few: Vec<FewLinks>,
    /// The mean over the seeds of new candidates beside known ones, with all questions and links; none where the protocol does not ask
    /// about them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pools: Option<Pools>,
}

impl Report {
    /// Puts the results of several seeds together.
    pub fn from_seeds(about: About, seeds: Vec<SeedResult>) -> Self {
        let metrics: Vec<_> = seeds.iter().map(|seed| seed.metrics).collect();
        let mean = summarise(&metrics, mean);
        let baseline = |pick: fn(&BaselineTable<BaselineResult>) -> BaselineResult| {
            BaselineSummary::of(&seeds.iter().map(|seed| pick(&seed.baselines)).collect::<Vec<_>>())
        };
        let baselines = BaselineTable {
            random: baseline(|table| table.random),
            degree: baseline(|table| table.degree),
            cosine: baseline(|table| table.cosine),
            tfidf: baseline(|table| table.tfidf),
            knn: baseline(|table| table.knn),
        };
        let (prevalence, roles) = (mean.pooled.prevalence, RoleResult::mean(&seeds));
        let few = FewLinks::mean(&seeds.iter().map(|seed| &seed.few[..]).collect::<Vec<_>>());
        let pools = Pools::mean(&seeds.iter().filter_map(|seed| seed.pools.as_ref()).collect::<Vec<_>>());
        Report { about, prevalence, mean, sd: summarise(&metrics, deviation), baselines, roles, few, pools, seeds }
    }
}

/// A statistic over the seeds that have a value.
pub(super) type Statistic = fn(&mut dyn Iterator<Item = Option<f64>>) -> Option<f64>;

fn summarise(metrics: &[Metrics], statistic: Statistic) -> Summary {
    let hits = |k| statistic(&mut metrics.iter().map(|seed| seed.hits.at(k)));
    let class = |pick: fn(&Metrics) -> Option<Measures>| {
        let of_class: Vec<_> = metrics.iter().filter_map(pick).collect();
        (!of_class.is_empty()).then(|| summarise_measures(&of_class, statistic))
    };
    Metrics {
        pooled: summarise_measures(&metrics.iter().map(|seed| seed.pooled).collect::<Vec<_>>(), statistic),
        mrr: statistic(&mut metrics.iter().map(|seed| seed.mrr)),
        hits: Hits::each(hits),
        recall_at_10: statistic(&mut metrics.iter().map(|seed| seed.recall_at_10)),
        ndcg_at_10: statistic(&mut metrics.iter().map(|seed| seed.ndcg_at_10)),
        first_hit: statistic(&mut metrics.iter().map(|seed| seed.first_hit)),
        distinct_at_10: statistic(&mut metrics.iter().map(|seed| seed.distinct_at_10)),
        ece: statistic(&mut metrics.iter().map(|seed| seed.ece)),
        cold_warm: class(|seed| seed.cold_warm),
        cold_cold: class(|seed| seed.cold_cold),
    }
}

fn summarise_measures(measures: &[Measures], statistic: Statistic) -> Measures<Option<f64>> {
    let over = |field: fn(&Measures) -> Option<f64>| statistic(&mut measures.iter().map(field));
    Measures {
        auc: over(|measures| measures.auc),
        ap: over(|measures| measures.ap),
        prevalence: over(|measures| measures.prevalence),
        pairs: over(|measures| Some(measures.pairs as f64)),
    }
}

pub(super) fn mean(values: &mut dyn Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<_> = values.flatten().collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The sample's standard deviation, with n − 1.
fn deviation(values: &mut dyn Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<_> = values.collect();
    let mean = mean(&mut values.iter().copied())?;
    let values: Vec<_> = values.into_iter().flatten().collect();
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}
