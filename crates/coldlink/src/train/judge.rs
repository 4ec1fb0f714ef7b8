//! What a learner is judged by while it is trained.

use std::ops::Range;
use std::sync::Arc;

use rand::seq::index;

use crate::evaluate::{ListQuality, Measures, MetricError, Validated};
use crate::graph::NodeId;
use crate::random::{Purpose, stream};
use crate::split::{Pair, RankingQuery};

/// Questions of each node type that steps are chosen on.
const QUESTIONS: usize = 200;
/// Candidates of each node type that true links compete with there; the same for all questions.
const CANDIDATES: usize = 1_000;

/// Pairs and, where lists matter, questions whose true links compete with a sample of all candidates.
#[derive(Clone, Debug, Default)]
pub struct Judge {
    /// Those that are judged as pairs, then those of each list.
    pairs: Vec<Pair>,
    /// How many are judged as pairs.
    alone: usize,
    /// Where each list stands, its true links first.
    lists: Vec<Range<usize>>,
}

impl Judge {
    /// By AUC and AP on pairs.
    pub fn of_pairs(pairs: Vec<Pair>) -> Self {
        Judge { alone: pairs.len(), pairs, lists: Vec::new() }
    }

    /// The same, and by the places of true links in lists. `candidates` are those of questions that do not say theirs.
    pub fn with_lists(mut self, queries: &[RankingQuery], candidates: &[NodeId], seed: u64) -> Self {
        for (place, queries) in by_candidates(queries).into_iter().enumerate() {
            let random = &mut stream(seed, Purpose::Lists, u64::MAX, place as u64);
            let among = queries[0].among.as_deref().unwrap_or(candidates);
            let mut drawn: Vec<NodeId> =
                sample(among.len(), CANDIDATES, random).into_iter().map(|place| among[place]).collect();
            drawn.sort_unstable();
            for place in sample(queries.len(), QUESTIONS, random) {
                self.push(queries[place], &drawn);
            }
        }
        self
    }

    fn push(&mut self, query: &RankingQuery, drawn: &[NodeId]) {
        let start = self.pairs.len();
        let competes = |node: &&NodeId| {
            **node != query.source
                && query.targets.binary_search(node).is_err()
                && query.exclude.binary_search(node).is_err()
        };
        let pair = |linked| move |&target: &NodeId| Pair { source: query.source, target, linked };
        self.pairs.extend(query.targets.iter().map(pair(true)));
        self.pairs.extend(drawn.iter().filter(competes).map(pair(false)));
        self.lists.push(start..self.pairs.len());
    }

    /// What is to be scored.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// How good scores are after so many steps; nothing where there is nothing to choose by.
    pub fn judge(&self, scores: &[f32], step: u64) -> Result<Option<Validated>, MetricError> {
        let linked: Vec<bool> = self.pairs[..self.alone].iter().map(|pair| pair.linked).collect();
        let measures = Measures::of(&scores[..self.alone], &linked)?;
        if let Some(position) = scores.iter().position(|score| score.is_nan()) {
            return Err(MetricError::NotANumber { position });
        }
        Ok(measures.validated(step).map(|validated| Validated { lists: self.list_quality(scores), ..validated }))
    }

    /// The mean reciprocal rank of true links, and the share of each list's that are among its first ten.
    fn list_quality(&self, scores: &[f32]) -> Option<ListQuality> {
        let (mut reciprocal, mut links, mut recall) = (0.0, 0, 0.0);
        for list in &self.lists {
            let true_links = self.pairs[list.clone()].iter().take_while(|pair| pair.linked).count();
            let (targets, others) = scores[list.clone()].split_at(true_links);
            let mut ranks: Vec<f64> = targets.iter().map(|target| rank(*target, others)).collect();
            ranks.sort_unstable_by(f64::total_cmp);
            reciprocal += ranks.iter().map(|rank| 1.0 / rank).sum::<f64>();
            let shown = ranks.iter().zip(0..).filter(|&(rank, before)| rank + f64::from(before) <= 10.0).count();
            recall += shown as f64 / true_links.min(10) as f64;
            links += true_links;
        }
        let lists = self.lists.len();
        (links > 0).then(|| ListQuality { mrr: reciprocal / links as f64, recall: recall / lists as f64 })
    }
}

/// Questions that have the same candidates, together; in the order in which they first come.
pub(super) fn by_candidates(queries: &[RankingQuery]) -> Vec<Vec<&RankingQuery>> {
    let mut groups: Vec<Vec<&RankingQuery>> = Vec::new();
    for query in queries {
        let same = |group: &&mut Vec<&RankingQuery>| match (&group[0].among, &query.among) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(query),
            None => groups.push(vec![query]),
        }
    }
    groups
}

/// The mean of the best and the worst place of a score among others.
fn rank(score: f32, others: &[f32]) -> f64 {
    let above = others.iter().filter(|&&other| other > score).count();
    let beside = others.iter().filter(|&&other| other == score).count();
    1.0 + above as f64 + beside as f64 / 2.0
}

/// Up to `most` of `count` places.
fn sample(count: usize, most: usize, random: &mut impl rand::Rng) -> Vec<usize> {
    index::sample(random, count, count.min(most)).into_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(source: NodeId, targets: &[NodeId], exclude: &[NodeId]) -> RankingQuery {
        RankingQuery { source, targets: targets.to_vec(), exclude: exclude.to_vec(), among: None }
    }

    #[test]
    fn lists_are_judged_by_the_places_of_true_links_and_pairs_as_pairs() {
        let pairs = vec![Pair { source: 0, target: 1, linked: true }, Pair { source: 0, target: 2, linked: false }];
        let candidates: Vec<NodeId> = (1..40).collect();
        let queries = [query(50, &[4, 9], &[5]), query(51, &[30], &[])];
        let judge = Judge::of_pairs(pairs).with_lists(&queries, &candidates, 1);
        // The higher the number of a target, the likelier the link.
        let scores: Vec<f32> = judge.pairs().iter().map(|pair| pair.target as f32).collect();
        let validated = judge.judge(&scores, 7).unwrap().unwrap();
        assert_eq!((validated.step, validated.auc, validated.prevalence), (7, 0.0, 0.5));
        // 39 to 10 stand above 9, and 4 has 33 others above it, since 5 is left out and 9 is true too.
        let ranks = [31.0, 34.0, 10.0];
        let lists = validated.lists.unwrap();
        assert!((lists.mrr - ranks.iter().map(|rank| 1.0 / rank).sum::<f64>() / 3.0).abs() < 1e-12);
        assert_eq!(lists.recall, 0.5);
        let nan = vec![f32::NAN; scores.len()];
        assert!(judge.judge(&nan, 7).is_err());
        assert_eq!(Judge::of_pairs(Vec::new()).judge(&[], 7).unwrap(), None);
    }

    #[test]
    fn all_questions_of_a_type_share_a_sample_of_candidates() {
        let candidates: Vec<NodeId> = (0..5_000).collect();
        let queries: Vec<RankingQuery> = (0..300).map(|source| query(6_000 + source, &[source], &[])).collect();
        let judge = Judge::default().with_lists(&queries, &candidates, 1);
        assert_eq!(judge.lists.len(), QUESTIONS);
        let mut targets: Vec<NodeId> = judge.pairs().iter().map(|pair| pair.target).collect();
        targets.sort_unstable();
        targets.dedup();
        assert!(targets.len() <= QUESTIONS + CANDIDATES && targets.len() >= CANDIDATES);
    }
}
