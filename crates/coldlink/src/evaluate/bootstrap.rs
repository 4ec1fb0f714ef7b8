//! Whether two methods differ: a paired bootstrap over new nodes within splits.
//!
//! Ten splits of one graph overlap, so their spread says too little about new data. What is drawn again, with
//! replacement, are the new nodes of each split, each with all of its pairs and the scores of both methods; the splits
//! themselves stay.

use std::collections::HashMap;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::metrics::Ordered;
use super::{MetricError, Ranks};
use crate::graph::NodeId;
use crate::split::Pair;

/// Which metric of pairs is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// [`super::auc`].
    Auc,
    /// [`super::average_precision`].
    AveragePrecision,
}

/// How many resamples are drawn, and from which seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bootstrap {
    /// 1,000 unless said: enough for a 95 % interval.
    pub resamples: usize,
    /// The same seed gives the same resamples.
    pub seed: u64,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Bootstrap { resamples: 1_000, seed: 0 }
    }
}

/// The first method minus the second, and how sure that is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The mean over splits of the difference of the metric.
    pub difference: f64,
    /// The standard deviation of the resampled differences.
    pub standard_error: f64,
    /// The middle 95 % of the resampled differences.
    pub interval: (f64, f64),
    /// Two-sided: twice the smaller share of resamples on either side of zero, never 0 (one is added to both counts).
    pub p: f64,
}

/// Two methods' results on one split, which can be weighed anew per new node.
pub trait Compared: Sync {
    /// How many new nodes there are to draw from.
    fn nodes(&self) -> usize;

    /// The difference of the metric when node `i` counts `weights[i]` times; `None` where it does not exist.
    fn difference(&self, weights: &[u32]) -> Option<f64>;
}

/// The scores of two methods on the test pairs of one split.
///
/// A pair belongs to its source, also when both its ends are new.
pub struct ComparedScores {
    metric: Metric,
    /// The place of each pair's source among the sources.
    owner: Vec<u32>,
    nodes: usize,
    first: Ordered,
    second: Ordered,
}

impl ComparedScores {
    /// Scores of both methods, one for each pair.
    pub fn new(metric: Metric, pairs: &[Pair], first: &[f32], second: &[f32]) -> Result<Self, MetricError> {
        let linked: Vec<_> = pairs.iter().map(|pair| pair.linked).collect();
        let mut places = HashMap::<NodeId, u32>::new();
        let mut place = |source| {
            let next = places.len() as u32;
            *places.entry(source).or_insert(next)
        };
        let owner = pairs.iter().map(|pair| place(pair.source)).collect();
        let (first, second) = (Ordered::new(first, &linked)?, Ordered::new(second, &linked)?);
        Ok(ComparedScores { metric, owner, nodes: places.len(), first, second })
    }
}

impl Compared for ComparedScores {
    fn nodes(&self) -> usize {
        self.nodes
    }

    fn difference(&self, weights: &[u32]) -> Option<f64> {
        let value = |method: &Ordered| {
            let totals = method.totals(|pair| weights[self.owner[pair] as usize]);
            match self.metric {
                Metric::Auc => totals.auc(),
                Metric::AveragePrecision => totals.average_precision(),
            }
        };
        Some(value(&self.first)? - value(&self.second)?)
    }
}

/// The reciprocal ranks of two methods on the queries of one split.
pub struct ComparedRanks {
    /// For each query, how many targets it has and the sum of the differences of 1 / rank.
    queries: Vec<(u32, f64)>,
}

impl ComparedRanks {
    /// Ranks of both methods for the same queries.
    pub fn new(first: &Ranks, second: &Ranks) -> Result<Self, MetricError> {
        let (mut firsts, mut seconds) = (first.per_query(), second.per_query());
        let mut queries = Vec::new();
        loop {
            let (first, second) = match (firsts.next(), seconds.next()) {
                (None, None) => return Ok(ComparedRanks { queries }),
                (Some(first), Some(second)) if first.0 == second.0 && first.1.len() == second.1.len() => {
                    (first.1, second.1)
                }
                _ => return Err(MetricError::QueriesDiffer { query: queries.len() }),
            };
            let difference = first.iter().zip(second).map(|(first, second)| 1.0 / first - 1.0 / second).sum();
            queries.push((first.len() as u32, difference));
        }
    }
}

impl Compared for ComparedRanks {
    fn nodes(&self) -> usize {
        self.queries.len()
    }

    fn difference(&self, weights: &[u32]) -> Option<f64> {
        let weighted = || self.queries.iter().zip(weights).map(|(query, &weight)| (query, f64::from(weight)));
        let targets: f64 = weighted().map(|(query, weight)| weight * f64::from(query.0)).sum();
        let sum: f64 = weighted().map(|(query, weight)| weight * query.1).sum();
        (targets > 0.0).then(|| sum / targets)
    }
}

impl Bootstrap {
    /// Compares two methods over several splits, each given with the results of both.
    pub fn compare(&self, splits: &[impl Compared]) -> Result<Difference, MetricError> {
        if splits.is_empty() || self.resamples < 2 {
            return Err(MetricError::NothingToResample { splits: splits.len(), resamples: self.resamples });
        }
        let observed = splits.iter().enumerate().map(|(split, compared)| {
            compared.difference(&vec![1; compared.nodes()]).ok_or(MetricError::OneClass { split })
        });
        let difference = observed.sum::<Result<f64, _>>()? / splits.len() as f64;
        let resample = |resample| {
            let differences = splits.iter().enumerate().map(|(split, compared)| self.redraw(resample, split, compared));
            differences.sum::<Result<f64, _>>().map(|sum| sum / splits.len() as f64)
        };
        let drawn: Vec<_> = (0..self.resamples).into_par_iter().map(resample).collect();
        let mut drawn = drawn.into_iter().collect::<Result<Vec<_>, _>>()?;
        drawn.sort_unstable_by(f64::total_cmp);
        Ok(Difference {
            difference,
            standard_error: standard_deviation(&drawn),
            interval: (quantile(&drawn, 0.025), quantile(&drawn, 0.975)),
            p: two_sided_p(&drawn),
        })
    }

    /// One split's difference on nodes drawn with replacement; drawn again when a class is missing from the draw.
    fn redraw(&self, resample: usize, split: usize, compared: &impl Compared) -> Result<f64, MetricError> {
        // A stream for each resample and split, so that the threads' order does not matter.
        let place = ((resample as u128) << 64 | split as u128).to_le_bytes();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(xxh3_64_with_seed(&place, self.seed));
        let mut attempt = || {
            let mut weights = vec![0; compared.nodes()];
            for _ in 0..compared.nodes() {
                weights[random.random_range(0..compared.nodes())] += 1;
            }
            compared.difference(&weights)
        };
        (0..ATTEMPTS).find_map(|_| attempt()).ok_or(MetricError::OneClass { split })
    }
}

/// Draws with one class only are rare (a share of about 1/e where a single node holds all links); a split where this
/// many follow one another cannot be resampled.
const ATTEMPTS: usize = 100;

fn standard_deviation(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}

/// Linear interpolation between sorted values, as numpy's default.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (above - below) * place.fract()
}

fn two_sided_p(differences: &[f64]) -> f64 {
    let share = |side: fn(&f64) -> bool| {
        let count = differences.iter().filter(|difference| side(difference)).count();
        (count + 1) as f64 / (differences.len() + 1) as f64
    };
    (2.0 * share(|&difference| difference <= 0.0).min(share(|&difference| difference >= 0.0))).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::baselines::Random;
    use crate::score::Scorer;
    use crate::split::RankingQuery;

    /// 40 new nodes with 6 pairs each, and a score that follows the truth as closely as `signal` says.
    fn scored(split: u64, signal: f32) -> (Vec<Pair>, Vec<f32>) {
        let pair = |place: u32| {
            let (source, target) = (place / 6, 100 + place);
            Pair { source, target, linked: Random::new(split).scores(&[(source, target)])[0] < 0.4 }
        };
        let pairs: Vec<_> = (0..240).map(pair).collect();
        let noise = Random::new(split + 1_000);
        let score = |pair: &Pair| signal * f32::from(pair.linked) + noise.scores(&[(pair.source, pair.target)])[0];
        let scores = pairs.iter().map(score).collect();
        (pairs, scores)
    }

    fn splits(metric: Metric, first: f32, second: f32) -> Vec<ComparedScores> {
        let split = |split| {
            let (pairs, better) = scored(split, first);
            ComparedScores::new(metric, &pairs, &better, &scored(split, second).1).unwrap()
        };
        (0..3).map(split).collect()
    }

    #[test]
    fn a_better_method_is_found_better() {
        for metric in [Metric::Auc, Metric::AveragePrecision] {
            let found = Bootstrap { resamples: 300, seed: 1 }.compare(&splits(metric, 0.9, 0.2)).unwrap();
            assert!(found.difference > 0.05 && found.interval.0 > 0.0 && found.p < 0.02, "{found:?}");
            assert!(found.interval.0 < found.difference && found.difference < found.interval.1, "{found:?}");
        }
    }

    #[test]
    fn a_method_does_not_differ_from_itself() {
        let found = Bootstrap { resamples: 50, seed: 1 }.compare(&splits(Metric::Auc, 0.5, 0.5)).unwrap();
        assert_eq!((found.difference, found.standard_error, found.p), (0.0, 0.0, 1.0));
    }

    #[test]
    fn the_thread_count_does_not_change_the_result() {
        let splits = splits(Metric::AveragePrecision, 0.5, 0.4);
        let bootstrap = Bootstrap { resamples: 64, seed: 9 };
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| bootstrap.compare(&splits)).unwrap()
        };
        assert_eq!(with(1), with(4));
        assert_ne!(with(1), Bootstrap { seed: 10, ..bootstrap }.compare(&splits).unwrap());
    }

    #[test]
    fn weighing_a_node_is_repeating_its_pairs() {
        let (pairs, first) = scored(0, 0.5);
        let (_, second) = scored(0, 0.1);
        let weights: Vec<u32> = (0..40).map(|node| node % 3).collect();
        let compared = ComparedScores::new(Metric::Auc, &pairs, &first, &second).unwrap();
        let repeated = |scores: &[f32]| {
            let entries = pairs.iter().zip(scores);
            let many =
                entries.flat_map(|(pair, &score)| vec![(score, pair.linked); weights[pair.source as usize] as usize]);
            let (scores, linked): (Vec<_>, Vec<_>) = many.unzip();
            crate::evaluate::auc(&scores, &linked).unwrap().unwrap()
        };
        assert_eq!(compared.difference(&weights), Some(repeated(&first) - repeated(&second)));
    }

    #[test]
    fn ranks_are_compared_by_their_mrr() {
        let query =
            |source| RankingQuery { source, targets: vec![50 + source, 70 + source % 3], ..RankingQuery::default() };
        let queries: Vec<_> = (0..20).map(query).collect();
        let candidates: Vec<_> = (50..90).collect();
        let ranks = |seed, queries| Ranks::measure(&Random::new(seed), queries, &candidates).unwrap();
        let (first, second) = (ranks(1, &queries[..]), ranks(2, &queries[..]));
        let found = Bootstrap::default().compare(&[ComparedRanks::new(&first, &second).unwrap()]).unwrap();
        assert!((found.difference - (first.mrr().unwrap() - second.mrr().unwrap())).abs() < 1e-12);
        assert!(found.interval.0 < found.difference && found.difference < found.interval.1, "{found:?}");
        let fewer = ComparedRanks::new(&first, &ranks(2, &queries[..19]));
        assert_eq!(fewer.err(), Some(MetricError::QueriesDiffer { query: 19 }));
    }

    #[test]
    fn nothing_to_compare_is_an_error() {
        let none: [ComparedScores; 0] = [];
        let bootstrap = Bootstrap::default();
        assert!(matches!(bootstrap.compare(&none), Err(MetricError::NothingToResample { .. })));
        let pairs = [Pair { source: 0, target: 1, linked: true }];
        let one_class = ComparedScores::new(Metric::Auc, &pairs, &[0.0], &[0.0]).unwrap();
        assert_eq!(bootstrap.compare(&[one_class]), Err(MetricError::OneClass { split: 0 }));
    }

    #[test]
    fn quantiles_interpolate() {
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.75), 3.0);
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 1.0), 4.0);
    }
}
