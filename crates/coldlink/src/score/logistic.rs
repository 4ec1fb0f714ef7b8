//! Logistic regression with a quadratic penalty, by Newton's method.

/// What weights are drawn to, and how strongly.
#[derive(Clone, Debug, PartialEq)]
pub struct Logistic {
    /// Twice the cost of a unit of squared distance from the prior, per standardised column.
    pub penalty: f64,
}

/// Steps at the most; a handful is enough.
const STEPS: usize = 100;

impl Logistic {
    /// The weights w and the intercept c (last) that make Σ log(1 + e^(−±(x·w + c))) + ½ penalty ‖σ (w − prior)‖² smallest, where
    /// σ are `scales`. Each row has as many numbers as there are scales. The intercept's own scale is 1 / 10 of the others', so that
    /// a few rows move it.
    pub fn fit(&self, rows: &[Vec<f64>], linked: &[bool], scales: &[f64], prior: &[f64]) -> Vec<f64> {
        let columns = scales.len();
        let penalties: Vec<f64> =
            scales.iter().map(|scale| self.penalty * scale * scale).chain([self.penalty / 100.0]).collect();
        let mut weights = prior.to_vec();
        let mut loss = self.loss(rows, linked, &weights, prior, &penalties);
        for _ in 0..STEPS {
            let mut gradient: Vec<f64> = (0..=columns).map(|i| penalties[i] * (weights[i] - prior[i])).collect();
            let mut curvature = vec![vec![0.0; columns + 1]; columns + 1];
            for (i, row) in curvature.iter_mut().enumerate() {
                row[i] = penalties[i];
            }
            for (row, &linked) in rows.iter().zip(linked) {
                let share = logistic(margin(row, &weights));
                let (slope, bend) = (share - f64::from(linked), share * (1.0 - share));
                let x = |i: usize| row.get(i).copied().unwrap_or(1.0);
                for (i, curvature) in curvature.iter_mut().enumerate() {
                    gradient[i] += slope * x(i);
                    curvature[..=i].iter_mut().enumerate().for_each(|(j, sum)| *sum += bend * x(i) * x(j));
                }
            }
            let Some(step) = solve(curvature, gradient) else { break };
            // Halved until the loss falls: far from the minimum a whole step may pass it.
            let mut share = 1.0;
            let better = loop {
                let moved: Vec<f64> = weights.iter().zip(&step).map(|(weight, step)| weight - share * step).collect();
                let new_loss = self.loss(rows, linked, &moved, prior, &penalties);
                if new_loss < loss {
                    break Some((moved, new_loss));
                }
                share /= 2.0;
                if share < 1e-6 {
                    break None;
                }
            };
            let Some((moved, new_loss)) = better else { break };
            let gain = loss - new_loss;
            (weights, loss) = (moved, new_loss);
            if gain < 1e-12 * (1.0 + loss) {
                break;
            }
        }
        weights
    }

    fn loss(&self, rows: &[Vec<f64>], linked: &[bool], weights: &[f64], prior: &[f64], penalties: &[f64]) -> f64 {
        let of_row = |(row, &linked): (&Vec<f64>, &bool)| {
            let margin = margin(row, weights);
            let wrong = if linked { -margin } else { margin };
            wrong.max(0.0) + (-wrong.abs()).exp().ln_1p()
        };
        let distance = |((weight, prior), penalty): ((&f64, &f64), &f64)| penalty * (weight - prior).powi(2) / 2.0;
        rows.iter().zip(linked).map(of_row).sum::<f64>()
            + weights.iter().zip(prior).zip(penalties).map(distance).sum::<f64>()
    }
}

fn margin(row: &[f64], weights: &[f64]) -> f64 {
    row.iter().chain([&1.0]).zip(weights).map(|(x, weight)| x * weight).sum()
}

/// 1 / (1 + e⁻ˣ).
pub(super) fn logistic(x: f64) -> f64 {
    if x > 0.0 { 1.0 / (1.0 + (-x).exp()) } else { x.exp() / (1.0 + x.exp()) }
}

/// x of A x = b for a symmetric positive A of which the lower half is given, by Cholesky; `None` where A is not.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Option<Vec<f64>> {
    let n = b.len();
    for i in 0..n {
        for j in 0..=i {
            let sum: f64 = a[i][j] - (0..j).map(|k| a[i][k] * a[j][k]).sum::<f64>();
            if i == j {
                if sum <= 0.0 || !sum.is_finite() {
                    return None;
                }
                a[i][i] = sum.sqrt();
            } else {
                a[i][j] = sum / a[j][j];
            }
        }
    }
    for i in 0..n {
        let sum: f64 = (0..i).map(|k| a[i][k] * b[k]).sum();
        b[i] = (b[i] - sum) / a[i][i];
    }
    for i in (0..n).rev() {
        let sum: f64 = (i + 1..n).map(|k| a[k][i] * b[k]).sum();
        b[i] = (b[i] - sum) / a[i][i];
    }
    Some(b)
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
        let at = |weights: &[f64]| fit.loss(&rows, &linked, weights, &prior, &penalties);
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
