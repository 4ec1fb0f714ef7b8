//! How a search of settings went.

use crate::axis::{Axis, range};
use crate::picture::{LEFT, Picture};
use crate::text::{TEXT_SIZE, shortened, text_width};

/// The size of a picture.
const SIZE: (f64, f64) = (640.0, 420.0);
/// Where the axes end on the right.
const RIGHT: f64 = 620.0;
/// Where they end above.
const TOP: f64 = 66.0;
/// Where they start below.
const BOTTOM: f64 = 366.0;
/// The radius of a trial's dot.
const DOT: f64 = 4.0;
/// A smaller difference of quality is noise, and is not stretched over the whole axis.
const LEAST_QUALITY_SPAN: f64 = 0.01;
/// A shorter search is not stretched over the whole axis.
const LEAST_SECONDS: f64 = 1.0;

/// One trial of a search.
pub struct Trial {
    /// When it ended, since the search started.
    pub seconds: f64,
    /// Its AUC + AP on validation.
    pub quality: f64,
    /// What tells it from the others.
    pub label: String,
    /// Whether it was trained for all of its steps.
    pub full: bool,
}

impl Trial {
    fn tooltip(&self) -> String {
        let part = if self.full { "" } else { ", trained for a part of its steps" };
        format!("{}: {:.4}{part}", self.label, self.quality)
    }
}

/// The quality of trials in the order they ended, and the best so far, as an SVG file.
///
/// It leaves out trials without a finite time and quality.
pub fn trials(title: &str, points: &[Trial]) -> String {
    let mut points: Vec<_> =
        points.iter().filter(|point| point.seconds.is_finite() && point.quality.is_finite()).collect();
    points.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));

    let x = Axis::new(seconds_range(&points), (LEFT, RIGHT)).inset();
    let y = Axis::new(quality_range(&points), (BOTTOM, TOP)).inset();
    let mut picture = Picture::new(title, SIZE);
    picture.axes((&x, "seconds since the start"), (&y, "AUC + AP on validation"));
    match best_trial(&points) {
        None => picture.text("middle", (x.middle(), y.at(1.25) + 4.0), "no trials yet"),
        Some(best) => {
            legend(&mut picture, &points);
            dots(&mut picture, &points, |point| (x.at(point.seconds), y.at(point.quality)), best);
        }
    }
    picture.finish()
}

/// Dots for trials, the line of the best so far, and the best one's label.
fn dots(picture: &mut Picture, points: &[&Trial], place: impl Fn(&Trial) -> (f64, f64), best: &Trial) {
    if let Some(path) = best_so_far(points, &place) {
        picture.path("so-far", &path);
    }
    let mut others: Vec<&Trial> = points.iter().copied().filter(|point| !std::ptr::eq(*point, best)).collect();
    // Those in full cover those in part.
    others.sort_by_key(|point| point.full);
    for point in &others {
        picture.dot(if point.full { "full" } else { "part" }, place(point), DOT, &point.tooltip());
    }
    picture.dot(if best.full { "best" } else { "part" }, place(best), DOT + 1.5, &best.tooltip());

    let quality = format!(" ({:.4})", best.quality);
    let room = RIGHT - LEFT - 8.0 - text_width(&quality, TEXT_SIZE);
    let label = shortened(&best.label, room, TEXT_SIZE) + &quality;
    let dots: Vec<_> = others.iter().map(|point| place(point)).collect();
    let start = beside(place(best), text_width(&label, TEXT_SIZE), &dots);
    // Twice, since many viewers know no way to draw a text's outline behind it.
    picture.text("best-label halo", start, &label);
    picture.text("best-label", start, &label);
}

/// The first of the best trials in full; where none is, of all.
fn best_trial<'a>(points: &[&'a Trial]) -> Option<&'a Trial> {
    // Of equals `max_by` gives the last.
    points.iter().rev().copied().max_by(|a, b| a.full.cmp(&b.full).then(a.quality.total_cmp(&b.quality)))
}

/// From the start to the last trial.
fn seconds_range(points: &[&Trial]) -> (f64, f64) {
    let (low, high) = range(points.iter().map(|point| point.seconds)).unwrap_or((0.0, 0.0));
    let low = low.min(0.0);
    (low, high.max(low + LEAST_SECONDS))
}

/// From below the worst to above the best, with room for a label.
fn quality_range(points: &[&Trial]) -> (f64, f64) {
    let Some((low, high)) = range(points.iter().map(|point| point.quality)) else {
        return (0.0, 2.0);
    };
    let lacking = (LEAST_QUALITY_SPAN - (high - low)).max(0.0) / 2.0;
    let (low, high) = (low - lacking, high + lacking);
    (low, high + 0.1 * (high - low))
}

/// Steps up at each full trial that beats all before it, and on to the last trial.
fn best_so_far(points: &[&Trial], place: impl Fn(&Trial) -> (f64, f64)) -> Option<String> {
    let mut path = String::new();
    let mut best = f64::NEG_INFINITY;
    for point in points.iter().filter(|point| point.full) {
        if point.quality > best {
            let (x, y) = place(point);
            path += &if path.is_empty() { format!("M{x:.1} {y:.1}") } else { format!("H{x:.1}V{y:.1}") };
            best = point.quality;
        }
    }
    let (end, _) = place(points.last()?);
    (!path.is_empty()).then(|| format!("{path}H{end:.1}"))
}

/// What the marks mean, in a row above the axes; only of those there are.
fn legend(picture: &mut Picture, points: &[&Trial]) {
    let has_full = points.iter().any(|point| point.full);
    let has_part = points.iter().any(|point| !point.full);
    let marks = [
        (has_full, r#"<circle class="full" cx="5" cy="0" r="4"/>"#, 10.0, "full trial"),
        (has_part, r#"<circle class="part" cx="5" cy="0" r="4"/>"#, 10.0, "trained for a part of its steps"),
        (has_full, r#"<path class="so-far" d="M0 0H16"/>"#, 16.0, "best full trial so far"),
    ];
    let marks: Vec<_> = marks
        .into_iter()
        .filter(|(is_there, ..)| *is_there)
        .map(|(_, mark, width, meaning)| (mark, width, meaning))
        .collect();
    picture.legend(46.0, &marks);
}

/// The start of a text beside a dot: inside the axes, and over as few other dots as can be.
fn beside((x, y): (f64, f64), width: f64, dots: &[(f64, f64)]) -> (f64, f64) {
    let (above, below) = (y - 11.0, y + 20.0);
    let (centred, to_right, to_left) = (x - width / 2.0, x + 8.0, x - 8.0 - width);
    [(centred, above), (to_right, above), (to_left, above), (to_right, below), (to_left, below)]
        .map(|(x, y)| (x.min(RIGHT - 4.0 - width).max(LEFT + 4.0), y.clamp(TOP + TEXT_SIZE, BOTTOM - 6.0)))
        .into_iter()
        .min_by_key(|&(left, baseline)| {
            let is_covered = |&&(x, y): &&(f64, f64)| {
                let across = left - DOT..left + width + DOT;
                let down = baseline - TEXT_SIZE - DOT..baseline + DOT;
                across.contains(&x) && down.contains(&y)
            };
            dots.iter().filter(is_covered).count()
        })
        .unwrap_or((x, above))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{check_well_formed, escaped};

    fn trial(seconds: f64, quality: f64, full: bool) -> Trial {
        Trial { seconds, quality, label: format!("trial at {seconds}"), full }
    }

    fn dots(svg: &str) -> usize {
        svg.matches("</title></circle>").count()
    }

    #[test]
    fn the_best_full_trial_is_named_and_each_has_a_dot() {
        let points = [trial(10.0, 1.6, true), trial(20.0, 1.95, false), trial(30.0, 1.9, true), trial(40.0, 1.7, true)];
        let svg = trials("search", &points);
        check_well_formed(&svg);
        assert_eq!(dots(&svg), 4);
        assert_eq!(svg.matches(r#"class="best-label""#).count(), 1);
        assert!(svg.contains(">trial at 30 (1.9000)</text>"));
        assert!(svg.contains("<title>trial at 20: 1.9500, trained for a part of its steps</title>"));
    }

    #[test]
    fn the_line_steps_up_only_at_better_full_trials() {
        let points = [trial(1.0, 1.0, true), trial(2.0, 9.0, false), trial(3.0, 0.5, true), trial(4.0, 2.0, true)];
        let place = |point: &Trial| (point.seconds, point.quality);
        let path = |points: &[Trial]| best_so_far(&points.iter().collect::<Vec<_>>(), place);
        assert_eq!(path(&points).as_deref(), Some("M1.0 1.0H4.0V2.0H4.0"));
        assert_eq!(path(&points[1..2]), None);
        assert_eq!(path(&[]), None);
    }

    #[test]
    fn few_or_equal_trials_are_drawn() {
        let check = |points: &[Trial]| {
            let svg = trials("few", points);
            check_well_formed(&svg);
            assert_eq!(dots(&svg), points.len());
            assert_eq!(svg.contains("no trials yet"), points.is_empty());
        };
        check(&[]);
        check(&[trial(0.0, 0.0, true)]);
        check(&[trial(12.0, 1.8, false)]);
        check(&[trial(5.0, 1.8, true), trial(5.0, 1.8, true), trial(5.0, 1.8, false)]);
    }

    #[test]
    fn trials_that_are_no_numbers_are_left_out() {
        let points = [
            trial(f64::NAN, 1.0, true),
            trial(1.0, f64::NAN, true),
            trial(2.0, f64::INFINITY, true),
            trial(3.0, 1.5, true),
        ];
        let svg = trials("some", &points);
        check_well_formed(&svg);
        assert_eq!(dots(&svg), 1);
        check_well_formed(&trials("none", &points[..3]));
    }

    #[test]
    fn labels_are_escaped() {
        let nasty = "<b> & \"it's\" </title>\u{0}\u{1b}\n";
        let svg = trials(nasty, &[Trial { label: nasty.to_owned(), ..trial(1.0, 1.0, true) }]);
        check_well_formed(&svg);
        assert!(svg.contains(&format!("<title>{}: 1.0000</title>", escaped(nasty))));
    }

    #[test]
    fn a_label_stays_inside_and_off_other_dots() {
        for dot in [(LEFT, TOP), (RIGHT, TOP), (LEFT, BOTTOM), (RIGHT, BOTTOM)] {
            let (x, y) = beside(dot, 200.0, &[]);
            assert!(LEFT <= x && x + 200.0 <= RIGHT && TOP <= y - TEXT_SIZE && y <= BOTTOM);
        }
        assert_eq!(beside((300.0, 200.0), 100.0, &[]), (250.0, 189.0));
        assert_eq!(beside((300.0, 200.0), 100.0, &[(270.0, 185.0)]), (308.0, 189.0));
    }
}
