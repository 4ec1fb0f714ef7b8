//! A method that was trained elsewhere on a split's test set, beside the baselines and compared with each of them.

use serde::Serialize;

use super::bootstrap::{Bootstrap, ComparedRanks, ComparedScores, Difference, Metric};
use super::{
    BaselineTable, Measured, MethodScores, MetricError, Metrics, Questions, RankedLists, RoleResult, Sample, Test,
    candidates,
};
use crate::graph::NodeId;
use crate::hint::Hint;
use crate::load::ScoreKind;
use crate::split::{Candidates, Pair, TestView};
use crate::text::all_quoted;

/// Pairs that an error names.
const NAMED: usize = 3;

/// How good somebody's method is on a split.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RefereeReport {
    /// What it calls itself.
    pub method: String,
    /// The dataset's name.
    pub dataset: String,
    /// The protocol's name, or the path of a split given as files.
    pub protocol: String,
    /// Nodes of the whole graph.
    pub nodes: usize,
    /// Links of the whole graph, in every relation.
    pub edges: usize,
    /// Columns of the attributes.
    pub attributes: usize,
    /// "passed", "passed with warnings" or "failed: …".
    pub audit: String,
    /// What the audit found.
    pub audit_findings: Vec<String>,
    /// What was measured.
    #[serde(flatten)]
    pub result: RefereeResult,
    /// What the user should know, a line each.
    pub notes: Vec<String>,
}

/// What was measured of somebody's method.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RefereeResult {
    /// Every metric; none of pairs where there are lists alone, none of lists where not all candidates have scores.
    #[serde(flatten)]
    pub metrics: Metrics,
    /// How much of the test set was measured, where that is not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
    /// Every relation and direction apart; none where there is one alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<RoleResult>,
    /// Methods that need no training.
    pub baselines: BaselineTable<Compared>,
}

/// A baseline, and how much better the method is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Compared {
    /// The metrics of the baseline.
    #[serde(flatten)]
    pub metrics: Metrics,
    /// The method less the baseline.
    pub difference: Differences,
}

/// Differences of two methods in each metric that both have, by a paired bootstrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Differences {
    /// Of the AUC.
    pub auc: Option<Difference>,
    /// Of the average precision.
    pub ap: Option<Difference>,
    /// Of the mean reciprocal rank.
    pub mrr: Option<Difference>,
}

/// Why somebody's scores cannot be measured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RefereeError {
    /// No table of scores.
    #[error("there are no scores")]
    NoScores,
    /// Two tables of one kind.
    #[error("there are two tables of {}", in_words(*.kind))]
    TwoTables {
        /// The kind.
        kind: ScoreKind,
    },
    /// Test pairs without a score.
    #[error("{missing} of {pairs} test pairs have no score, such as {}", all_quoted(.examples))]
    Missing {
        /// How many have none.
        missing: usize,
        /// Test pairs there are.
        pairs: usize,
        /// Some that have none, each as both ends.
        examples: Vec<String>,
    },
    /// Lists of other nodes.
    #[error("none of {lists} lists is that of a node that the test asks about, such as {}", all_quoted(.examples))]
    OtherLists {
        /// How many lists there are.
        lists: usize,
        /// Some nodes that the test asks about.
        examples: Vec<String>,
    },
    /// A measurement fails.
    #[error(transparent)]
    Metric(#[from] MetricError),
}

impl RefereeError {
    /// What to do about it.
    pub fn hint(&self) -> Option<Hint> {
        Some(Hint::new(match self {
            RefereeError::Metric(error) => return error.hint(),
            RefereeError::NoScores => {
                "give a table with the columns `source,target,score` for pairs, or `source,rank,target` for ranked lists"
            }
            RefereeError::TwoTables { .. } => {
                "give one table of pairs with scores, one of ranked lists, or one of each"
            }
            RefereeError::Missing { .. } => {
                "score every pair of `test.csv`, linked or not | give ranked lists, with the columns `source,rank,target`"
            }
            RefereeError::OtherLists { .. } => {
                "give a list for each test node, which `hidden.csv` names; without hidden nodes, for both ends of test links"
            }
        }))
    }
}

fn in_words(kind: ScoreKind) -> &'static str {
    match kind {
        ScoreKind::Pairs => "pairs with scores",
        ScoreKind::Lists => "ranked lists",
    }
}

/// A test set that somebody's scores are measured on.
pub(crate) struct Refereeing<'a> {
    pub test: Test<'a>,
    /// The whole test set, of which a sample may be measured.
    pub whole: TestView<'a>,
    /// What is measured of it.
    pub questions: &'a Questions,
    pub scores: &'a MethodScores,
    /// The name of a role node.
    pub name: &'a dyn Fn(NodeId) -> String,
}

impl Refereeing<'_> {
    /// Measures the method and every baseline; with what the user should know.
    pub fn run(&self) -> Result<(RefereeResult, Vec<String>), RefereeError> {
        self.check_pairs()?;
        let mut notes = Vec::new();
        let queries = if self.has_lists(&mut notes)? { self.test.queries } else { &[] };
        let test = Test { queries, ..self.test };
        let ours = self.measure(&test)?;
        let baselines = BaselineTable::scorers(&test, test.seed).try_map(|scorer| test.measure(&**scorer))?;
        let roles = RoleResult::of(test.view.roles(), &ours.ranks, &baselines.knn.ranks);
        let baselines = baselines.try_map(|baseline| compared(&ours, baseline, &test))?;
        let sample = self.questions.sample(&ours.ranks);
        Ok((RefereeResult { metrics: ours.metrics, sample, roles, baselines }, notes))
    }

    /// Pairs and lists may come from two tables.
    fn measure(&self, test: &Test<'_>) -> Result<Measured, MetricError> {
        match self.scores {
            MethodScores::Pairs(pairs) => test.measure(pairs),
            MethodScores::Lists(lists) => Test { pairs: &[], ..*test }.measure(lists),
            MethodScores::Both(pairs, lists) => {
                let of_pairs = Test { queries: &[], ..*test }.measure(pairs)?;
                let of_lists = Test { pairs: &[], ..*test }.measure(lists)?;
                let Metrics { pooled, cold_warm, cold_cold, .. } = of_pairs.metrics;
                let metrics = Metrics { pooled, cold_warm, cold_cold, ..of_lists.metrics };
                Ok(Measured { metrics, scores: of_pairs.scores, ranks: of_lists.ranks })
            }
        }
    }

    /// Every test pair must have a score, where pairs have scores.
    fn check_pairs(&self) -> Result<(), RefereeError> {
        let Some(scores) = self.scores.pairs() else { return Ok(()) };
        let pairs = self.whole.pairs();
        let missing: Vec<&Pair> =
            pairs.iter().filter(|pair| scores.score(pair.source, pair.target).is_none()).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let named = |pair: &&Pair| format!("{},{}", (self.name)(pair.source), (self.name)(pair.target));
        let examples = missing.iter().take(NAMED).map(named).collect();
        Err(RefereeError::Missing { missing: missing.len(), pairs: pairs.len(), examples })
    }

    /// Whether lists can be measured: there are some, or all candidates have scores.
    fn has_lists(&self, notes: &mut Vec<String>) -> Result<bool, RefereeError> {
        match self.scores.lists() {
            _ if self.test.queries.is_empty() => Ok(false),
            Some(lists) => self.check_lists(lists, notes).map(|()| true),
            None => {
                let unscored = self.candidates_without_score();
                notes.extend(unscored.as_ref().map(|unscored| {
                    format!("lists are not measured: {unscored}; score all candidates, or give ranked lists as well")
                }));
                Ok(unscored.is_none())
            }
        }
    }

    /// The first node of which some candidates have no score, in words.
    fn candidates_without_score(&self) -> Option<String> {
        let (scores, all) = (self.scores.pairs()?, candidates(&self.test.view));
        let candidates = Candidates::sampled(self.test.queries, &all, self.test.seed);
        self.test.queries.iter().find_map(|query| {
            let among = candidates.with_targets(query);
            let counts = |node: &&NodeId| **node != query.source && query.exclude.binary_search(node).is_err();
            let all = among.iter().filter(counts).count();
            let missing =
                among.iter().filter(counts).filter(|node| scores.score(query.source, **node).is_none()).count();
            (missing > 0)
                .then(|| format!("{missing} of {all} candidates of `{}` have no score", (self.name)(query.source)))
        })
    }

    fn check_lists(&self, lists: &RankedLists, notes: &mut Vec<String>) -> Result<(), RefereeError> {
        let candidates = candidates(&self.test.view);
        let asks = self.test.queries.chunk_by(|one, other| one.source == other.source).map(|queries| &queries[0]);
        let (mut lengths, mut without, mut strange) = (Vec::new(), 0, 0);
        for query in asks.clone() {
            let is_new = |node: NodeId| node != query.source && query.exclude.binary_search(&node).is_err();
            let is_candidate = |node: &NodeId| is_new(*node) && candidates.binary_search(node).is_ok();
            let listed = lists.of(query.source).filter(is_candidate).count();
            strange += lists.of(query.source).count() - listed;
            if listed > 0 { lengths.push(listed) } else { without += 1 }
        }
        let (Some(shortest), Some(longest)) = (lengths.iter().min(), lengths.iter().max()) else {
            let examples = asks.take(NAMED).map(|query| (self.name)(query.source)).collect();
            return Err(RefereeError::OtherLists { lists: lists.count(), examples });
        };
        let asking = lengths.len() + without;
        let long = if shortest == longest { format!("{longest}") } else { format!("{shortest} to {longest}") };
        notes.push(format!("lists show {long} candidates: a true link beyond them counts as not found"));
        if without > 0 {
            notes.push(format!("{without} of {asking} nodes that ask have no list: their links count as not found"));
        }
        if strange > 0 {
            notes.push(format!(
                "passed over {strange} places of lists with nodes that are no candidates or linked already"
            ));
        }
        Ok(())
    }
}

/// A method against one baseline.
fn compared(ours: &Measured, baseline: &Measured, test: &Test<'_>) -> Result<Compared, MetricError> {
    let bootstrap = Bootstrap { seed: test.seed, ..Bootstrap::default() };
    let of_pairs = |metric: Metric| {
        let splits = ComparedScores::new(metric, test.pairs, &ours.scores, &baseline.scores)?;
        known(bootstrap.compare(&[splits]))
    };
    let is_about_pairs = ours.metrics.pooled.pairs > 0;
    let [auc, ap] =
        [Metric::Auc, Metric::AveragePrecision].map(|metric| is_about_pairs.then(|| of_pairs(metric)).transpose());
    let mrr = known(bootstrap.compare(&[ComparedRanks::new(&ours.ranks, &baseline.ranks)?]));
    let difference = Differences { auc: auc?.flatten(), ap: ap?.flatten(), mrr: mrr? };
    Ok(Compared { metrics: baseline.metrics, difference })
}

/// A test set without a metric has no difference.
fn known(difference: Result<Difference, MetricError>) -> Result<Option<Difference>, MetricError> {
    match difference {
        Err(MetricError::OneClass { .. }) => Ok(None),
        other => other.map(Some),
    }
}
