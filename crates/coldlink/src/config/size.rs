//! What settings follow the size of the training graph: the batch, its negatives, the length of training, the width.

use serde::{Deserialize, Serialize};

use super::Config;

/// Pairs in a batch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum BatchSize {
    /// So many.
    Pairs(usize),
    /// So many per warm node.
    Share(f64),
    /// So many as suit the number of links.
    Auto(Auto),
}

/// The word `auto`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Auto {
    /// Chosen from the data.
    Auto,
}

/// Pairs in a batch that is chosen from the data.
const AUTO_PAIRS: std::ops::RangeInclusive<usize> = 256..=2048;

/// Links from which on a batch that is chosen from the data has no more than `negatives`: there are many steps, and each takes a
/// quarter of the time.
const MANY_LINKS: usize = 400_000;

/// Validations of a run whose length is counted in epochs, at the most.
const VALIDATIONS: u64 = 20;
/// What a width is not halved below.
const LEAST_WIDTH: usize = 64;
/// Steps that a run may have.
pub(super) const MOST_STEPS: u64 = i32::MAX as u64;

impl BatchSize {
    /// The number of pairs for a graph with `warm` warm nodes and `links` links; at least 2.
    pub fn pairs(self, warm: usize, links: usize) -> usize {
        let pairs = match self {
            BatchSize::Pairs(pairs) => pairs,
            BatchSize::Share(share) => (share * warm as f64).round() as usize,
            BatchSize::Auto(Auto::Auto) => {
                (2 * links.isqrt()).next_power_of_two().clamp(*AUTO_PAIRS.start(), *AUTO_PAIRS.end())
            }
        };
        pairs.max(2)
    }
}

impl Config {
    /// The same for a graph of so many warm nodes and links: with a number of steps and of pairs that is known.
    pub fn sized(&self, warm: usize, links: usize) -> Config {
        let pairs = self.batch.pairs(warm, links);
        let wanted = self.epochs * 2.0 * links as f64;
        let most = if self.most_pairs > 0 { self.most_pairs.max(2 * links as u64) as f64 } else { f64::INFINITY };
        let passed = wanted.min(most);
        let steps = self.steps.max((passed / pairs as f64).ceil() as u64).min(MOST_STEPS);
        let mut sized = Config { steps, epochs: 0.0, width: self.width_for(warm), ..self.clone() };
        if self.epochs > 0.0 {
            sized.validate_every = self.validate_every.max(steps / VALIDATIONS);
        }
        if let BatchSize::Auto(_) = self.batch {
            let negatives = if links > MANY_LINKS { self.negatives } else { self.negatives.max(pairs) };
            (sized.batch, sized.negatives) = (BatchSize::Pairs(pairs), negatives);
        }
        sized
    }

    /// The width with which the table of so many nodes is not too large.
    fn width_for(&self, nodes: usize) -> usize {
        let is_too_large = |width: usize| (width * nodes) as u64 > self.most_numbers && width >= 2 * LEAST_WIDTH;
        let mut width = self.width;
        while self.most_numbers > 0 && is_too_large(width) {
            width /= 2;
        }
        width
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_of_training_and_the_batch_follow_the_data() {
        let config = Config::default().set_all(["steps=300", "epochs=10", "most_pairs=8000000"]).unwrap();
        let size = |warm, links| {
            let sized = config.sized(warm, links);
            (sized.steps, sized.batch, sized.negatives, sized.validate_every)
        };
        assert_eq!(size(2_500, 4_000), (313, BatchSize::Pairs(256), 512, 25));
        assert_eq!(size(60_000, 200_000), (3907, BatchSize::Pairs(1024), 1024, 195));
        assert_eq!(size(100_000, 400_000), (3907, BatchSize::Pairs(2048), 2048, 195));
        // Fewer epochs from here on, and then one.
        assert_eq!(size(100_000, 1_000_000), (3907, BatchSize::Pairs(2048), 512, 195));
        assert_eq!(size(1_000_000, 10_000_000), (9766, BatchSize::Pairs(2048), 512, 488));
        let again = config.sized(60_000, 200_000);
        assert_eq!(again.sized(60_000, 200_000), again);
        let given = config.set_all(["steps=20", "batch=64"]).unwrap().sized(60_000, 200_000);
        assert_eq!((given.steps, given.batch, given.negatives), (20, BatchSize::Pairs(64), 512));
    }

    #[test]
    fn the_width_of_large_tables_is_halved_unless_someone_asked_for_it() {
        let width = |config: &Config, warm| config.sized(warm, 1_000_000).width;
        let config = Config::default();
        let widths = [200_000, 262_144, 262_145, 600_000, 50_000_000].map(|warm| width(&config, warm));
        assert_eq!(widths, [256, 256, 128, 64, 64]);
        assert_eq!(width(&config.set("width=200").unwrap(), 50_000_000), 200);
        assert_eq!(width(&config.set_all(["width=200", "most_numbers=1"]).unwrap(), 100), 100);
        assert_eq!(config.set("epochs=3").unwrap().sized(1_000_000, 10_000_000).steps, 29_297);
    }
}
