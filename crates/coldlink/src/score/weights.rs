//! Weights of a score's terms, one set for each kind of pair.

use serde::{Deserialize, Serialize};

use super::logistic::logistic;
use super::{Term, Terms};
use crate::split::PairKind;

/// Weights for one kind of pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KindWeights {
    /// One for each of [`Term::ALL`], 0 for those that do not apply.
    pub terms: [f64; Term::ALL.len()],
    /// Added to their sum.
    pub intercept: f64,
    /// How many validation pairs of this kind they were fitted on.
    pub pairs: usize,
}

/// The weights of all kinds of pairs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScoreWeights {
    /// For two seen nodes.
    pub old_old: KindWeights,
    /// For a new and a seen node.
    pub new_old: KindWeights,
    /// For two new nodes.
    pub new_new: KindWeights,
    /// The share of links among the pairs that they were fitted on.
    pub prevalence: f64,
}

impl KindWeights {
    /// The log-odds of a link at the prevalence of the fit.
    #[inline]
    pub fn score(&self, terms: &Terms) -> f64 {
        self.terms.iter().zip(terms).map(|(weight, &term)| weight * f64::from(term)).sum::<f64>() + self.intercept
    }
}

impl ScoreWeights {
    /// Whether all of them are numbers, and the prevalence a share.
    pub(crate) fn are_sound(&self) -> bool {
        let kinds = [&self.old_old, &self.new_old, &self.new_new];
        let numbers = kinds.iter().flat_map(|kind| kind.terms.iter().chain([&kind.intercept]));
        numbers.into_iter().all(|number| number.is_finite()) && self.prevalence > 0.0 && self.prevalence < 1.0
    }

    /// The weights for a kind of pair.
    pub fn of(&self, kind: PairKind) -> &KindWeights {
        match kind {
            PairKind::OldOld => &self.old_old,
            PairKind::NewOld => &self.new_old,
            PairKind::NewNew => &self.new_new,
        }
    }

    /// The probability of a link where a share `base_rate` of all pairs is linked.
    pub fn probability(&self, score: f64, base_rate: f64) -> f64 {
        logistic(score + log_odds(base_rate) - log_odds(self.prevalence))
    }
}

fn log_odds(share: f64) -> f64 {
    let share = share.clamp(1e-12, 1.0 - 1e-12);
    (share / (1.0 - share)).ln()
}
