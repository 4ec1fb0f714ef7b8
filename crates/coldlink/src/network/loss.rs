//! The ranking-motivated loss of a pair (Eqs. 4 and 5), computed stably for any score.

use crate::config::Config;
use crate::kernel::Real;

/// φ(x) = (1 / γ) log(1 + e^(−γ x + b)), with φ₁(−s) for unlinked pairs and φ₂(s) for linked ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairLoss {
    /// γ and b of φ₁.
    pub unlinked: (f64, f64),
    /// γ and b of φ₂.
    pub linked: (f64, f64),
}

impl PairLoss {
    /// Of a configuration.
    pub fn of(config: &Config) -> Self {
        PairLoss { unlinked: (config.gamma1, config.b1), linked: (config.gamma2, config.b2) }
    }

    /// The loss of a pair with score `score`.
    pub fn value(&self, linked: bool, score: f64) -> f64 {
        let ((gamma, b), x) = if linked { (self.linked, score) } else { (self.unlinked, -score) };
        softplus(-gamma * x + b) / gamma
    }

    /// Its derivative by the score: −logistic(−γ₂ s + b₂) where linked, logistic(γ₁ s + b₁) elsewhere.
    #[inline(always)]
    pub fn slope<T: Real>(&self, linked: bool, score: T) -> T {
        if linked {
            -logistic(-T::of(self.linked.0) * score + T::of(self.linked.1))
        } else {
            logistic(T::of(self.unlinked.0) * score + T::of(self.unlinked.1))
        }
    }
}

/// log(1 + eˣ) without overflow.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// 1 / (1 + e⁻ˣ) without overflow.
#[inline(always)]
fn logistic<T: Real>(x: T) -> T {
    let small = if x > T::ZERO { (-x).exp() } else { x.exp() };
    let share = T::ONE / (T::ONE + small);
    if x > T::ZERO { share } else { small * share }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOSS: PairLoss = PairLoss { unlinked: (2.0, 0.1), linked: (3.0, -0.4) };

    #[test]
    fn the_loss_is_the_formula_where_the_formula_can_be_computed() {
        for score in [-3.0, -0.5, 0.0, 0.2, 1.0, 4.0_f64] {
            let linked = (1.0 + (-3.0 * score - 0.4).exp()).ln() / 3.0;
            let unlinked = (1.0 + (2.0 * score + 0.1).exp()).ln() / 2.0;
            assert!((LOSS.value(true, score) - linked).abs() < 1e-12);
            assert!((LOSS.value(false, score) - unlinked).abs() < 1e-12);
        }
    }

    #[test]
    fn the_slope_is_that_of_the_loss() {
        for linked in [true, false] {
            for score in [-30.0, -1.0, 0.0, 0.3, 2.0, 25.0_f64] {
                let (above, below) = (LOSS.value(linked, score + 1e-5), LOSS.value(linked, score - 1e-5));
                assert!((LOSS.slope(linked, score) - (above - below) / 2e-5).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn no_score_overflows() {
        for score in [-1e30_f64, -1e4, 1e4, 1e30] {
            for linked in [true, false] {
                assert!(LOSS.value(linked, score).is_finite());
                assert!(LOSS.slope(linked, score).is_finite());
                assert!(LOSS.slope(linked, score as f32).is_finite());
            }
        }
    }
}
