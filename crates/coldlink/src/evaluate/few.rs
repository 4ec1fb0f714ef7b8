//! Lists of test nodes that are given ever more of their links.

use rand::seq::index;
use serde::Serialize;

use super::{Lists, MetricError, Neighbours, Ranks, Test, candidates};
use crate::random::{Purpose, stream};
use crate::score::{Given, Scorer};
use crate::split::{RankingQuery, TestView};

/// How many links a test node is given, where the protocol leaves it as many.
const LINKS: [usize; 4] = [0, 1, 2, 5];
/// Questions that are asked at the most: with a deviation of .35, the standard error of an MRR is .008, and the same for all points
/// of a curve.
const MOST_QUERIES: usize = 2_000;

/// Lists of test nodes that are given so many of their links: the same nodes, asked for the same other links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct FewLinks {
    /// How many links a test node is given at the most.
    pub links: usize,
    /// How many questions are asked.
    pub queries: usize,
    /// How many it is given on average.
    pub given: f64,
    /// The lists of the scorer that is measured.
    #[serde(flatten)]
    pub lists: Lists,
    /// The lists of [`Neighbours`], who know the given links too.
    pub knn: Lists,
}

impl FewLinks {
    /// How many links to give, and these; nothing where test nodes keep none.
    pub fn steps(test: TestView<'_>) -> Vec<(usize, Given)> {
        let kept = test.given(usize::MAX);
        let most = kept.chunk_by(|one, other| one.0 == other.0).map(<[_]>::len).max().unwrap_or(0);
        steps(most).into_iter().map(|links| (links, Given::of_links(test.given(links)))).collect()
    }

    /// Measures a scorer that knows the given links of a test, and the votes beside it.
    pub fn measure(links: usize, scorer: &(impl Scorer + ?Sized), test: &Test<'_>) -> Result<Self, MetricError> {
        let all = candidates(&test.view);
        let queries = &asked(test);
        let ranks = Ranks::measure_sampled(scorer, queries, &all, test.seed)?;
        let neighbours = Neighbours::new(&test.view).with_given(test.given);
        let votes = Ranks::measure_sampled(&neighbours, queries, &all, test.seed)?;
        let count = |source| test.given.and_then(|given| given.of(source)).map_or(0, |links| links.linked.len());
        let given: usize = queries.iter().map(|query| count(query.source)).sum();
        let given = given as f64 / queries.len().max(1) as f64;
        Ok(FewLinks { links, queries: queries.len(), given, lists: Lists::of(&ranks), knn: Lists::of(&votes) })
    }

    /// The mean over seeds, step by step.
    pub(super) fn mean(seeds: &[&[FewLinks]]) -> Vec<Self> {
        let Some(first) = seeds.first() else { return Vec::new() };
        let at = |step: &FewLinks| {
            let same: Vec<&FewLinks> =
                seeds.iter().flat_map(|steps| steps.iter().filter(|other| other.links == step.links)).collect();
            FewLinks {
                links: step.links,
                queries: same.iter().map(|step| step.queries).sum(),
                given: same.iter().map(|step| step.given).sum::<f64>() / same.len() as f64,
                lists: Lists::mean(&same.iter().map(|step| step.lists).collect::<Vec<_>>()),
                knn: Lists::mean(&same.iter().map(|step| step.knn).collect::<Vec<_>>()),
            }
        };
        first.iter().map(at).collect()
    }
}

/// The questions of a test; some of them, the same for every number of links, where they are very many.
fn asked(test: &Test<'_>) -> Vec<RankingQuery> {
    let random = &mut stream(test.seed, Purpose::TestSample, u64::MAX, 0);
    let mut drawn = index::sample(random, test.queries.len(), test.queries.len().min(MOST_QUERIES)).into_vec();
    drawn.sort_unstable();
    drawn.into_iter().map(|place| test.queries[place].clone()).collect()
}

/// How many links to give where the most that a test node keeps are so many.
fn steps(most: usize) -> Vec<usize> {
    let mut steps: Vec<usize> = LINKS.into_iter().filter(|&links| links < most).collect();
    steps.extend(Some(most).filter(|&most| most > 0));
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_go_up_to_what_test_nodes_keep() {
        assert_eq!(steps(0), [0; 0]);
        assert_eq!(steps(1), [0, 1]);
        assert_eq!(steps(2), [0, 1, 2]);
        assert_eq!(steps(9), [0, 1, 2, 5, 9]);
    }
}
