//! Logistic regression with a quadratic penalty, by Newton's method.

use super::newton::{Convex, distance, distance_derivatives, minimum};

/// What weights are drawn to, and how strongly.
#[derive(Clone, Debug, PartialEq)]
pub struct Logistic {
    /// Twice the cost of a unit of squared distance from the prior, per standardised column.
    pub penalty: f64,
}

impl Logistic {
    /// The weights w and the intercept c (last) that make Σ log(1 + e^(−±(x·w + c))) + ½ penalty ‖σ (w − prior)‖² smallest, where
    /// σ are `scales`. Each row has as many numbers as there are scales. The intercept's own scale is 1 / 10 of the others', so that
    /// a few rows move it.
    pub fn fit(&self, rows: &[Vec<f64>], linked: &[bool], scales: &[f64], prior: &[f64]) -> Vec<f64> {
        let penalties: Vec<f64> =
            scales.iter().map(|scale| self.penalty * scale * scale).chain([self.penalty / 100.0]).collect();
        minimum(&Odds { rows, linked, prior, penalties: &penalties }, prior)
    }
}

/// The loss of weights and an intercept.
struct Odds<'a> {
    rows: &'a [Vec<f64>],
    linked: &'a [bool],
    prior: &'a [f64],
    penalties: &'a [f64],
}

impl Convex for Odds<'_> {
    fn value(&self, weights: &[f64]) -> f64 {
        let of_row = |(row, &linked): (&Vec<f64>, &bool)| {
            let margin = margin(row, weights);
            softplus(if linked { -margin } else { margin })
        };
        self.rows.iter().zip(self.linked).map(of_row).sum::<f64>() + distance(weights, self.prior, self.penalties)
    }

    fn derivatives(&self, weights: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
        let (mut gradient, mut curvature) = distance_derivatives(weights, self.prior, self.penalties);
        for (row, &linked) in self.rows.iter().zip(self.linked) {
            let share = logistic(margin(row, weights));
            let (slope, bend) = (share - f64::from(linked), share * (1.0 - share));
            let x = |i: usize| row.get(i).copied().unwrap_or(1.0);
            for (i, curvature) in curvature.iter_mut().enumerate() {
                gradient[i] += slope * x(i);
                curvature[..=i].iter_mut().enumerate().for_each(|(j, sum)| *sum += bend * x(i) * x(j));
            }
        }
        (gradient, curvature)
    }
}

fn margin(row: &[f64], weights: &[f64]) -> f64 {
    row.iter().chain([&1.0]).zip(weights).map(|(x, weight)| x * weight).sum()
}

/// 1 / (1 + e⁻ˣ).
pub(super) fn logistic(x: f64) -> f64 {
    if x > 0.0 { 1.0 / (1.0 + (-x).exp()) } else { x.exp() / (1.0 + x.exp()) }
}

/// ln(1 + eˣ).
pub(super) fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> (Vec<Vec<f64>>, Vec<bool>) {
        let value = |i: usize, j: usize| ((i * 37 + j * 101 + i * i * 7) % 41) as f64 / 20.0 - 1.0;
        let rows: Vec<Vec<f64>> = (0..60).map(|i| vec![value(i, 0), value(i, 1) * 3.0]).collect();
        let linked = rows.iter().enumerate().map(|(i, row)| row[0] - row[1] / 2.0 + value(i, 7) > 0.2).collect();
        (rows, linked)
    }

    #[test]
    fn the_minimum_is_found() {
        let (rows, linked) = rows();
        let (scales, prior, fit) = ([0.6, 1.7], [0.1, 0.0, -0.2], Logistic { penalty: 2.0 });
        let found = fit.fit(&rows, &linked, &scales, &prior);
        let penalties = [2.0 * 0.36, 2.0 * 1.7 * 1.7, 0.02];
        let loss = Odds { rows: &rows, linked: &linked, prior: &prior, penalties: &penalties };
        let at = |weights: &[f64]| loss.value(weights);
        for place in 0..3 {
            for shift in [-1e-3, 1e-3] {
                let mut moved = found.clone();
                moved[place] += shift;
                assert!(at(&moved) > at(&found), "{place} {shift}");
            }
        }
    }

    #[test]
    fn weights_stay_at_the_prior_where_there_is_no_row_and_separable_rows_stay_finite() {
        let fit = Logistic { penalty: 10.0 };
        assert_eq!(fit.fit(&[], &[], &[1.0, 1.0], &[0.3, -2.0, 0.7]), [0.3, -2.0, 0.7]);
        let found = fit.fit(&[vec![-5.0], vec![5.0]], &[false, true], &[5.0], &[0.0, 0.0]);
        assert!(found.iter().all(|weight| weight.is_finite()) && found[0] > 0.0 && found[1].abs() < 1e-9);
    }
}
