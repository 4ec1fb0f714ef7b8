//! AUC and average precision, exactly as scikit-learn defines them.

use rayon::prelude::*;
use serde::Serialize;

use super::{MetricError, Validated};

/// The area under the ROC curve: how often a linked pair scores above an unlinked one, a tie counting half.
///
/// `None` when there are no linked or no unlinked pairs.
///
/// ```
/// let auc = coldlink::auc(&[0.9, 0.4, 0.4], &[true, true, false])?;
/// assert_eq!(auc, Some(0.75));
/// # Ok::<(), coldlink::Error>(())
/// ```
pub fn auc(scores: &[f32], linked: &[bool]) -> Result<Option<f64>, MetricError> {
    Ok(Ordered::new(scores, linked)?.totals(|_| 1).auc())
}

/// The average precision: Σ (Rₙ − Rₙ₋₁) Pₙ over the distinct scores, highest first, so that ties form one step.
///
/// It grows with [`prevalence`] and means nothing without it. `None` when there are no linked or no unlinked pairs.
pub fn average_precision(scores: &[f32], linked: &[bool]) -> Result<Option<f64>, MetricError> {
    Ok(Ordered::new(scores, linked)?.totals(|_| 1).average_precision())
}

/// The share of linked pairs: what a random score has as average precision. `None` when there are no pairs.
pub fn prevalence(linked: &[bool]) -> Option<f64> {
    let positives = linked.iter().filter(|&&linked| linked).count();
    (!linked.is_empty()).then(|| positives as f64 / linked.len() as f64)
}

/// Both metrics of one set of pairs, and the prevalence without which the second cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Measures<N = usize> {
    /// See [`auc`].
    pub auc: Option<f64>,
    /// See [`average_precision`].
    pub ap: Option<f64>,
    /// See [`prevalence`].
    pub prevalence: Option<f64>,
    /// How many pairs.
    pub pairs: N,
}

impl Measures {
    /// Measures scores against the truth, sorting once.
    pub fn of(scores: &[f32], linked: &[bool]) -> Result<Self, MetricError> {
        let totals = Ordered::new(scores, linked)?.totals(|_| 1);
        Ok(Measures {
            auc: totals.auc(),
            ap: totals.average_precision(),
            prevalence: prevalence(linked),
            pairs: linked.len(),
        })
    }

    /// As a validation after so many steps; nothing where all pairs or none are linked.
    pub fn validated(&self, step: u64) -> Option<Validated> {
        Some(Validated { step, auc: self.auc?, ap: self.ap?, prevalence: self.prevalence?, lists: None })
    }
}

/// Pairs from the highest to the lowest score. Sorted once, it can be measured under many weights.
pub(super) struct Ordered(Vec<Entry>);

struct Entry {
    /// Which pair.
    index: usize,
    linked: bool,
    /// Whether the next pair scores lower.
    ends_step: bool,
}

impl Ordered {
    pub(super) fn new(scores: &[f32], linked: &[bool]) -> Result<Self, MetricError> {
        if scores.len() != linked.len() {
            return Err(MetricError::Lengths { scores: scores.len(), pairs: linked.len() });
        }
        if let Some(position) = scores.iter().position(|score| score.is_nan()) {
            return Err(MetricError::NotANumber { position });
        }
        let mut keys: Vec<_> = scores.iter().enumerate().map(|(index, &score)| (falling_key(score), index)).collect();
        keys.par_sort_unstable();
        let entry = |place: usize| {
            let (key, index) = keys[place];
            let ends_step = keys.get(place + 1).is_none_or(|next| next.0 != key);
            Entry { index, linked: linked[index], ends_step }
        };
        Ok(Ordered((0..keys.len()).map(entry).collect()))
    }

    /// Walks the steps with a whole number as the weight of each pair.
    pub(super) fn totals(&self, weight: impl Fn(usize) -> u32) -> Totals {
        let mut totals = Totals::default();
        let mut step = (0, 0);
        for entry in &self.0 {
            let weight = u64::from(weight(entry.index));
            if entry.linked {
                step.0 += weight;
            } else {
                step.1 += weight;
            }
            if entry.ends_step {
                totals.add(step.0, step.1);
                step = (0, 0);
            }
        }
        totals
    }
}

/// A number that falls as the score rises, and is equal exactly where scores are (0 and −0 are).
fn falling_key(score: f32) -> u32 {
    let bits = (score + 0.0).to_bits();
    let rising = if bits >> 31 == 0 { bits | 1 << 31 } else { !bits };
    !rising
}

/// Sums over the steps so far; counts are exact.
#[derive(Default)]
pub(super) struct Totals {
    linked: u64,
    unlinked: u64,
    /// Twice the number of (linked, unlinked) pairs in the right order, a tie counting half.
    ordered_twice: u128,
    /// Σ linked pairs of the step × precision after the step.
    precision: f64,
}

impl Totals {
    fn add(&mut self, linked: u64, unlinked: u64) {
        // An unlinked pair lies below all linked pairs of earlier steps and ties with those of its own.
        self.ordered_twice += u128::from(unlinked) * u128::from(2 * self.linked + linked);
        self.linked += linked;
        self.unlinked += unlinked;
        if linked > 0 {
            self.precision += linked as f64 * (self.linked as f64 / (self.linked + self.unlinked) as f64);
        }
    }

    fn has_both_classes(&self) -> bool {
        self.linked > 0 && self.unlinked > 0
    }

    pub(super) fn auc(&self) -> Option<f64> {
        let comparisons = 2.0 * self.linked as f64 * self.unlinked as f64;
        self.has_both_classes().then(|| self.ordered_twice as f64 / comparisons)
    }

    pub(super) fn average_precision(&self) -> Option<f64> {
        self.has_both_classes().then(|| self.precision / self.linked as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn auc_counts_a_tie_as_half() {
        assert_eq!(auc(&[1.0, 1.0], &[true, false]), Ok(Some(0.5)));
        assert_eq!(auc(&[2.0, 1.0, 1.0], &[true, true, false]), Ok(Some(0.75)));
        assert_eq!(auc(&[0.0, -0.0], &[true, false]), Ok(Some(0.5)));
    }

    #[test]
    fn infinite_scores_have_their_place() {
        let scores = [f32::INFINITY, 1.0, -1.0, f32::NEG_INFINITY];
        assert_eq!(auc(&scores, &[true, true, false, false]), Ok(Some(1.0)));
        assert_eq!(auc(&scores, &[false, true, false, true]), Ok(Some(0.25)));
    }

    #[test]
    fn a_missing_class_has_no_metric() {
        for linked in [vec![], vec![true; 3], vec![false; 3]] {
            let measures = Measures::of(&vec![0.5; linked.len()], &linked).unwrap();
            assert_eq!((measures.auc, measures.ap, measures.pairs), (None, None, linked.len()));
        }
        assert_eq!(prevalence(&[]), None);
    }

    #[test]
    fn nan_and_unequal_lengths_are_errors() {
        assert_eq!(auc(&[0.0, f32::NAN], &[true, false]), Err(MetricError::NotANumber { position: 1 }));
        assert_eq!(average_precision(&[0.0], &[]), Err(MetricError::Lengths { scores: 1, pairs: 0 }));
    }

    fn auc_by_counting(pairs: &[(f32, bool)]) -> Option<f64> {
        let of = |class: bool| pairs.iter().filter(move |pair| pair.1 == class).map(|pair| pair.0);
        let wins = of(true).flat_map(|a| of(false).map(move |b| (a > b) as u8 as f64 + (a == b) as u8 as f64 / 2.0));
        let comparisons = of(true).count() * of(false).count();
        (comparisons > 0).then(|| wins.sum::<f64>() / comparisons as f64)
    }

    fn average_precision_by_thresholds(pairs: &[(f32, bool)]) -> Option<f64> {
        let mut thresholds: Vec<f32> = pairs.iter().map(|pair| pair.0).collect();
        thresholds.sort_by(|a, b| b.total_cmp(a));
        thresholds.dedup();
        let positives = pairs.iter().filter(|pair| pair.1).count();
        let (mut sum, mut recall) = (0.0, 0.0);
        for threshold in thresholds {
            let above: Vec<_> = pairs.iter().filter(|pair| pair.0 >= threshold).collect();
            let found = above.iter().filter(|pair| pair.1).count() as f64;
            sum += (found / positives as f64 - recall) * found / above.len() as f64;
            recall = found / positives as f64;
        }
        (positives > 0 && positives < pairs.len()).then_some(sum)
    }

    fn close(a: Option<f64>, b: Option<f64>) -> bool {
        a.is_some() == b.is_some() && a.zip(b).is_none_or(|(a, b)| (a - b).abs() < 1e-12)
    }

    proptest! {
        #[test]
        fn metrics_equal_their_definitions(
            pairs in prop::collection::vec(((-4_i8..4).prop_map(|score| f32::from(score) / 2.0), any::<bool>()), 0..60)
        ) {
            let (scores, linked): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
            let measures = Measures::of(&scores, &linked).unwrap();
            prop_assert!(close(measures.auc, auc_by_counting(&pairs)));
            prop_assert!(close(measures.ap, average_precision_by_thresholds(&pairs)));
        }

        #[test]
        fn weights_count_like_repeated_pairs(
            pairs in prop::collection::vec((0_i8..6, any::<bool>(), 0_u32..4), 0..40)
        ) {
            let scores: Vec<_> = pairs.iter().map(|pair| f32::from(pair.0)).collect();
            let linked: Vec<_> = pairs.iter().map(|pair| pair.1).collect();
            let weighted = Ordered::new(&scores, &linked).unwrap().totals(|index| pairs[index].2);
            let repeated = pairs.iter().flat_map(|pair| vec![(f32::from(pair.0), pair.1); pair.2 as usize]);
            let (scores, linked): (Vec<_>, Vec<_>) = repeated.unzip();
            prop_assert_eq!(weighted.auc(), auc(&scores, &linked).unwrap());
            prop_assert!(close(weighted.average_precision(), average_precision(&scores, &linked).unwrap()));
        }

        #[test]
        fn keys_fall_as_scores_rise(a in any::<f32>(), b in any::<f32>()) {
            prop_assume!(!a.is_nan() && !b.is_nan());
            prop_assert_eq!(falling_key(b).cmp(&falling_key(a)), a.partial_cmp(&b).unwrap());
        }
    }
}
