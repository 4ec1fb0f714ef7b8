//! Where true links stand among all candidates: MRR, Hits@k, recall@k and NDCG@k.

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
    /// For each query, the rank of each target in its order; infinite where a list does not show it.
    ranks: Vec<Vec<f64>>,
    /// For each of them, how many candidates that are no true links have the same score.
    tied: Vec<Vec<usize>>,
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
            Ok((places_of_targets(query, &candidates, scores)?, first_listed(query, &candidates, scores)))
        };
        scorer.expect(&queries.iter().map(|query| query.source).collect::<Vec<_>>());
        let ranks = queries.par_iter().map_init(Vec::new, rank);
        // Not collected into a `Result` at once: which of several errors that keeps depends on the threads.
        let ranked = ranks.collect::<Vec<_>>().into_iter().collect::<Result<Vec<_>, _>>()?;
        let (places, lists): (Vec<_>, Vec<_>) = ranked.into_iter().unzip();
        let (ranks, tied) = places.into_iter().map(|places| places.into_iter().unzip()).unzip();
        let mut listed = lists.concat();
        listed.sort_unstable();
        listed.dedup();
        let sources = queries.iter().map(|query| query.source).collect();
        Ok(Ranks { sources, ranks, tied, distinct: listed.len(), sample: candidates.sample() })
    }

    /// Of queries that were ranked already, without ties.
    pub(super) fn of(ranked: impl Iterator<Item = (NodeId, Vec<f64>)>) -> Self {
        let (sources, ranks): (_, Vec<Vec<f64>>) = ranked.unzip();
        let tied = ranks.iter().map(|ranks| vec![0; ranks.len()]).collect();
        Ranks { sources, ranks, tied, ..Ranks::default() }
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
        self.recall_at(LISTED)
    }

    /// The same among its first `k`.
    pub fn recall_at(&self, k: usize) -> Option<f64> {
        self.mean_of_queries(|ranks| {
            // A rank leaves other true links out: the one that is best but n stands n places further down.
            let shown = ranks.iter().zip(0..).filter(|&(rank, before)| rank + f64::from(before) <= k as f64).count();
            shown as f64 / ranks.len().min(k).max(1) as f64
        })
    }

    /// The normalised discounted cumulative gain of the first `k`, a true link being worth 1, over queries; `None` without any.
    ///
    /// As scikit-learn's `ndcg_score`: candidates with the same score share the discounts of their places.
    pub fn ndcg(&self, k: usize) -> Option<f64> {
        let asked = self.ranks.iter().zip(&self.tied).filter(|(ranks, _)| !ranks.is_empty());
        let (sum, count) = asked.fold((0.0, 0_usize), |(sum, count), (ranks, tied)| {
            let ideal = (1..=ranks.len().min(k)).map(discount).sum::<f64>();
            (sum + if ideal > 0.0 { gain(ranks, tied, k) / ideal } else { 0.0 }, count + 1)
        });
        (count > 0).then(|| sum / count as f64)
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
        let kept = || (0..self.sources.len()).filter(|&place| wanted(self.sources[place]));
        Ranks {
            sources: kept().map(|place| self.sources[place]).collect(),
            ranks: kept().map(|place| self.ranks[place].clone()).collect(),
            tied: kept().map(|place| self.tied[place].clone()).collect(),
            distinct: 0,
            sample: self.sample,
        }
    }

    /// These, and then those of other queries.
    pub(super) fn followed_by(mut self, other: Ranks) -> Self {
        self.sources.extend(other.sources);
        self.ranks.extend(other.ranks);
        self.tied.extend(other.tied);
        Ranks { distinct: 0, sample: self.sample.max(other.sample), ..self }
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

/// What a place of a list is worth, from 1.
fn discount(place: usize) -> f64 {
    1.0 / (place as f64 + 1.0).log2()
}

/// The discounted gain of one query's targets among the first `k`.
fn gain(ranks: &[f64], tied: &[usize], k: usize) -> f64 {
    let mut places: Vec<(f64, usize)> = ranks.iter().copied().zip(tied.iter().copied()).collect();
    places.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let (mut gain, mut before) = (0.0, 0);
    // Targets of one rank and as many ties have one score, or stand next to each other with nothing between them.
    for level in places.chunk_by(|one, other| one == other).take_while(|level| level[0].0.is_finite()) {
        let ((rank, tied), targets) = (level[0], level.len());
        let above = (rank - 1.0 - tied as f64 / 2.0) as usize + before;
        let all = tied + targets;
        let discounts: f64 = (above + 1..=(above + all).min(k)).map(discount).sum();
        gain += targets as f64 * discounts / all as f64;
        before += targets;
    }
    gain
}

/// The best candidates of a query that are not known to be its links.
pub(super) fn first_listed(query: &RankingQuery, candidates: &[NodeId], scores: &[f32]) -> Vec<NodeId> {
    let is_new = |node: NodeId| node != query.source && !query.exclude.contains(&node);
    let scored = candidates.iter().copied().zip(scores.iter().copied()).filter(|scored| scored.1 > f32::NEG_INFINITY);
    // More than are wanted, in case some are left out.
    let most = LISTED + 1 + query.exclude.len();
    best(scored, most).into_iter().map(|hit| hit.node).filter(|&node| is_new(node)).take(LISTED).collect()
}

/// The rank of each target.
pub(super) fn rank_targets(
    query: &RankingQuery,
    candidates: &[NodeId],
    scores: &[f32],
) -> Result<Vec<f64>, MetricError> {
    Ok(places_of_targets(query, candidates, scores)?.into_iter().map(|place| place.0).collect())
}

/// The rank of each target, and how many other candidates have its score. A score of −∞ means that a list does not show a candidate.
///
/// Counts, for each distinct score of a target, the candidates above it and beside it: a look at each candidate and a search among
/// the targets.
fn places_of_targets(
    query: &RankingQuery,
    candidates: &[NodeId],
    scores: &[f32],
) -> Result<Vec<(f64, usize)>, MetricError> {
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
    let places = counts.places();
    let place_of = |&score: &f32| match score {
        f32::NEG_INFINITY => (f64::INFINITY, 0),
        score => places[counts.levels.partition_point(|&level| level > score)],
    };
    Ok(targets.iter().map(place_of).collect())
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

    /// The rank of a target at each level, and how many others are there.
    fn places(&self) -> Vec<(f64, usize)> {
        let mut above = 0;
        let place = |slots: &[usize]| {
            let optimistic = above + slots[0];
            let pessimistic = optimistic + slots[1];
            above = pessimistic;
            ((optimistic + pessimistic) as f64 / 2.0 + 1.0, slots[1])
        };
        self.slots.chunks_exact(2).map(place).collect()
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

    fn ranked(ranks: Vec<Vec<f64>>) -> Ranks {
        Ranks::of((4..).zip(ranks))
    }

    #[test]
    fn a_target_that_a_list_does_not_show_is_found_nowhere() {
        let scores = ByTarget(vec![0.0, f32::NEG_INFINITY, 2.0, f32::NEG_INFINITY, 3.0]);
        let ranks = Ranks::measure(&scores, &[query(0, &[1, 2], &[])], &[0, 1, 2, 3, 4]).unwrap();
        assert_eq!(ranks.ranks, [[f64::INFINITY, 2.0]]);
        assert_eq!((ranks.mrr(), ranks.hits(100), ranks.recall()), (Some(0.25), Some(0.5), Some(0.5)));
        assert_eq!(ranks.ndcg(10), Some(1.0 / 3.0_f64.log2() / (1.0 + 1.0 / 3.0_f64.log2())));
        assert_eq!(ranks.distinct(), Some(2));
    }

    #[test]
    fn ranks_of_several_parts_stand_one_after_the_other() {
        let all = ranked(vec![vec![1.0]]).followed_by(ranked(vec![vec![2.0, 4.0]]));
        assert_eq!((all.queries(), all.targets(), all.mrr()), (2, 3, Some((1.0 + 0.5 + 0.25) / 3.0)));
    }

    #[test]
    fn hits_and_mrr_are_means_over_targets() {
        let ranks = ranked(vec![vec![1.0, 4.0], vec![10.5]]);
        assert_eq!(ranks.hits(1), Some(1.0 / 3.0));
        assert_eq!(ranks.hits(10), Some(2.0 / 3.0));
        assert_eq!(ranks.mrr(), Some((1.0 + 0.25 + 1.0 / 10.5) / 3.0));
        assert_eq!(Ranks::default().mrr(), None);
    }

    #[test]
    fn recall_and_first_hit_are_means_over_queries() {
        // The second list shows its links at places 1, 5 and 11: other true links count as shown.
        let ranks = ranked(vec![vec![10.0], vec![9.0, 1.0, 4.0]]);
        assert_eq!(ranks.recall(), Some((1.0 + 2.0 / 3.0) / 2.0));
        assert_eq!(ranks.first_hit(), Some((0.1 + 1.0) / 2.0));
        let many = ranked(vec![vec![1.0; 20]]);
        assert_eq!((many.recall(), many.recall_at(20), many.ndcg(10)), (Some(1.0), Some(1.0), Some(1.0)));
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

    /// Every order of candidates with equal scores, on average: a place's discount times whether its candidate is a target.
    fn ndcg_by_places(scores: &[f32], query: &RankingQuery, k: usize) -> f64 {
        let is_target = |node: usize| query.targets.contains(&(node as NodeId));
        let counts = |node: &usize| {
            let id = *node as NodeId;
            id != query.source && (is_target(*node) || !query.exclude.contains(&id))
        };
        let mut listed: Vec<usize> = (0..scores.len()).filter(counts).collect();
        listed.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        let (mut sum, mut place) = (0.0, 0);
        for level in listed.chunk_by(|&a, &b| scores[a] == scores[b]) {
            let share = level.iter().filter(|&&node| is_target(node)).count() as f64 / level.len() as f64;
            for _ in level {
                place += 1;
                sum += if place <= k { share / ((place + 1) as f64).log2() } else { 0.0 };
            }
        }
        let ideal: f64 = (1..=query.targets.len().min(k)).map(|place| 1.0 / ((place + 1) as f64).log2()).sum();
        sum / ideal
    }

    proptest! {
        #[test]
        fn ndcg_equals_its_definition(
            scores in prop::collection::vec((0_i8..8).prop_map(f32::from), 12),
            targets in prop::collection::btree_set(1_u32..12, 1..6),
            exclude in prop::collection::vec(0_u32..12, 0..6),
            k in 1_usize..14,
        ) {
            let targets: Vec<NodeId> = targets.into_iter().collect();
            let exclude: Vec<NodeId> = exclude.into_iter().filter(|node| !targets.contains(node)).collect();
            let query = query(0, &targets, &exclude);
            let candidates: Vec<_> = (0..scores.len() as NodeId).collect();
            let ranks = Ranks::measure(&ByTarget(scores.clone()), std::slice::from_ref(&query), &candidates).unwrap();
            let (found, expected) = (ranks.ndcg(k).unwrap(), ndcg_by_places(&scores, &query, k));
            prop_assert!((found - expected).abs() < 1e-12, "{} {}", found, expected);
        }

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
