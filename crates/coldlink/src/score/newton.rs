//! Newton's method for a smooth, convex function of a few numbers.

/// Steps at the most; a handful is enough.
const STEPS: usize = 100;

/// What is made small.
pub(super) trait Convex {
    /// The value at a point.
    fn value(&self, at: &[f64]) -> f64;

    /// The gradient, and the lower half of the matrix of second derivatives.
    fn derivatives(&self, at: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>);
}

/// Where a function is smallest, from a start.
pub(super) fn minimum(of: &impl Convex, start: &[f64]) -> Vec<f64> {
    let mut point = start.to_vec();
    let mut value = of.value(&point);
    for _ in 0..STEPS {
        let (gradient, curvature) = of.derivatives(&point);
        let Some(step) = solve(curvature, gradient) else { break };
        // Halved until the value falls: far from the minimum a whole step may pass it.
        let mut share = 1.0;
        let better = loop {
            let moved: Vec<f64> = point.iter().zip(&step).map(|(at, step)| at - share * step).collect();
            let new_value = of.value(&moved);
            if new_value < value {
                break Some((moved, new_value));
            }
            share /= 2.0;
            if share < 1e-6 {
                break None;
            }
        };
        let Some((moved, new_value)) = better else { break };
        let gain = value - new_value;
        (point, value) = (moved, new_value);
        if gain < 1e-12 * (1.0 + value) {
            break;
        }
    }
    point
}

/// ½ Σ penalty (at − prior)².
pub(super) fn distance(at: &[f64], prior: &[f64], penalties: &[f64]) -> f64 {
    let distance = |((at, prior), penalty): ((&f64, &f64), &f64)| penalty * (at - prior).powi(2) / 2.0;
    at.iter().zip(prior).zip(penalties).map(distance).sum()
}

/// The derivatives of [`distance`], to add others to.
pub(super) fn distance_derivatives(at: &[f64], prior: &[f64], penalties: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let gradient = (0..at.len()).map(|i| penalties[i] * (at[i] - prior[i])).collect();
    let mut curvature = vec![vec![0.0; at.len()]; at.len()];
    for (i, row) in curvature.iter_mut().enumerate() {
        row[i] = penalties[i];
    }
    (gradient, curvature)
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
