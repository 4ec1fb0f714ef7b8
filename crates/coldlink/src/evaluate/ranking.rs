//! Where true links stand among all candidates: MRR and Hits@k.

use rayon::prelude::*;

use super::{ListQuality, MetricError};
use crate::graph::NodeId;
use crate::index::best;
use crate::score::Scorer;
use crate::split::{Candidates, RankingQuery, TrainView};

/// Which nodes a query is ranked against: all warm ones where nodes are hidden, all nodes where only links are.
pub fn candidates(view: &TrainView) -> Vec<NodeId> {
    let nodes = view.graph().nodes() as NodeId;
    let inductive = (0..nodes).any(|node| !view.is_visible(node));
    if inductive { view.warm() } else { (0..nodes).collect() }
}

/// The rank of each target of each query, 1 being the best.
///
/// As OGB's `_eval_mrr` for ogbl-citation2: the mean of the optimistic and the pessimistic rank among the candidates
/// that are neither the source nor another true link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranks {
    sources: Vec<NodeId>,
    /// For each query, the rank of each target in its order.
    ranks: Vec<Vec<f64>>,
    /// The distinct nodes among the first ten of all queries.
    distinct: usize,
    /// How many candidates there are, and of how many they are a sample, where they are one.
    sample: Option<(usize, usize)>,
}

/// How long the lists are that [`Ranks::distinct`] looks at.
pub(super) const LISTED: usize = 10;

impl Ranks {
    /// Ranks the targets of each query among its own candidates, or else among `candidates`, in any order and each counted once.
    pub fn measure(
        scorer: &(impl Scorer + ?Sized),
        queries: &[RankingQuery],
        candidates: &[NodeId],
    ) -> Result<Self, MetricError> {
        Ranks::among(scorer, queries, &Candidates::all(queries, candidates))
    }

    /// The same where a sample stands for candidates that are more than [`MOST_CANDIDATES`](crate::split::MOST_CANDIDATES): a target
    /// then competes with the sample.
    pub fn measure_sampled(
        scorer: &(impl Scorer + ?Sized),
        queries: &[RankingQuery],
        candidates: &[NodeId],
        seed: u64,
    ) -> Result<Self, MetricError> {
        Ranks::among(scorer, queries, &Candidates::sampled(queries, candidates, seed))
    }

    fn among(
        scorer: &(impl Scorer + ?Sized),
        queries: &[RankingQuery],
        candidates: &Candidates,
    ) -> Result<Self, MetricError> {
        let rank = |scores: &mut Vec<f32>, query: &RankingQuery| {
            let candidates = candidates.with_targets(query);
            scores.resize(candidates.len(), 0.0);
            scorer.scores_against(query.source, &candidates, scores);
            Ok((rank_targets(query, &candidates, scores)?, first_listed(query, &candidates, scores)))
        };
        scorer.expect(&queries.iter().map(|query| query.source).collect::<Vec<_>>());
        let ranks = queries.par_iter().map_init(Vec::new, rank);
        // Not collected into a `Result` at once: which of several errors that keeps depends on the threads.
        let ranked = ranks.collect::<Vec<_>>().into_iter().collect::<Result<Vec<_>, _>>()?;
        let (ranks, lists): (Vec<_>, Vec<_>) = ranked.into_iter().unzip();
        let mut listed = lists.concat();
        listed.sort_unstable();
        listed.dedup();
        let sources = queries.iter().map(|query| query.source).collect();
        Ok(Ranks { sources, ranks, distinct: listed.len(), sample: candidates.sample() })
    }

    /// Of queries that were ranked already.
    pub(super) fn of(ranked: impl Iterator<Item = (NodeId, Vec<f64>)>) -> Self {
        let (sources, ranks) = ranked.unzip();
        Ranks { sources, ranks, ..Ranks::default() }
    }

    /// The ranks of each query with its source, in the order of the queries.
    pub fn per_query(&self) -> impl Iterator<Item = (NodeId, &[f64])> {
        self.sources.iter().copied().zip(self.ranks.iter().map(Vec::as_slice))
    }

    /// How many distinct nodes the lists of the ten best show, over all queries; `None` without queries.
    pub fn distinct(&self) -> Option<usize> {
        (!self.sources.is_empty()).then_some(self.distinct)
    }

    /// How many candidates stood for how many, where a sample did.
    pub fn sample(&self) -> Option<(usize, usize)> {
        self.sample
    }

    /// How many targets were ranked.
    pub fn targets(&self) -> usize {
        self.ranks.iter().map(Vec::len).sum()
    }

    /// The mean of 1 / rank over all targets; `None` when there are none.
    pub fn mrr(&self) -> Option<f64> {
        self.mean(|rank| 1.0 / rank)
    }

    /// The share of targets that rank among the first `k`; `None` when there are none.
    pub fn hits(&self, k: usize) -> Option<f64> {
        self.mean(|rank| f64::from(rank <= k as f64))
    }

    /// The share of a node's true links among its first ten, all of them or ten at the most, over queries; `None` without any.
    pub fn recall(&self) -> Option<f64> {
        self.mean_of_queries(|ranks| {
            // A rank leaves other true links out: the one that is best but n stands n places further down.
            let shown =
                ranks.iter().zip(0..).filter(|&(rank, before)| rank + f64::from(before) <= LISTED as f64).count();
            shown as f64 / ranks.len().min(LISTED) as f64
        })
    }

    /// The mean over queries of 1 / rank of the true link that stands highest; `None` without any.
    pub fn first_hit(&self) -> Option<f64> {
        self.mean_of_queries(|ranks| ranks.first().map_or(0.0, |rank| 1.0 / rank))
    }

    /// MRR and recall; `None` when there are no targets.
    pub fn quality(&self) -> Option<ListQuality> {
        Some(ListQuality { mrr: self.mrr()?, recall: self.recall()? })
    }

    /// The ranks of those queries that `wanted` wants.
    pub fn only(&self, wanted: impl Fn(NodeId) -> bool) -> Ranks {
        let kept = self.sources.iter().zip(&self.ranks).filter(|(source, _)| wanted(**source));
        let (sources, ranks) = kept.map(|(&source, ranks)| (source, ranks.clone())).unzip();
        Ranks { sources, ranks, distinct: 0, sample: self.sample }
    }

    /// How many queries there are.
    pub fn queries(&self) -> usize {
        self.sources.len()
    }

    /// The mean over queries with a target of what their ranks, the best first, are worth.
    fn mean_of_queries(&self, value: impl Fn(&[f64]) -> f64) -> Option<f64> {
        let asked = self.ranks.iter().filter(|ranks| !ranks.is_empty());
        let values: Vec<f64> = asked
            .map(|ranks| {
                let mut ranks = ranks.clone();
                ranks.sort_unstable_by(f64::total_cmp);
                value(&ranks)
            })
            .collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }

    fn mean(&self, value: impl Fn(f64) -> f64) -> Option<f64> {
        let targets = self.targets();
        let sum: f64 = self.ranks.iter().flatten().map(|&rank| value(rank)).sum();
        (targets > 0).then(|| sum / targets as f64)
    }
}

/// The best candidates of a query that are not known to be its links.
pub(super) fn first_listed(query: &RankingQuery, candidates: &[NodeId], scores: &[f32]) -> Vec<NodeId> {
    let is_new = |node: NodeId| node != query.source && !query.exclude.contains(&node);
    let scored = candidates.iter().copied().zip(scores.iter().copied());
    // More than are wanted, in case some are left out.
    let most = LISTED + 1 + query.exclude.len();
    best(scored, most).into_iter().map(|hit| hit.node).filter(|&node| is_new(node)).take(LISTED).collect()
}

/// Counts, for each distinct score of a target, the candidates above it and beside it: a look at each candidate and a
/// search among the targets.
pub(super) fn rank_targets(
    query: &RankingQuery,
    candidates: &[NodeId],
    scores: &[f32],
) -> Result<Vec<f64>, MetricError> {
    let source_node = query.source;
    if let Some(place) = scores.iter().position(|score| score.is_nan()) {
        return Err(MetricError::PairNotANumber { source_node, target: candidates[place] });
    }
    let score_of = |node: &NodeId| candidates.binary_search(node).ok().map(|place| scores[place]);
    let score_of_target =
        |&target: &NodeId| score_of(&target).ok_or(MetricError::NotACandidate { source_node, target });
    let targets = query.targets.iter().map(score_of_target).collect::<Result<Vec<f32>, _>>()?;

    let mut counts = Counts::new(&targets);
    for &score in scores {
        *counts.slot(score) += 1;
    }
    let mut filtered: Vec<_> = [&query.targets[..], &query.exclude, &[source_node]].concat();
    filtered.sort_unstable();
    filtered.dedup();
    for score in filtered.iter().filter_map(score_of) {
        *counts.slot(score) -= 1;
    }
    let ranks = counts.ranks();
    let rank_of = |&score: &f32| ranks[counts.levels.partition_point(|&level| level > score)];
    Ok(targets.iter().map(rank_of).collect())
}

/// How many candidates score above, at and between the distinct scores of the targets.
struct Counts {
    /// The targets' distinct scores, highest first.
    levels: Vec<f32>,
    /// Above level 0, at level 0, between levels 0 and 1, at level 1, …, below the last.
    slots: Vec<usize>,
}

impl Counts {
    fn new(targets: &[f32]) -> Self {
        let mut levels = targets.to_vec();
        levels.sort_unstable_by(|a, b| b.total_cmp(a));
        levels.dedup();
        let slots = vec![0; 2 * levels.len() + 1];
        Counts { levels, slots }
    }

    fn slot(&mut self, score: f32) -> &mut usize {
        let level = self.levels.partition_point(|&level| level > score);
        let tied = self.levels.get(level) == Some(&score);
        &mut self.slots[2 * level + usize::from(tied)]
    }

    /// The rank of a target at each level.
    fn ranks(&self) -> Vec<f64> {
        let mut above = 0;
        let rank = |slots: &[usize]| {
            let optimistic = above + slots[0];
            let pessimistic = optimistic + slots[1];
            above = pessimistic;
            (optimistic + pessimistic) as f64 / 2.0 + 1.0
        };
        self.slots.chunks_exact(2).map(rank).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Scores every pair by its target alone.
    struct ByTarget(Vec<f32>);

    impl Scorer for ByTarget {
        fn scores(&self, pairs: &[(NodeId, NodeId)]) -> Vec<f32> {
            pairs.iter().map(|pair| self.0[pair.1 as usize]).collect()
        }
    }

    fn ranks(scores: &[f32], query: &RankingQuery) -> Result<Vec<f64>, MetricError> {
        let candidates: Vec<_> = (0..scores.len() as NodeId).collect();
        let ranks = Ranks::measure(&ByTarget(scores.to_vec()), std::slice::from_ref(query), &candidates)?;
        Ok(ranks.ranks.concat())
    }

    fn query(source: NodeId, targets: &[NodeId], exclude: &[NodeId]) -> RankingQuery {
        RankingQuery { source, targets: targets.to_vec(), exclude: exclude.to_vec(), among: None }
    }

    #[test]
    fn a_tie_takes_the_middle_rank() {
        assert_eq!(ranks(&[0.0, 5.0, 5.0, 5.0, 9.0], &query(0, &[2], &[])), Ok(vec![3.0]));
        assert_eq!(ranks(&[0.0, -0.0, 0.0], &query(2, &[0], &[])), Ok(vec![1.5]));
    }

    #[test]
    fn among_very_many_candidates_targets_compete_with_a_sample() {
        let scores = ByTarget((0..200_000).map(|node| f32::from((node % 1_000) as u16)).collect());
        let candidates: Vec<NodeId> = (0..200_000).collect();
        let queries = [query(5, &[899, 100_899], &[7]), query(6, &[999], &[])];
        let exact = Ranks::measure(&scores, &queries, &candidates).unwrap();
        let sampled = Ranks::measure_sampled(&scores, &queries, &candidates, 3).unwrap();
        assert_eq!((exact.sample(), sampled.sample()), (None, Some((1 << 16, 200_000))));
        let share = 65_536.0 / 200_000.0;
        for (exact, sampled) in exact.ranks.concat().iter().zip(sampled.ranks.concat()) {
            assert!((sampled - share * exact).abs() < 0.05 * share * exact + 10.0, "{sampled} {exact}");
        }
        assert_eq!(sampled, Ranks::measure_sampled(&scores, &queries, &candidates, 3).unwrap());
        let few = &candidates[..2_000];
        let near = [query(5, &[899], &[])];
        assert_eq!(Ranks::measure(&scores, &near, few), Ranks::measure_sampled(&scores, &near, few, 3));
    }

    #[test]
    fn other_true_links_and_the_source_do_not_count() {
        assert_eq!(ranks(&[9.0, 8.0, 7.0, 6.0], &query(0, &[3, 2], &[1, 77])), Ok(vec![1.0, 1.0]));
    }

    #[test]
    fn hits_and_mrr_are_means_over_targets() {
        let ranks = Ranks { sources: vec![4, 5], ranks: vec![vec![1.0, 4.0], vec![10.5]], ..Ranks::default() };
        assert_eq!(ranks.hits(1), Some(1.0 / 3.0));
        assert_eq!(ranks.hits(10), Some(2.0 / 3.0));
        assert_eq!(ranks.mrr(), Some((1.0 + 0.25 + 1.0 / 10.5) / 3.0));
        assert_eq!(Ranks::default().mrr(), None);
    }

    #[test]
    fn recall_and_first_hit_are_means_over_queries() {
        // The second list shows its links at places 1, 5 and 11: other true links count as shown.
        let ranks = Ranks { sources: vec![4, 5], ranks: vec![vec![10.0], vec![9.0, 1.0, 4.0]], ..Ranks::default() };
        assert_eq!(ranks.recall(), Some((1.0 + 2.0 / 3.0) / 2.0));
        assert_eq!(ranks.first_hit(), Some((0.1 + 1.0) / 2.0));
        let many = Ranks { sources: vec![4], ranks: vec![vec![1.0; 20]], ..Ranks::default() };
        assert_eq!(many.recall(), Some(1.0));
        assert_eq!((Ranks::default().recall(), Ranks::default().first_hit()), (None, None));
        assert_eq!(ranks.only(|source| source == 4).recall(), Some(1.0));
    }

    #[test]
    fn a_target_that_is_no_candidate_and_nan_are_errors() {
        let strange = Err(MetricError::NotACandidate { source_node: 0, target: 9 });
        assert_eq!(ranks(&[1.0, 2.0], &query(0, &[9], &[])), strange);
        let nan = Err(MetricError::PairNotANumber { source_node: 0, target: 1 });
        assert_eq!(ranks(&[1.0, f32::NAN], &query(0, &[0], &[])), nan);
    }

    /// OGB's `_eval_mrr`, target by target.
    fn naive(scores: &[f32], query: &RankingQuery) -> Vec<f64> {
        let counts =
            |node: &NodeId| *node != query.source && !query.targets.contains(node) && !query.exclude.contains(node);
        let rank = |&target: &NodeId| {
            let negatives = || (0..scores.len() as NodeId).filter(counts).map(|node| scores[node as usize]);
            let positive = scores[target as usize];
            let optimistic = negatives().filter(|&score| score > positive).count();
            let pessimistic = negatives().filter(|&score| score >= positive).count();
            0.5 * (optimistic + pessimistic) as f64 + 1.0
        };
        query.targets.iter().map(rank).collect()
    }

    proptest! {
        #[test]
        fn ranks_equal_their_definition(
            scores in prop::collection::vec((0_i8..8).prop_map(f32::from), 12),
            targets in prop::collection::vec(1_u32..12, 0..6),
            exclude in prop::collection::vec(0_u32..12, 0..6),
        ) {
            let query = query(0, &targets, &exclude);
            prop_assert_eq!(ranks(&scores, &query).unwrap(), naive(&scores, &query));
        }
    }
}
