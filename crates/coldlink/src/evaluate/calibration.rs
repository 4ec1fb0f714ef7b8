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
        let mut bins = [CalibrationBin::default(); BINS];
        for (&probability, &linked) in probabilities.iter().zip(linked) {
            let bin = &mut bins[((probability * BINS as f64) as usize).min(BINS - 1)];
            bin.predicted += probability;
            bin.observed += f64::from(linked);
            bin.pairs += 1;
        }
        let bins: Vec<CalibrationBin> = bins
            .into_iter()
            .filter(|bin| bin.pairs > 0)
            .map(|bin| CalibrationBin {
                predicted: bin.predicted / bin.pairs as f64,
                observed: bin.observed / bin.pairs as f64,
                pairs: bin.pairs,
            })
            .collect();
        let weighted = |bin: &CalibrationBin| (bin.predicted - bin.observed).abs() * bin.pairs as f64;
        let error = bins.iter().map(weighted).sum::<f64>() / probabilities.len().max(1) as f64;
        Ok(Calibration { error, bins })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
