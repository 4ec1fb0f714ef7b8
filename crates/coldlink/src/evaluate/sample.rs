//! What is measured of a test set that is very large.

use serde::Serialize;

use super::Ranks;
use crate::random::{Purpose, seed_for};
use crate::split::{MOST_CANDIDATES, Pair, RankingQuery, TestView, TrainView};

/// Pairs that are scored at the most: with half of them linked, the standard error of an AUC of .9 is .0007 (Hanley and McNeil, 1982).
const MOST_PAIRS: usize = 200_000;
/// Questions that are ranked at the most where their candidates are a sample.
const MOST_QUERIES: usize = 2_000;

/// The pairs and questions of a test set that are measured: all of them, or those of nodes drawn at random where there are very many.
#[derive(Clone, Debug, PartialEq)]
pub struct Questions {
    /// The pairs to score.
    pub pairs: Vec<Pair>,
    /// The questions to rank.
    pub queries: Vec<RankingQuery>,
    all_pairs: usize,
    all_queries: usize,
}

/// How much was measured of how much, each as two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Sample {
    /// Pairs.
    pub pairs: [usize; 2],
    /// Questions.
    pub questions: [usize; 2],
    /// Candidates of a question.
    pub candidates: Option<[usize; 2]>,
}

impl Questions {
    /// Of a split's test set, where the final model was trained on `view`.
    pub fn of(test: TestView<'_>, view: &TrainView<'_>, seed: u64) -> Self {
        let queries = test.queries(view);
        let (all_pairs, all_queries) = (test.pairs().len(), queries.len());
        let share = MOST_PAIRS as f64 / all_pairs.max(1) as f64;
        let asks = |pair: &&Pair| share >= 1.0 || number(seed, 0, pair.source) < share;
        let pairs = test.pairs().iter().filter(asks).copied().collect();
        let queries = some_queries(queries, || test.candidates(view).len(), seed);
        Questions { pairs, queries, all_pairs, all_queries }
    }

    /// How much that is of all, where it is not all; candidates are those of the ranks.
    pub fn sample(&self, ranks: &Ranks) -> Option<Sample> {
        let pairs = [self.pairs.len(), self.all_pairs];
        let questions = [self.queries.len(), self.all_queries];
        let candidates = ranks.sample().map(|(some, all)| [some, all]);
        let whole = pairs[0] == pairs[1] && questions[0] == questions[1] && candidates.is_none();
        (!whole).then_some(Sample { pairs, questions, candidates })
    }
}

/// All questions or, where they are very many with very many candidates, those of nodes drawn at random.
pub(crate) fn some_queries(
    mut queries: Vec<RankingQuery>,
    candidates: impl FnOnce() -> usize,
    seed: u64,
) -> Vec<RankingQuery> {
    let share = MOST_QUERIES as f64 / queries.len().max(1) as f64;
    if share < 1.0 && candidates() > MOST_CANDIDATES {
        queries.retain(|query| number(seed, 1, query.source) < share);
    }
    queries
}

/// A number in [0, 1) for a node.
fn number(seed: u64, part: u64, node: u32) -> f64 {
    (seed_for(seed, Purpose::TestSample, u64::from(node), part) >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::{Protocol, Split};
    use crate::synthetic::World;

    fn questions(nodes: u32, links_per_node: f64, seed: u64) -> (Split, Questions) {
        let data = World { links_per_node, ..World::scaled(nodes, 1) }.dataset();
        let split = Split::make(&data, &Protocol::Strict, None, 0).unwrap();
        let questions = Questions::of(split.test(), &split.final_view(), seed);
        (split, questions)
    }

    #[test]
    fn a_small_test_set_is_measured_whole() {
        let (split, questions) = questions(2_000, 4.0, 0);
        assert_eq!(questions.pairs, split.test().pairs());
        assert_eq!(questions.queries, split.test().queries(&split.final_view()));
        assert_eq!(questions.sample(&Ranks::default()), None);
    }

    #[test]
    fn of_a_large_one_some_nodes_are_measured_with_all_their_pairs() {
        let (split, questions) = questions(80_000, 10.0, 3);
        let sample = questions.sample(&Ranks::default()).unwrap();
        assert_eq!(sample.pairs[1], split.test().pairs().len());
        assert!(sample.pairs[0].abs_diff(MOST_PAIRS) < MOST_PAIRS / 10, "{sample:?}");
        assert!(sample.questions[0].abs_diff(MOST_QUERIES) < MOST_QUERIES / 5, "{sample:?}");
        let source = questions.pairs[0].source;
        let of = |pairs: &[Pair]| pairs.iter().filter(|pair| pair.source == source).count();
        assert_eq!(of(&questions.pairs), of(split.test().pairs()));
        let again = Questions::of(split.test(), &split.final_view(), 4);
        assert_ne!(again.pairs, questions.pairs);
    }
}
