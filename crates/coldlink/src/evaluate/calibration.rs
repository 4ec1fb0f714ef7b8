//! Whether probabilities mean what they say.

use serde::Serialize;

use super::MetricError;

/// Bins of equal width that probabilities fall into.
const BINS: usize = 15;

/// Pairs whose probabilities are alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct CalibrationBin {
    /// The mean of their probabilities.
    pub predicted: f64,
    /// The share of them that is linked.
    pub observed: f64,
    /// How many they are.
    pub pairs: usize,
}

/// Predicted probabilities against what came true.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Calibration {
    /// The expected calibration error: the mean of |predicted − observed| over bins, weighted by their pairs.
    pub error: f64,
    /// The bins that have pairs, by rising probability.
    pub bins: Vec<CalibrationBin>,
}

impl Calibration {
    /// Of pairs with their probabilities.
    pub fn of(probabilities: &[f64], linked: &[bool]) -> Result<Self, MetricError> {
        if let Some(position) = probabilities.iter().position(|probability| !(0.0..=1.0).contains(probability)) {
            return Err(MetricError::NotANumber { position });
        }
        let mut sums = CalibrationSums::default();
        probabilities.iter().zip(linked).for_each(|(&probability, &linked)| sums.add(probability, linked, 1.0));
        Ok(sums.calibration())
    }
}

/// Sums over pairs of which each stands for so many.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CalibrationSums([Bin; BINS]);

#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    predicted: f64,
    observed: f64,
    weight: f64,
    pairs: usize,
}

impl CalibrationSums {
    pub fn add(&mut self, probability: f64, linked: bool, weight: f64) {
        let bin = &mut self.0[((probability * BINS as f64) as usize).min(BINS - 1)];
        bin.predicted += weight * probability;
        bin.observed += weight * f64::from(linked);
        bin.weight += weight;
        bin.pairs += 1;
    }

    pub fn add_all(&mut self, other: &CalibrationSums) {
        for (bin, other) in self.0.iter_mut().zip(&other.0) {
            bin.predicted += other.predicted;
            bin.observed += other.observed;
            bin.weight += other.weight;
            bin.pairs += other.pairs;
        }
    }

    /// How many pairs were added.
    pub fn pairs(&self) -> usize {
        self.0.iter().map(|bin| bin.pairs).sum()
    }

    /// The mean probability, and the share of linked pairs; `None` without pairs.
    pub fn rates(&self) -> Option<(f64, f64)> {
        let sum = |field: fn(&Bin) -> f64| self.0.iter().map(field).sum::<f64>();
        let weight = sum(|bin| bin.weight);
        (weight > 0.0).then(|| (sum(|bin| bin.predicted) / weight, sum(|bin| bin.observed) / weight))
    }

    pub fn calibration(&self) -> Calibration {
        let of_pairs = self.0.iter().filter(|bin| bin.pairs > 0);
        let bins: Vec<CalibrationBin> = of_pairs
            .map(|bin| CalibrationBin {
                predicted: bin.predicted / bin.weight,
                observed: bin.observed / bin.weight,
                pairs: bin.pairs,
            })
            .collect();
        let weight: f64 = self.0.iter().map(|bin| bin.weight).sum();
        let error: f64 = self.0.iter().map(|bin| (bin.predicted - bin.observed).abs()).sum();
        Calibration { error: if weight > 0.0 { error / weight } else { 0.0 }, bins }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_that_stands_for_several_counts_as_often() {
        let (mut weighed, mut repeated) = (CalibrationSums::default(), CalibrationSums::default());
        for (probability, linked, weight) in [(0.2, false, 3), (0.25, true, 1), (0.9, true, 2)] {
            weighed.add(probability, linked, f64::from(weight));
            (0..weight).for_each(|_| repeated.add(probability, linked, 1.0));
        }
        assert!((weighed.calibration().error - repeated.calibration().error).abs() < 1e-12);
        let (predicted, observed) = weighed.rates().unwrap();
        assert!((predicted - 2.65 / 6.0).abs() < 1e-12 && (observed - 0.5).abs() < 1e-12);
        assert_eq!((weighed.pairs(), CalibrationSums::default().rates()), (3, None));
    }

    #[test]
    fn the_error_is_the_weighted_gap_of_bins() {
        let probabilities = [0.1, 0.12, 0.9, 0.9, 1.0];
        let linked = [false, true, true, true, false];
        let calibration = Calibration::of(&probabilities, &linked).unwrap();
        let pairs: Vec<usize> = calibration.bins.iter().map(|bin| bin.pairs).collect();
        assert_eq!(pairs, [2, 2, 1]);
        let expected = (2.0 * (0.5 - 0.11_f64).abs() + 2.0 * (1.0 - 0.9_f64) + 1.0) / 5.0;
        assert!((calibration.error - expected).abs() < 1e-12);
        assert!(Calibration::of(&[f64::NAN], &[true]).is_err());
    }
}
