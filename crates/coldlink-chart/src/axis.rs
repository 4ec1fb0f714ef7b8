//! A quantity along a line of pixels, and the round values on it.

use crate::text::number;

/// A quantity along a line of pixels.
pub struct Axis {
    low: f64,
    high: f64,
    /// Where the line starts.
    pub start: f64,
    /// Where it ends.
    pub end: f64,
    inset: f64,
}

impl Axis {
    /// How far values stay away from the ends of an inset axis, so that a dot covers no tick label.
    const INSET: f64 = 14.0;

    /// Values from low to high along the whole line from a pixel to another.
    pub fn new((low, high): (f64, f64), (start, end): (f64, f64)) -> Self {
        Axis { low, high, start, end, inset: 0.0 }
    }

    /// The same with both values a little away from the ends of the line.
    pub fn inset(self) -> Self {
        Axis { inset: Self::INSET.copysign(self.end - self.start), ..self }
    }

    /// The pixel of a value; values beyond the ends are at the ends.
    pub fn at(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        self.start + self.inset + share.clamp(0.0, 1.0) * (self.end - self.start - 2.0 * self.inset)
    }

    /// The pixel half-way.
    pub fn middle(&self) -> f64 {
        (self.start + self.end) / 2.0
    }

    /// At most about `about` round values, with the pixel of each.
    pub fn ticks(&self, about: f64) -> Vec<(f64, String)> {
        let step = round_up((self.high - self.low) / about);
        let decimals = (-step.log10() - 1e-9).ceil().max(0.0) as usize;
        let (first, last) = ((self.low / step - 1e-6).ceil() as i64, (self.high / step + 1e-6).floor() as i64);
        (first..=last)
            .map(|index| (index as f64 * step, if index == 0 { 0 } else { decimals }))
            .map(|(value, decimals)| (self.at(value), number(value, decimals)))
            .collect()
    }
}

/// The least of 1, 2, 5, 10, 20, ... and 0.5, 0.2, 0.1, ... that is no less than the value.
pub fn round_up(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= value * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

/// The least and the greatest value, where there is one.
pub fn range(mut values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let first = values.next()?;
    Some(values.fold((first, first), |(low, high), value| (low.min(value), high.max(value))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_few_round_and_within_the_axis() {
        let check = |low: f64, high: f64, about: f64, labels: &[&str]| {
            let ticks = Axis::new((low, high), (0.0, 100.0)).inset().ticks(about);
            assert_eq!(ticks.iter().map(|(_, label)| label.as_str()).collect::<Vec<_>>(), labels);
            assert!(ticks.iter().all(|(at, _)| (0.0..=100.0).contains(at)));
        };
        check(0.0, 1.0, 7.0, &["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        check(0.8, 1.0, 5.0, &["0.80", "0.85", "0.90", "0.95", "1.00"]);
        check(1.795, 1.806, 7.0, &["1.796", "1.798", "1.800", "1.802", "1.804", "1.806"]);
        check(-0.1, 2.2, 7.0, &["0", "0.5", "1.0", "1.5", "2.0"]);
        check(-3.0, 7200.0, 5.0, &["0", "2,000", "4,000", "6,000"]);
    }

    #[test]
    fn a_value_keeps_to_the_axis() {
        let axis = Axis::new((0.0, 10.0), (100.0, 0.0));
        assert_eq!([axis.at(-5.0), axis.at(5.0), axis.at(f64::INFINITY)], [100.0, 50.0, 0.0]);
        let axis = axis.inset();
        assert_eq!([axis.at(0.0), axis.at(5.0), axis.at(10.0)], [86.0, 50.0, 14.0]);
    }
}
