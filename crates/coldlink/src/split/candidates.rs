//! Whom ranking questions are about: all candidates or, where these are very many, a sample of them.

use std::borrow::Cow;
use std::sync::Arc;

use rand::seq::index;

use super::RankingQuery;
use crate::graph::NodeId;
use crate::random::{Purpose, stream};

/// Candidates that a list has at the most before a sample stands for all of them. With so many, a sample shows the first places of a
/// true link among a hundred times as many to a fiftieth of its rank.
pub const MOST_CANDIDATES: usize = 1 << 16;

/// The candidates of several questions.
pub(crate) struct Candidates {
    groups: Vec<Group>,
}

/// The candidates of questions that have the same.
struct Group {
    among: Option<Arc<[NodeId]>>,
    /// In rising order.
    nodes: Vec<NodeId>,
    all: usize,
}

impl Candidates {
    /// All candidates of each question, however many: its own, or else `shared` in any order, each counted once.
    pub fn all(queries: &[RankingQuery], shared: &[NodeId]) -> Self {
        Self::up_to(usize::MAX, queries, shared, 0)
    }

    /// The same with a sample of up to [`MOST_CANDIDATES`] of them; questions with the same candidates share it.
    pub fn sampled(queries: &[RankingQuery], shared: &[NodeId], seed: u64) -> Self {
        Self::up_to(MOST_CANDIDATES, queries, shared, seed)
    }

    fn up_to(most: usize, queries: &[RankingQuery], shared: &[NodeId], seed: u64) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        for query in queries {
            if groups.iter().any(|group| group.is_of(query)) {
                continue;
            }
            let mut nodes = query.among.as_deref().unwrap_or(shared).to_vec();
            nodes.sort_unstable();
            nodes.dedup();
            let all = nodes.len();
            if all > most {
                let random = &mut stream(seed, Purpose::Lists, u64::MAX - 2, groups.len() as u64);
                let mut drawn = index::sample(random, all, most).into_vec();
                drawn.sort_unstable();
                nodes = drawn.into_iter().map(|place| nodes[place]).collect();
            }
            groups.push(Group { among: query.among.clone(), nodes, all });
        }
        Candidates { groups }
    }

    /// Those of a question, and how many they stand for.
    pub fn of(&self, query: &RankingQuery) -> (&[NodeId], usize) {
        let group = self.groups.iter().find(|group| group.is_of(query));
        group.map_or((&[], 0), |group| (&group.nodes, group.all))
    }

    /// Those of a question and its right answers, in rising order: of a sample these may be none.
    pub fn with_targets(&self, query: &RankingQuery) -> Cow<'_, [NodeId]> {
        let (listed, all) = self.of(query);
        if listed.len() == all {
            return listed.into();
        }
        let mut listed = [listed, &query.targets].concat();
        listed.sort_unstable();
        listed.dedup();
        listed.into()
    }

    /// How many there are, and how many these stand for, where a sample stands for more.
    pub fn sample(&self) -> Option<(usize, usize)> {
        let largest = self.groups.iter().max_by_key(|group| group.all)?;
        (largest.nodes.len() < largest.all).then_some((largest.nodes.len(), largest.all))
    }
}

impl Group {
    fn is_of(&self, query: &RankingQuery) -> bool {
        match (&self.among, &query.among) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_candidates_are_all_there_and_many_are_sampled_by_the_seed() {
        let query = |among: Option<Arc<[NodeId]>>| RankingQuery { among, ..RankingQuery::default() };
        let many: Vec<NodeId> = (0..70_000).collect();
        let few: Arc<[NodeId]> = [3, 5, 8].into();
        let queries = [query(None), query(Some(few.clone())), query(None)];
        let candidates = Candidates::sampled(&queries, &many, 4);
        assert_eq!(candidates.of(&queries[1]), (&[3, 5, 8][..], 3));
        let (sample, all) = candidates.of(&queries[0]);
        assert!(sample.len() == MOST_CANDIDATES && all == 70_000 && sample.is_sorted());
        assert_eq!(candidates.sample(), Some((MOST_CANDIDATES, 70_000)));
        assert_eq!(Candidates::sampled(&queries, &many, 4).of(&queries[2]).0, sample);
        assert_ne!(Candidates::sampled(&queries, &many, 5).of(&queries[2]).0, sample);
        assert_eq!(Candidates::all(&queries, &[9, 7, 9]).of(&queries[0]), (&[7, 9][..], 2));
        assert_eq!(Candidates::sampled(&queries[1..2], &many, 4).sample(), None);
    }
}
