//! How far probabilities can be trusted.

use std::cmp::Reverse;

use crate::axis::{Axis, round_up};
use crate::picture::{LEFT, MARGIN, Picture};
use crate::text::number;

/// The size of a picture.
const SIZE: (f64, f64) = (640.0, 420.0);
/// Where the axes end above.
const TOP: f64 = 66.0;
/// Where they start below.
const BOTTOM: f64 = 366.0;
/// The least radius of a bin's dot.
const SMALLEST: f64 = 3.5;
/// The radius of the dot of the bin with the most pairs.
const LARGEST: f64 = 13.0;

/// A bin of predicted probabilities, with what came true.
pub struct ReliabilityBin {
    /// The mean predicted probability.
    pub predicted: f64,
    /// The share of its pairs that are linked.
    pub observed: f64,
    /// How many pairs it has.
    pub pairs: usize,
}

/// Predicted probability against the share of pairs that are linked, as an SVG file.
///
/// It leaves out bins without pairs, or with anything but probabilities.
pub fn reliability(title: &str, bins: &[ReliabilityBin], error: f64) -> String {
    let is_share = |value: f64| (0.0..=1.0).contains(&value);
    let mut bins: Vec<_> =
        bins.iter().filter(|bin| bin.pairs > 0 && is_share(bin.predicted) && is_share(bin.observed)).collect();
    bins.sort_by(|a, b| a.predicted.total_cmp(&b.predicted));

    // A square, so that both quantities have one scale.
    let x = Axis::new((0.0, 1.0), (LEFT, LEFT + BOTTOM - TOP)).inset();
    let y = Axis::new((0.0, 1.0), (BOTTOM, TOP)).inset();
    let mut picture = Picture::new(title, SIZE);
    picture.axes((&x, "predicted probability"), (&y, "observed share of pairs linked"));
    picture.joined("perfect", &[(x.at(0.0), y.at(0.0)), (x.at(1.0), y.at(1.0))]);
    // Beyond the end of the line, where no bin can be.
    picture.text("", (x.end + 8.0, y.at(1.0) + 4.0), "perfect");
    if error.is_finite() {
        picture.text("note", (MARGIN, 50.0), &format!("expected calibration error {error:.3}"));
    }
    match bins.iter().map(|bin| bin.pairs).max() {
        None => picture.text("middle", (x.at(0.3), y.at(0.7) + 4.0), "no pairs to compare"),
        Some(most) => {
            dots(&mut picture, bins, |bin| (x.at(bin.predicted), y.at(bin.observed)), most);
            sizes(&mut picture, x.end + 30.0, most);
        }
    }
    picture.finish()
}

/// Dots for bins from left to right, joined by a line.
fn dots(
    picture: &mut Picture,
    mut bins: Vec<&ReliabilityBin>,
    place: impl Fn(&ReliabilityBin) -> (f64, f64),
    most: usize,
) {
    picture.joined("joined", &bins.iter().map(|bin| place(bin)).collect::<Vec<_>>());
    // Large dots cover no small ones.
    bins.sort_by_key(|bin| Reverse(bin.pairs));
    for bin in bins {
        let pairs = bin.pairs as f64;
        let tooltip = format!("predicted {:.3}, observed {:.3}, {}", bin.predicted, bin.observed, so_many_pairs(pairs));
        picture.dot("bin", place(bin), radius(pairs, most), &tooltip);
    }
}

/// The radius of a bin's dot: its area is in proportion to its pairs, but it can always be seen.
fn radius(pairs: f64, most: usize) -> f64 {
    (LARGEST * (pairs / most as f64).sqrt()).max(SMALLEST)
}

/// What the sizes of dots mean, in a column from `left`.
fn sizes(picture: &mut Picture, left: f64, most: usize) {
    // Round numbers are at most 2.5 times apart, so that the greatest is no more than `most`.
    let mut sizes: Vec<f64> = [2.5, 10.0, 40.0].map(|part| round_up(most as f64 / part).max(1.0)).into();
    sizes.dedup();
    let mut y = 180.0;
    picture.text("", (left, y), "size of a dot");
    for size in sizes {
        y += 27.0;
        let meaning = so_many_pairs(size);
        picture.dot("bin", (left + LARGEST, y - 4.0), radius(size, most), &meaning);
        picture.text("", (left + 2.0 * LARGEST + 10.0, y), &meaning);
    }
    picture.text("", (left, y + 36.0), "above the dashed line:");
    picture.text("", (left, y + 53.0), "more linked than predicted");
}

fn so_many_pairs(pairs: f64) -> String {
    format!("{} {}", number(pairs, 0), if pairs == 1.0 { "pair" } else { "pairs" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{check_well_formed, escaped};

    fn bin(predicted: f64, observed: f64, pairs: usize) -> ReliabilityBin {
        ReliabilityBin { predicted, observed, pairs }
    }

    #[test]
    fn a_bin_has_a_dot_with_its_numbers() {
        let svg = reliability("here", &[bin(0.1, 0.08, 9000), bin(0.9, 0.95, 1)], 0.01234);
        check_well_formed(&svg);
        assert!(svg.contains("expected calibration error 0.012<") && svg.contains(">perfect<"));
        assert!(svg.contains("<title>predicted 0.100, observed 0.080, 9,000 pairs</title>"));
        assert!(svg.contains("<title>predicted 0.900, observed 0.950, 1 pair</title>"));
    }

    #[test]
    fn a_dot_has_an_area_in_proportion_but_can_always_be_seen() {
        assert_eq!(radius(1000.0, 1000), LARGEST);
        assert_eq!(radius(250.0, 1000), LARGEST / 2.0);
        assert_eq!(radius(1.0, 1_000_000), SMALLEST);
    }

    #[test]
    fn bins_that_are_no_probabilities_are_left_out() {
        let bins = [bin(f64::NAN, 0.5, 3), bin(0.5, f64::NAN, 3), bin(0.5, 1.5, 3), bin(0.2, 0.2, 0)];
        for bins in [&bins[..], &[]] {
            let svg = reliability("none", bins, f64::NAN);
            check_well_formed(&svg);
            assert!(!svg.contains("<circle") && !svg.contains("calibration error"));
            assert!(svg.contains("no pairs to compare"));
        }
    }

    #[test]
    fn the_title_is_escaped() {
        let nasty = "<b> & \"it's\" </title>\u{0}\u{1b}\n";
        let svg = reliability(nasty, &[bin(0.5, 0.5, 1)], 0.0);
        check_well_formed(&svg);
        assert!(svg.contains(&format!("<title>{}</title>", escaped(nasty))));
    }
}
