//! Weights under which the true links of a node stand high among all candidates, by Newton's method.

use super::logistic::{logistic, softplus};
use super::newton::{Convex, distance, distance_derivatives, minimum};

/// A node's true links among what they compete with.
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

impl Listwise {
    /// The weights w that make the sum over true links t of −log(e^(w·t) / (e^(w·t) + Σ count e^(w·other))), plus
    /// ½ penalty ‖σ (w − prior)‖², smallest, where σ are `scales`. True links do not compete with one another.
    pub fn fit(&self, lists: &[List], scales: &[f64], prior: &[f64]) -> Vec<f64> {
        let penalties: Vec<f64> = scales.iter().map(|scale| self.penalty * scale * scale).collect();
        minimum(&Places { lists, prior, penalties: &penalties }, prior)
    }
}

struct Places<'a> {
    lists: &'a [List],
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
        let of_list = |list: &List| {
            let (others, _) = list.shares(weights);
            list.targets.iter().map(|target| softplus(others - product(target, weights))).sum::<f64>()
        };
        self.lists.iter().map(of_list).sum::<f64>() + distance(weights, self.prior, self.penalties)
    }

    fn derivatives(&self, weights: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
        let (mut gradient, mut curvature) = distance_derivatives(weights, self.prior, self.penalties);
        let columns = weights.len();
        for list in self.lists {
            let (others, shares) = list.shares(weights);
            let column = |i: usize| list.others.iter().zip(&shares).map(|(row, share)| row[i] * share).sum();
            let means: Vec<f64> = (0..columns).map(column).collect();
            // The chance that a candidate beats the target, over all targets.
            let mut beaten = 0.0;
            for target in &list.targets {
                let chance = logistic(others - product(target, weights));
                let bend = chance * (1.0 - chance);
                let away: Vec<f64> = means.iter().zip(target).map(|(mean, target)| mean - target).collect();
                for (i, row) in curvature.iter_mut().enumerate() {
                    gradient[i] += chance * away[i];
                    row[..=i].iter_mut().enumerate().for_each(|(j, sum)| *sum += bend * away[i] * away[j]);
                }
                beaten += chance;
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
    fn the_minimum_is_found_and_is_that_of_the_definition() {
        let (lists, scales, prior) = (lists(), [0.6, 1.7], [0.1, 0.0]);
        let found = Listwise { penalty: 2.0 }.fit(&lists, &scales, &prior);
        let at = |weights: &[f64]| {
            let mut loss = 0.0;
            for list in &lists {
                let others: f64 =
                    list.others.iter().zip(&list.counts).map(|(row, count)| count * product(row, weights).exp()).sum();
                for target in &list.targets {
                    let own = product(target, weights).exp();
                    loss -= (own / (own + others)).ln();
                }
            }
            let far = |i: usize| (scales[i] * (weights[i] - prior[i])).powi(2);
            loss + far(0) + far(1)
        };
        for place in 0..2 {
            for shift in [-1e-3, 1e-3] {
                let mut moved = found.clone();
                moved[place] += shift;
                assert!(at(&moved) > at(&found), "{place} {shift}");
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
