//! How new candidates stand against known ones: lists within each pool, of both together, and with a fixed share of new ones.

use rand::seq::index;
use rayon::prelude::*;
use serde::Serialize;

use super::ranking::{LISTED, first_listed, rank_targets};
use super::report::mean;
use super::{Lists, MetricError, Ranks, Test};
use crate::graph::NodeId;
use crate::random::{Purpose, stream};
use crate::score::Scorer;
use crate::split::{Candidates, RankingQuery, TestView};

/// Shares of new candidates among the ten of a list.
const SHARES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];
/// Questions that are asked at the most: with a deviation of .35, the standard error of an MRR is .008.
const MOST_QUERIES: usize = 2_000;

/// Lists of new nodes that choose among known nodes, among the other new ones, and among both.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Pools {
    /// How many questions are asked.
    pub queries: usize,
    /// Links to known nodes, each ranked among known nodes.
    pub known: Pool,
    /// Links to other new nodes, each ranked among new nodes.
    pub new: Pool,
    /// All of these, each ranked among known and new nodes together.
    pub both: Pool,
    /// The share of new nodes among the candidates of both.
    pub new_candidates: Option<f64>,
    /// The share of new nodes among the ten best of both.
    #[serde(rename = "new@10")]
    pub new_at_10: Option<f64>,
    /// What lists of ten find of which a share is new, the best of either pool.
    pub shares: Vec<PoolShare>,
}

/// One pool of candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Pool {
    /// How many links lead there.
    pub links: usize,
    /// Where these stand.
    #[serde(flatten)]
    pub lists: Lists,
}

/// Lists of ten with a fixed share of new nodes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PoolShare {
    /// The share.
    pub share: f64,
    /// How many of the ten it is, rounded up.
    pub new: usize,
    /// The share of a node's true links that are among the ten.
    #[serde(rename = "recall@10")]
    pub recall_at_10: Option<f64>,
    /// The share of all links to known nodes that the lists show.
    pub known_links: Option<f64>,
    /// The same of links to new nodes.
    pub new_links: Option<f64>,
}

/// One question, answered.
struct Ranked {
    source: NodeId,
    /// The ranks of true links among known nodes, among new ones, and among both.
    ranks: [Vec<f64>; 3],
    /// Candidates, and how many of them are new.
    candidates: [usize; 2],
    /// The same of the ten best.
    listed: [usize; 2],
}

impl Pools {
    /// Measures a scorer whose scores of both pools may be compared.
    pub fn measure(scorer: &(impl Scorer + ?Sized), test: &Test<'_>, of: TestView<'_>) -> Result<Self, MetricError> {
        let (queries, candidates) = of.queries_of_both(&test.view);
        let random = &mut stream(test.seed, Purpose::TestSample, u64::MAX, 1);
        let mut drawn = index::sample(random, queries.len(), queries.len().min(MOST_QUERIES)).into_vec();
        drawn.sort_unstable();
        let queries: Vec<RankingQuery> = drawn.into_iter().map(|place| queries[place].clone()).collect();
        let candidates = Candidates::sampled(&queries, &candidates, test.seed);
        let is_new = |node: NodeId| of.hidden().binary_search(&node).is_ok();
        scorer.expect(&queries.iter().map(|query| query.source).collect::<Vec<_>>());
        let rank = |query: &RankingQuery| rank(scorer, query, &candidates.with_targets(query), is_new);
        let ranked = queries.par_iter().map(rank).collect::<Vec<_>>().into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(Pools::of(&ranked))
    }

    fn of(ranked: &[Ranked]) -> Self {
        let pool = |place: usize| {
            let asked = ranked.iter().filter(|ranked| !ranked.ranks[place].is_empty());
            let ranks = Ranks::of(asked.map(|ranked| (ranked.source, ranked.ranks[place].clone())));
            Pool { links: ranks.targets(), lists: Lists::of(&ranks) }
        };
        let share = |counts: fn(&Ranked) -> [usize; 2]| {
            let [all, new] = ranked.iter().map(counts).fold([0, 0], |sum, of| [sum[0] + of[0], sum[1] + of[1]]);
            (all > 0).then(|| new as f64 / all as f64)
        };
        Pools {
            queries: ranked.len(),
            known: pool(0),
            new: pool(1),
            both: pool(2),
            new_candidates: share(|ranked| ranked.candidates),
            new_at_10: share(|ranked| ranked.listed),
            shares: SHARES.map(|share| PoolShare::of(share, ranked)).to_vec(),
        }
    }

    /// The mean over seeds.
    pub(super) fn mean(seeds: &[&Pools]) -> Option<Self> {
        let over = |field: &dyn Fn(&Pools) -> Option<f64>| mean(&mut seeds.iter().map(|pools| field(pools)));
        let pool = |pick: fn(&Pools) -> &Pool| Pool {
            links: seeds.iter().map(|pools| pick(pools).links).sum(),
            lists: Lists::mean(&seeds.iter().map(|pools| pick(pools).lists).collect::<Vec<_>>()),
        };
        let shares = seeds.first()?.shares.iter().enumerate().map(|(place, first)| PoolShare {
            recall_at_10: over(&|pools| pools.shares[place].recall_at_10),
            known_links: over(&|pools| pools.shares[place].known_links),
            new_links: over(&|pools| pools.shares[place].new_links),
            ..*first
        });
        Some(Pools {
            queries: seeds.iter().map(|pools| pools.queries).sum(),
            known: pool(|pools| &pools.known),
            new: pool(|pools| &pools.new),
            both: pool(|pools| &pools.both),
            new_candidates: over(&|pools| pools.new_candidates),
            new_at_10: over(&|pools| pools.new_at_10),
            shares: shares.collect(),
        })
    }
}

impl PoolShare {
    fn of(share: f64, ranked: &[Ranked]) -> Self {
        let new = (share * LISTED as f64).ceil() as usize;
        let (mut recall, mut found, mut links) = (0.0, [0, 0], [0, 0]);
        for Ranked { ranks, .. } in ranked {
            let shown = [shown(&ranks[0], LISTED - new), shown(&ranks[1], new)];
            let all = ranks[0].len() + ranks[1].len();
            recall += (shown[0] + shown[1]) as f64 / all.clamp(1, LISTED) as f64;
            for pool in [0, 1] {
                found[pool] += shown[pool];
                links[pool] += ranks[pool].len();
            }
        }
        let part = |pool: usize| (links[pool] > 0).then(|| found[pool] as f64 / links[pool] as f64);
        let recall_at_10 = (!ranked.is_empty()).then(|| recall / ranked.len() as f64);
        PoolShare { share, new, recall_at_10, known_links: part(0), new_links: part(1) }
    }
}

/// How many true links are among the first `places`. A rank leaves other true links out: the one that is best but n stands n places
/// further down.
fn shown(ranks: &[f64], places: usize) -> usize {
    let mut ranks = ranks.to_vec();
    ranks.sort_unstable_by(f64::total_cmp);
    ranks.iter().zip(0..).filter(|&(rank, before)| rank + f64::from(before) <= places as f64).count()
}

fn rank(
    scorer: &(impl Scorer + ?Sized),
    query: &RankingQuery,
    candidates: &[NodeId],
    is_new: impl Fn(NodeId) -> bool,
) -> Result<Ranked, MetricError> {
    let mut scores = vec![0.0; candidates.len()];
    scorer.scores_against(query.source, candidates, &mut scores);
    let within = |new: bool| {
        let targets = query.targets.iter().copied().filter(|&node| is_new(node) == new).collect();
        let of_pool = candidates.iter().zip(&scores).filter(|(node, _)| is_new(**node) == new);
        let (nodes, scores): (Vec<NodeId>, Vec<f32>) = of_pool.map(|(&node, &score)| (node, score)).unzip();
        rank_targets(&RankingQuery { targets, ..query.clone() }, &nodes, &scores)
    };
    let ranks = [within(false)?, within(true)?, rank_targets(query, candidates, &scores)?];
    let listed = first_listed(query, candidates, &scores);
    let count = |nodes: &[NodeId]| [nodes.len(), nodes.iter().filter(|&&node| is_new(node)).count()];
    Ok(Ranked { source: query.source, ranks, candidates: count(candidates), listed: count(&listed) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores every pair by its target alone.
    struct ByTarget(Vec<f32>);

    impl Scorer for ByTarget {
        fn scores(&self, pairs: &[(NodeId, NodeId)]) -> Vec<f32> {
            pairs.iter().map(|pair| self.0[pair.1 as usize]).collect()
        }
    }

    #[test]
    fn links_are_ranked_within_their_pool_and_among_both() {
        // Nodes from 6 on are new, and 9 asks.
        let scorer = ByTarget(vec![0.9, 0.8, 0.1, 0.2, 0.3, 0.4, 0.85, 0.5, 0.6, 9.9]);
        let query = RankingQuery { source: 9, targets: vec![1, 4, 7], exclude: vec![0, 9], among: None };
        let candidates: Vec<NodeId> = (0..10).collect();
        let ranked = rank(&scorer, &query, &candidates, |node| node > 5).unwrap();
        // Node 0 is known already; 5 stands above 4, and 6 and 8 above 7.
        assert_eq!(ranked.ranks, [vec![1.0, 2.0], vec![3.0], vec![2.0, 4.0, 3.0]]);
        assert_eq!((ranked.candidates, ranked.listed), ([10, 4], [8, 3]));
    }

    #[test]
    fn a_list_with_a_share_of_new_nodes_shows_the_best_of_either_pool() {
        let ranked = |known: &[f64], new: &[f64]| Ranked {
            source: 0,
            ranks: [known.to_vec(), new.to_vec(), Vec::new()],
            candidates: [20, 10],
            listed: [10, 3],
        };
        let all = [ranked(&[1.0, 6.0], &[2.0]), ranked(&[9.0], &[])];
        let check = |share: f64, new: usize, recall: f64, known: f64, of_new: f64| {
            let found = PoolShare::of(share, &all);
            assert_eq!((found.share, found.new), (share, new));
            let numbers = [found.recall_at_10, found.known_links, found.new_links].map(Option::unwrap);
            let expected = [recall, known, of_new];
            assert!(numbers.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
        };
        check(0.0, 0, (2.0 / 3.0 + 1.0) / 2.0, 1.0, 0.0);
        // Seven known ones: the second link stands at place 7 of them.
        check(0.25, 3, 0.5, 2.0 / 3.0, 1.0);
        check(0.5, 5, 1.0 / 3.0, 1.0 / 3.0, 1.0);
        check(1.0, 10, 1.0 / 6.0, 0.0, 1.0);
        let pools = Pools::of(&all);
        assert_eq!((pools.known.links, pools.new.links, pools.queries), (3, 1, 2));
        assert_eq!((pools.new_candidates, pools.new_at_10), (Some(0.5), Some(0.3)));
        assert_eq!(pools.new.lists.mrr, Some(0.5));
        assert_eq!(Pools::mean(&[&pools, &pools]).unwrap().shares, pools.shares);
        assert_eq!((Pools::mean(&[]), Pools::of(&[]).both.lists.mrr), (None, None));
    }
}
