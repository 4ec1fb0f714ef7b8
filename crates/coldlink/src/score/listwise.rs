//! Weights under which the true links of a node stand high among all candidates, by Newton's method.

use super::logistic::{logistic, softplus};
use super::newton::{Convex, distance, distance_derivatives, minimum};

/// A node's true links among what they compete with.
#[derive(Clone)]
pub(super) struct List {
    /// The terms of true links.
    pub targets: Vec<Vec<f64>>,
    /// The terms of other candidates.
    pub others: Vec<Vec<f64>>,
    /// How many candidates each of these stands for.
    pub counts: Vec<f64>,
}

/// What weights are drawn to, and how strongly.
pub(super) struct Listwise {
    /// Twice the cost of a unit of squared distance from the prior, per standardised column.
    pub penalty: f64,
}

/// How much less a true link counts that stands far down: its share to this power. 0 would be the logarithm of the share, to which
/// hopeless links matter most, and 1 the share itself, which knows the first place alone.
const HOPE: f64 = 0.5;
/// Rounds in which links are weighted by where they stand.
const ROUNDS: usize = 5;

impl Listwise {
    /// The weights w under which the share p(t) = e^(w·t) / (e^(w·t) + Σ count e^(w·other)) of true links t is large: Σ p(t)^q / q,
    /// less ½ penalty ‖σ (w − prior)‖², where q is [`HOPE`] and σ are `scales`. True links do not compete with one another.
    ///
    /// p^q is convex in log p, so each round raises the sum by maximising Σ p₀(t)^q log p(t), which is concave, for the shares p₀ of
    /// the round before (Hunter & Lange, 2004).
    pub fn fit(&self, lists: &[List], scales: &[f64], prior: &[f64]) -> Vec<f64> {
        let penalties: Vec<f64> = scales.iter().map(|scale| self.penalty * scale * scale).collect();
        let mut worth: Vec<Vec<f64>> = lists.iter().map(|list| vec![1.0; list.targets.len()]).collect();
        let mut weights = prior.to_vec();
        for _ in 0..ROUNDS {
            weights = minimum(&Places { lists, worth: &worth, prior, penalties: &penalties }, &weights);
            for (worth, list) in worth.iter_mut().zip(lists) {
                let (others, _) = list.shares(&weights);
                let log_share = |target: &Vec<f64>| -softplus(others - product(target, &weights));
                *worth = list.targets.iter().map(|target| (HOPE * log_share(target)).exp()).collect();
            }
            // As many links as there are, so that the penalty means what it meant.
            let count = worth.iter().map(Vec::len).sum::<usize>() as f64;
            let scale = count / worth.iter().flatten().sum::<f64>();
            worth.iter_mut().flatten().for_each(|worth| *worth *= scale);
        }
        weights
    }
}

/// Σ worth · −log p(t), and the penalty.
struct Places<'a> {
    lists: &'a [List],
    /// How much each true link counts.
    worth: &'a [Vec<f64>],
    prior: &'a [f64],
    penalties: &'a [f64],
}

impl List {
    /// The log of Σ count e^(w·other), and each candidate's share of the sum.
    fn shares(&self, weights: &[f64]) -> (f64, Vec<f64>) {
        let scores = self.others.iter().zip(&self.counts).map(|(row, count)| product(row, weights) + count.ln());
        let mut shares: Vec<f64> = scores.collect();
        let largest = shares.iter().copied().fold(f64::MIN, f64::max);
        shares.iter_mut().for_each(|score| *score = (*score - largest).exp());
        let sum: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= sum);
        (largest + sum.ln(), shares)
    }
}

impl Convex for Places<'_> {
    fn value(&self, weights: &[f64]) -> f64 {
        let of_list = |(list, worth): (&List, &Vec<f64>)| {
            let (others, _) = list.shares(weights);
            let of_target = |(target, worth): (&Vec<f64>, &f64)| worth * softplus(others - product(target, weights));
            list.targets.iter().zip(worth).map(of_target).sum::<f64>()
        };
        self.lists.iter().zip(self.worth).map(of_list).sum::<f64>() + distance(weights, self.prior, self.penalties)
    }

    fn derivatives(&self, weights: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
        let (mut gradient, mut curvature) = distance_derivatives(weights, self.prior, self.penalties);
        let columns = weights.len();
        for (list, worth) in self.lists.iter().zip(self.worth) {
            let (others, shares) = list.shares(weights);
            let column = |i: usize| list.others.iter().zip(&shares).map(|(row, share)| row[i] * share).sum();
            let means: Vec<f64> = (0..columns).map(column).collect();
            // The chance that a candidate beats the target, over all targets.
            let mut beaten = 0.0;
            for (target, worth) in list.targets.iter().zip(worth) {
                let chance = logistic(others - product(target, weights));
                let (slope, bend) = (worth * chance, worth * chance * (1.0 - chance));
                let away: Vec<f64> = means.iter().zip(target).map(|(mean, target)| mean - target).collect();
                for (i, row) in curvature.iter_mut().enumerate() {
                    gradient[i] += slope * away[i];
                    row[..=i].iter_mut().enumerate().for_each(|(j, sum)| *sum += bend * away[i] * away[j]);
                }
                beaten += slope;
            }
            for (row, share) in list.others.iter().zip(&shares) {
                let weight = beaten * share;
                for (i, sums) in curvature.iter_mut().enumerate() {
                    let away = row[i] - means[i];
                    sums[..=i].iter_mut().enumerate().for_each(|(j, sum)| *sum += weight * away * (row[j] - means[j]));
                }
            }
        }
        (gradient, curvature)
    }
}

fn product(row: &[f64], weights: &[f64]) -> f64 {
    row.iter().zip(weights).map(|(x, weight)| x * weight).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists() -> Vec<List> {
        let value = |i: usize, j: usize| ((i * 37 + j * 101 + i * i * 7) % 41) as f64 / 20.0 - 1.0;
        let row = |i: usize| vec![value(i, 0), value(i, 1) * 3.0];
        let list = |list: usize| List {
            targets: (0..1 + list % 3).map(|i| vec![value(list + i, 3) + 0.4, value(list, 5)]).collect(),
            others: (0..12).map(|i| row(12 * list + i)).collect(),
            counts: (0..12).map(|i| if i < 6 { 1.0 } else { 7.5 }).collect(),
        };
        (0..20).map(list).collect()
    }

    #[test]
    fn true_links_get_larger_shares_than_by_the_logarithm_alone() {
        let (lists, scales, prior) = (lists(), [0.6, 1.7], [0.1, 0.0]);
        let found = Listwise { penalty: 0.0 }.fit(&lists, &scales, &prior);
        let shares = |weights: &[f64]| {
            let mut sum = 0.0;
            for list in &lists {
                let others: f64 =
                    list.others.iter().zip(&list.counts).map(|(row, count)| count * product(row, weights).exp()).sum();
                for target in &list.targets {
                    let own = product(target, weights).exp();
                    sum += (own / (own + others)).powf(HOPE);
                }
            }
            sum
        };
        let by_logarithm =
            Places { lists: &lists, worth: &vec![vec![1.0; 3]; 20], prior: &prior, penalties: &[0.0, 0.0] };
        let by_logarithm = minimum(&by_logarithm, &prior);
        assert!(shares(&found) > shares(&by_logarithm) && shares(&found) > shares(&prior));
    }

    #[test]
    fn a_round_finds_the_minimum_of_its_weighted_logarithms() {
        let (lists, prior) = (lists(), [0.1, 0.0]);
        let worth: Vec<Vec<f64>> =
            lists.iter().zip(1..).map(|(list, place)| vec![f64::from(place) / 7.0; list.targets.len()]).collect();
        let places = Places { lists: &lists, worth: &worth, prior: &prior, penalties: &[0.7, 0.3] };
        let found = minimum(&places, &prior);
        for place in 0..2 {
            for shift in [-1e-3, 1e-3] {
                let mut moved = found.clone();
                moved[place] += shift;
                assert!(places.value(&moved) > places.value(&found), "{place} {shift}");
            }
        }
    }

    #[test]
    fn weights_stay_at_the_prior_without_lists_and_finite_where_one_term_decides() {
        let fit = Listwise { penalty: 10.0 };
        assert_eq!(fit.fit(&[], &[1.0, 1.0], &[0.3, -2.0]), [0.3, -2.0]);
        let sure = List { targets: vec![vec![5.0]], others: vec![vec![-5.0]], counts: vec![1e6] };
        let found = fit.fit(&[sure], &[5.0], &[0.0]);
        assert!(found[0].is_finite() && found[0] > 0.0);
    }
}
