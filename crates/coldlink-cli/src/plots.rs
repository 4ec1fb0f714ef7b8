//! Small charts as SVG text: how far probabilities can be trusted, and how a search went.

use std::cmp::Reverse;

/// The width of a picture, in pixels like all lengths here.
const WIDTH: f64 = 640.0;
/// The height of a picture.
const HEIGHT: f64 = 420.0;
/// Where the lines of text above the axes start.
const MARGIN: f64 = 20.0;
/// Where the quantity along the bottom starts.
const LEFT: f64 = 76.0;
/// Where it ends, in a chart that is no square.
const RIGHT: f64 = 620.0;
/// Where the quantity along the side ends.
const TOP: f64 = 66.0;
/// Where it starts.
const BOTTOM: f64 = 366.0;
/// How far values stay away from the axes, so that a dot covers no tick label.
const INSET: f64 = 14.0;
/// The least radius of a bin's dot.
const SMALLEST_BIN: f64 = 3.5;
/// The radius of the dot of the bin with the most pairs.
const LARGEST_BIN: f64 = 13.0;
/// The radius of a trial's dot.
const TRIAL: f64 = 4.0;
/// The font size of the title.
const TITLE_SIZE: f64 = 17.0;
/// The font size of everything else.
const TEXT_SIZE: f64 = 12.0;
/// A smaller difference of quality is noise, and is not stretched over the whole axis.
const LEAST_QUALITY_SPAN: f64 = 0.01;
/// A shorter search is not stretched over the whole axis.
const LEAST_SECONDS: f64 = 1.0;

/// How everything looks, in light and in dark.
///
/// Colours are written out for each class, since many viewers know no variables. Every rule has the picture's class,
/// so that a picture placed within a page leaves the rest of the page alone.
const STYLE: &str = r#"<style>
.coldlink-plot text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif }
.coldlink-plot text { font-size: 12px; fill: #57606a }
.coldlink-plot .title { font-size: 17px; font-weight: 600; fill: #1f2328 }
.coldlink-plot .note { fill: #1f2328 }
.coldlink-plot .middle { text-anchor: middle }
.coldlink-plot .end { text-anchor: end }
.coldlink-plot .background { fill: #ffffff }
.coldlink-plot .grid { stroke: #e7eaee }
.coldlink-plot .axis { stroke: #8c959f }
.coldlink-plot .perfect { stroke: #8c959f; stroke-width: 1.5; stroke-dasharray: 6 5 }
.coldlink-plot .joined { fill: none; stroke: #2563eb; stroke-width: 1.5; stroke-linejoin: round }
.coldlink-plot .bin { fill: #2563eb; stroke: #ffffff }
.coldlink-plot .full { fill: #2563eb; stroke: #ffffff }
.coldlink-plot .part { fill: #ffffff; stroke: #2563eb; stroke-width: 1.5 }
.coldlink-plot .so-far { fill: none; stroke: #c2410c; stroke-width: 2; stroke-linejoin: round }
.coldlink-plot .best { fill: #c2410c; stroke: #ffffff }
.coldlink-plot .best-label { fill: #c2410c; font-weight: 600 }
.coldlink-plot .halo { fill: #ffffff; stroke: #ffffff; stroke-width: 4; stroke-linejoin: round }
@media (prefers-color-scheme: dark) {
.coldlink-plot text { fill: #9ba5b0 }
.coldlink-plot .title, .coldlink-plot .note { fill: #e6e9ed }
.coldlink-plot .background { fill: #14171c }
.coldlink-plot .grid { stroke: #282d35 }
.coldlink-plot .axis, .coldlink-plot .perfect { stroke: #717b87 }
.coldlink-plot .joined { stroke: #6ea8fe }
.coldlink-plot .bin { fill: #6ea8fe; stroke: #14171c }
.coldlink-plot .full { fill: #6ea8fe; stroke: #14171c }
.coldlink-plot .part { fill: #14171c; stroke: #6ea8fe }
.coldlink-plot .so-far { stroke: #f59e4b }
.coldlink-plot .best { fill: #f59e4b; stroke: #14171c }
.coldlink-plot .best-label { fill: #f59e4b }
.coldlink-plot .halo { fill: #14171c; stroke: #14171c }
}
</style>"#;

/// A bin of predicted probabilities, with what came true.
pub struct ReliabilityBin {
    /// The mean predicted probability.
    pub predicted: f64,
    /// The share of its pairs that are linked.
    pub observed: f64,
    /// How many pairs it has.
    pub pairs: usize,
}

/// Predicted probability against the share of pairs that are linked.
///
/// Bins without pairs, or with anything but probabilities, are left out.
pub fn reliability(title: &str, bins: &[ReliabilityBin], error: f64) -> String {
    let is_share = |value: f64| (0.0..=1.0).contains(&value);
    let mut bins: Vec<_> =
        bins.iter().filter(|bin| bin.pairs > 0 && is_share(bin.predicted) && is_share(bin.observed)).collect();
    bins.sort_by(|a, b| a.predicted.total_cmp(&b.predicted));

    // A square, so that both quantities have one scale.
    let x = Axis::new("predicted probability", (0.0, 1.0), (LEFT, LEFT + BOTTOM - TOP));
    let y = Axis::new("observed share of pairs linked", (0.0, 1.0), (BOTTOM, TOP));
    let mut picture = Picture::new(title);
    picture.axes(&x, &y);
    let (start, end) = ((x.at(0.0), y.at(0.0)), (x.at(1.0), y.at(1.0)));
    picture.add(format!(r#"<path class="perfect" d="M{:.1} {:.1}L{:.1} {:.1}"/>"#, start.0, start.1, end.0, end.1));
    // Beyond the end of the line, where no bin can be.
    picture.text("", (x.end + 8.0, y.at(1.0) + 4.0), "perfect");
    if error.is_finite() {
        picture.text("note", (MARGIN, 50.0), &format!("expected calibration error {error:.3}"));
    }
    match bins.iter().map(|bin| bin.pairs).max() {
        None => picture.text("middle", (x.at(0.3), y.at(0.7) + 4.0), "no pairs to compare"),
        Some(most) => {
            bin_dots(&mut picture, bins, |bin| (x.at(bin.predicted), y.at(bin.observed)), most);
            bin_sizes(&mut picture, x.end + 30.0, most);
        }
    }
    picture.finish()
}

/// Dots for bins from left to right, joined by a line.
fn bin_dots(
    picture: &mut Picture,
    mut bins: Vec<&ReliabilityBin>,
    place: impl Fn(&ReliabilityBin) -> (f64, f64),
    most: usize,
) {
    let corners: Vec<_> = bins.iter().map(|bin| place(bin)).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    picture.add(format!(r#"<polyline class="joined" points="{}"/>"#, corners.join(" ")));
    // Large dots cover no small ones.
    bins.sort_by_key(|bin| Reverse(bin.pairs));
    for bin in bins {
        let pairs = bin.pairs as f64;
        let told = format!("predicted {:.3}, observed {:.3}, {}", bin.predicted, bin.observed, so_many_pairs(pairs));
        picture.dot("bin", place(bin), bin_radius(pairs, most), &told);
    }
}

/// The radius of a bin's dot: its area is in proportion to its pairs, but it can always be seen.
fn bin_radius(pairs: f64, most: usize) -> f64 {
    (LARGEST_BIN * (pairs / most as f64).sqrt()).max(SMALLEST_BIN)
}

/// What the sizes of bins mean, in a column from `left`.
fn bin_sizes(picture: &mut Picture, left: f64, most: usize) {
    // Round numbers are at most 2.5 times apart, so that the greatest is no more than `most`.
    let mut sizes: Vec<f64> = [2.5, 10.0, 40.0].map(|part| round_up(most as f64 / part).max(1.0)).into();
    sizes.dedup();
    let mut y = 180.0;
    picture.text("", (left, y), "size of a dot");
    for size in sizes {
        y += 27.0;
        let told = so_many_pairs(size);
        picture.dot("bin", (left + LARGEST_BIN, y - 4.0), bin_radius(size, most), &told);
        picture.text("", (left + 2.0 * LARGEST_BIN + 10.0, y), &told);
    }
    picture.text("", (left, y + 36.0), "above the dashed line:");
    picture.text("", (left, y + 53.0), "more linked than predicted");
}

/// So many pairs.
fn so_many_pairs(pairs: f64) -> String {
    format!("{} {}", number(pairs, 0), if pairs == 1.0 { "pair" } else { "pairs" })
}

/// One trial of a search.
pub struct TrialPoint {
    /// When it ended, since the search started.
    pub seconds: f64,
    /// Its AUC + AP on validation.
    pub quality: f64,
    /// What tells it from the others.
    pub label: String,
    /// Whether it was trained for all of its steps.
    pub full: bool,
}

impl TrialPoint {
    /// What its tooltip says.
    fn told(&self) -> String {
        let part = if self.full { "" } else { ", trained for a part of its steps" };
        format!("{}: {:.4}{part}", self.label, self.quality)
    }
}

/// The quality of trials in the order they ended, and the best so far.
///
/// Trials without a finite time and quality are left out.
pub fn trials(title: &str, points: &[TrialPoint]) -> String {
    let mut points: Vec<_> =
        points.iter().filter(|point| point.seconds.is_finite() && point.quality.is_finite()).collect();
    points.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));

    let x = Axis::new("seconds since the start", seconds_range(&points), (LEFT, RIGHT));
    let y = Axis::new("AUC + AP on validation", quality_range(&points), (BOTTOM, TOP));
    let mut picture = Picture::new(title);
    picture.axes(&x, &y);
    match best_trial(&points) {
        None => picture.text("middle", (x.middle(), y.at(1.25) + 4.0), "no trials yet"),
        Some(best) => {
            trial_kinds(&mut picture, &points);
            trial_dots(&mut picture, &points, |point| (x.at(point.seconds), y.at(point.quality)), best);
        }
    }
    picture.finish()
}

/// Dots for trials, the line of the best so far, and the best one's label.
fn trial_dots(
    picture: &mut Picture,
    points: &[&TrialPoint],
    place: impl Fn(&TrialPoint) -> (f64, f64),
    best: &TrialPoint,
) {
    if let Some(path) = best_so_far(points, &place) {
        picture.add(format!(r#"<path class="so-far" d="{path}"/>"#));
    }
    let mut others: Vec<&TrialPoint> = points.iter().copied().filter(|point| !std::ptr::eq(*point, best)).collect();
    // Those in full cover those in part.
    others.sort_by_key(|point| point.full);
    for point in &others {
        picture.dot(if point.full { "full" } else { "part" }, place(point), TRIAL, &point.told());
    }
    picture.dot(if best.full { "best" } else { "part" }, place(best), TRIAL + 1.5, &best.told());

    let quality = format!(" ({:.4})", best.quality);
    let room = RIGHT - LEFT - 8.0 - text_width(&quality, TEXT_SIZE);
    let label = fitted(&best.label, TEXT_SIZE, room) + &quality;
    let dots: Vec<_> = others.iter().map(|point| place(point)).collect();
    let start = beside(place(best), text_width(&label, TEXT_SIZE), &dots);
    // Twice, since many viewers know no way to draw a text's outline behind it.
    picture.text("best-label halo", start, &label);
    picture.text("best-label", start, &label);
}

/// The first of the best trials in full; where none is, of all.
fn best_trial<'a>(points: &[&'a TrialPoint]) -> Option<&'a TrialPoint> {
    // Of equals `max_by` gives the last.
    points.iter().rev().copied().max_by(|a, b| a.full.cmp(&b.full).then(a.quality.total_cmp(&b.quality)))
}

/// From the start to the last trial.
fn seconds_range(points: &[&TrialPoint]) -> (f64, f64) {
    let (low, high) = range(points.iter().map(|point| point.seconds)).unwrap_or((0.0, 0.0));
    let low = low.min(0.0);
    (low, high.max(low + LEAST_SECONDS))
}

/// From below the worst to above the best, with room for a label.
fn quality_range(points: &[&TrialPoint]) -> (f64, f64) {
    let Some((low, high)) = range(points.iter().map(|point| point.quality)) else {
        return (0.0, 2.0);
    };
    let lacking = (LEAST_QUALITY_SPAN - (high - low)).max(0.0) / 2.0;
    let (low, high) = (low - lacking, high + lacking);
    (low, high + 0.1 * (high - low))
}

/// The least and the greatest value.
fn range(mut values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let first = values.next()?;
    Some(values.fold((first, first), |(low, high), value| (low.min(value), high.max(value))))
}

/// Steps up at each full trial that beats all before it, and on to the last trial.
fn best_so_far(points: &[&TrialPoint], place: impl Fn(&TrialPoint) -> (f64, f64)) -> Option<String> {
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

/// What the marks of trials mean, in a row above the axes; only of those there are.
fn trial_kinds(picture: &mut Picture, points: &[&TrialPoint]) {
    let has_full = points.iter().any(|point| point.full);
    let has_part = points.iter().any(|point| !point.full);
    let mut x = MARGIN + TRIAL + 1.0;
    let kinds = [
        (has_full, r#"<circle class="full" cx="0" cy="0" r="4"/>"#, "full trial"),
        (has_part, r#"<circle class="part" cx="0" cy="0" r="4"/>"#, "trained for a part of its steps"),
        (has_full, r#"<path class="so-far" d="M-4 0H12"/>"#, "best full trial so far"),
    ];
    for (_, mark, meaning) in kinds.into_iter().filter(|(is_there, _, _)| *is_there) {
        let gap = if mark.starts_with("<path") { 18.0 } else { 10.0 };
        picture.add(format!(r#"<g transform="translate({x:.1} 46)">{mark}</g>"#));
        picture.text("", (x + gap, 50.0), meaning);
        x += gap + text_width(meaning, TEXT_SIZE) + 18.0;
    }
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
                let across = left - TRIAL..left + width + TRIAL;
                let down = baseline - TEXT_SIZE - TRIAL..baseline + TRIAL;
                across.contains(&x) && down.contains(&y)
            };
            dots.iter().filter(is_covered).count()
        })
        .unwrap_or((x, above))
}

/// A quantity along a line of pixels.
struct Axis {
    label: &'static str,
    low: f64,
    high: f64,
    start: f64,
    end: f64,
}

impl Axis {
    /// Values from low to high, drawn from a pixel to another, both ends a little inset.
    fn new(label: &'static str, (low, high): (f64, f64), (start, end): (f64, f64)) -> Self {
        Axis { label, low, high, start, end }
    }

    /// The pixel of a value.
    fn at(&self, value: f64) -> f64 {
        let inset = INSET.copysign(self.end - self.start);
        let share = (value - self.low) / (self.high - self.low);
        self.start + inset + share * (self.end - self.start - 2.0 * inset)
    }

    /// The pixel half-way.
    fn middle(&self) -> f64 {
        (self.start + self.end) / 2.0
    }

    /// A few round values, with the pixel of each.
    fn ticks(&self) -> Vec<(f64, String)> {
        let step = round_up((self.high - self.low) / 7.0);
        let decimals = (-step.log10() - 1e-9).ceil().max(0.0) as usize;
        let first = (self.low / step - 1e-9).ceil();
        (0..8)
            .map(|index| (first + f64::from(index)) * step)
            .take_while(|value| *value <= self.high + 1e-9 * step)
            .map(|value| (self.at(value), number(value, decimals)))
            .collect()
    }
}

/// The least of 1, 2, 5, 10, 20, ... and 0.5, 0.2, 0.1, ... that is no less than the value.
fn round_up(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= value * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

/// A number with its thousands apart.
fn number(value: f64, decimals: usize) -> String {
    let plain = format!("{value:.decimals$}");
    let point = plain.find('.').unwrap_or(plain.len());
    let mut text = String::new();
    for (index, character) in plain.char_indices() {
        let is_inside = index < point && text.ends_with(|before: char| before.is_ascii_digit());
        if is_inside && (point - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(character);
    }
    text
}

/// An SVG picture while it is drawn.
struct Picture {
    svg: String,
}

impl Picture {
    /// A picture with nothing but its title.
    fn new(title: &str) -> Self {
        let mut picture = Picture { svg: String::new() };
        picture.add(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"coldlink-plot\" role=\"img\" \
             viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\">"
        ));
        picture.add(format!("<title>{}</title>", escaped(title)));
        picture.add(STYLE);
        picture.add(format!(r#"<rect class="background" width="{WIDTH}" height="{HEIGHT}" rx="6"/>"#));
        picture.text("title", (MARGIN, 28.0), &fitted(title, TITLE_SIZE, WIDTH - 2.0 * MARGIN));
        picture
    }

    /// Adds an element.
    fn add(&mut self, element: impl AsRef<str>) {
        self.svg += element.as_ref();
        self.svg.push('\n');
    }

    /// Adds both axes with their labels, ticks and grid lines.
    fn axes(&mut self, x: &Axis, y: &Axis) {
        let (left, right, top, bottom) = (x.start, x.end, y.end, y.start);
        for (at, label) in x.ticks() {
            self.add(format!(r#"<path class="grid" d="M{at:.1} {top}V{bottom}"/>"#));
            self.text("middle", (at, bottom + 18.0), &label);
        }
        for (at, label) in y.ticks() {
            self.add(format!(r#"<path class="grid" d="M{left} {at:.1}H{right}"/>"#));
            self.text("end", (left - 8.0, at + 4.0), &label);
        }
        self.add(format!(r#"<path class="axis" fill="none" d="M{left} {top}V{bottom}H{right}"/>"#));
        self.text("note middle", (x.middle(), bottom + 40.0), x.label);
        self.add(format!(
            r#"<text class="note middle" transform="translate({} {}) rotate(-90)">{}</text>"#,
            MARGIN + 2.0,
            y.middle(),
            escaped(y.label)
        ));
    }

    /// Adds a text; `class` says where in it the place is, and how it looks.
    fn text(&mut self, class: &str, (x, y): (f64, f64), text: &str) {
        self.add(format!(r#"<text class="{class}" x="{x:.1}" y="{y:.1}">{}</text>"#, escaped(text)));
    }

    /// Adds a dot that tells something when pointed at.
    fn dot(&mut self, class: &str, (x, y): (f64, f64), radius: f64, told: &str) {
        let told = escaped(told);
        self.add(format!(
            r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="{radius:.1}"><title>{told}</title></circle>"#
        ));
    }

    /// The whole SVG file.
    fn finish(mut self) -> String {
        self.add("</svg>");
        self.svg
    }
}

/// Text as it may stand in an SVG file, which has no way to write control characters.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            '\u{fffe}' | '\u{ffff}' => escaped.push(char::REPLACEMENT_CHARACTER),
            character if character.is_control() => escaped.push(' '),
            character => escaped.push(character),
        }
    }
    escaped
}

/// About how wide a text is: fonts differ, so rather too wide.
fn text_width(text: &str, size: f64) -> f64 {
    text.chars().map(|character| size * character_width(character)).sum()
}

/// About how wide a character is, in the font's size.
fn character_width(character: char) -> f64 {
    match character {
        ' ' | '.' | ',' | ':' | ';' | '\'' | '(' | ')' | 'I' | 'f' | 'i' | 'j' | 'l' | 'r' | 't' => 0.45,
        'M' | 'W' | 'm' | 'w' | '@' | '%' => 1.05,
        'A'..='Z' => 0.8,
        ' '..='~' => 0.7,
        _ => 1.0,
    }
}

/// A text that is cut short where it would be wider than `room`.
fn fitted(text: &str, size: f64, room: f64) -> String {
    if text_width(text, size) <= room {
        return text.to_owned();
    }
    let mut width = size;
    let is_inside = |character: &char| {
        width += size * character_width(*character);
        width <= room
    };
    let kept: String = text.chars().take_while(is_inside).collect();
    format!("{}…", kept.trim_end_matches(|character: char| !character.is_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every tag is closed in order, every attribute quoted, every `&` the start of an entity, every number a number.
    fn check_well_formed(svg: &str) {
        let mut open = Vec::new();
        let mut rest = svg;
        while let Some((text, after)) = rest.split_once('<') {
            check_text(text);
            let (tag, after) = after.split_once('>').expect("a tag ends");
            rest = after;
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop(), Some(name), "in {svg}");
                continue;
            }
            assert!(tag.matches('"').count().is_multiple_of(2), "`{tag}` has an open quote");
            assert!(!tag.contains("NaN") && !tag.contains("inf"), "`{tag}` has no number");
            if !tag.ends_with('/') {
                open.extend(tag.split_whitespace().next());
            }
        }
        assert!(open.is_empty(), "{open:?} left open");
        assert_eq!(rest, "\n");
        assert!(svg.starts_with("<svg ") && svg.contains(r#"role="img""#));
    }

    fn check_text(text: &str) {
        assert!(!text.contains(|character: char| character.is_control() && character != '\n'));
        for after in text.split('&').skip(1) {
            assert!(["amp;", "lt;", "gt;", "quot;", "#39;"].iter().any(|entity| after.starts_with(entity)), "{text}");
        }
    }

    fn bin(predicted: f64, observed: f64, pairs: usize) -> ReliabilityBin {
        ReliabilityBin { predicted, observed, pairs }
    }

    fn trial(seconds: f64, quality: f64, full: bool) -> TrialPoint {
        TrialPoint { seconds, quality, label: format!("trial at {seconds}"), full }
    }

    fn dots(svg: &str) -> usize {
        svg.matches("</title></circle>").count()
    }

    #[test]
    fn a_bin_has_a_dot_with_what_it_tells() {
        let svg = reliability("here", &[bin(0.1, 0.08, 9000), bin(0.9, 0.95, 1)], 0.01234);
        check_well_formed(&svg);
        assert!(svg.contains("expected calibration error 0.012<") && svg.contains(">perfect<"));
        assert!(svg.contains("<title>predicted 0.100, observed 0.080, 9,000 pairs</title>"));
        assert!(svg.contains("<title>predicted 0.900, observed 0.950, 1 pair</title>"));
    }

    #[test]
    fn a_dot_has_an_area_in_proportion_but_can_always_be_seen() {
        assert_eq!(bin_radius(1000.0, 1000), LARGEST_BIN);
        assert_eq!(bin_radius(250.0, 1000), LARGEST_BIN / 2.0);
        assert_eq!(bin_radius(1.0, 1_000_000), SMALLEST_BIN);
    }

    #[test]
    fn bins_that_are_no_probabilities_are_left_out() {
        let bins = [bin(f64::NAN, 0.5, 3), bin(0.5, f64::NAN, 3), bin(0.5, 1.5, 3), bin(0.2, 0.2, 0)];
        for bins in [&bins[..], &[]] {
            let svg = reliability("none", bins, f64::NAN);
            check_well_formed(&svg);
            assert_eq!(dots(&svg), 0);
            assert!(svg.contains("no pairs to compare") && !svg.contains("calibration error"));
        }
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
        let place = |point: &TrialPoint| (point.seconds, point.quality);
        let path = |points: &[TrialPoint]| best_so_far(&points.iter().collect::<Vec<_>>(), place);
        assert_eq!(path(&points).as_deref(), Some("M1.0 1.0H4.0V2.0H4.0"));
        assert_eq!(path(&points[1..2]), None);
        assert_eq!(path(&[]), None);
    }

    #[test]
    fn few_or_equal_trials_are_drawn() {
        let check = |points: &[TrialPoint]| {
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
    fn text_is_escaped() {
        let nasty = "<b> & \"it's\" </title>\u{0}\u{1b}\n";
        let written = "&lt;b&gt; &amp; &quot;it&#39;s&quot; &lt;/title&gt;   ";
        assert_eq!(escaped(nasty), written);
        let point = TrialPoint { label: nasty.to_owned(), ..trial(1.0, 1.0, true) };
        for svg in [trials(nasty, &[point]), reliability(nasty, &[bin(0.5, 0.5, 1)], 0.0)] {
            check_well_formed(&svg);
            assert!(svg.contains(&format!("<title>{written}</title>")));
        }
    }

    #[test]
    fn long_text_is_cut_to_its_room() {
        assert_eq!(fitted("short", 10.0, 100.0), "short");
        let cut = fitted(&"long ".repeat(50), 10.0, 100.0);
        assert!(cut.ends_with('…') && text_width(&cut, 10.0) <= 100.0, "{cut}");
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

    #[test]
    fn ticks_are_few_round_and_within_the_axis() {
        let check = |low: f64, high: f64, labels: &[&str]| {
            let ticks = Axis::new("", (low, high), (0.0, 100.0)).ticks();
            assert_eq!(ticks.iter().map(|(_, label)| label.as_str()).collect::<Vec<_>>(), labels);
            assert!(ticks.iter().all(|(at, _)| (0.0..=100.0).contains(at)));
        };
        check(0.0, 1.0, &["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        check(1.795, 1.806, &["1.796", "1.798", "1.800", "1.802", "1.804", "1.806"]);
        check(-0.1, 2.2, &["0.0", "0.5", "1.0", "1.5", "2.0"]);
        check(0.0, 7200.0, &["0", "2,000", "4,000", "6,000"]);
    }

    #[test]
    fn thousands_are_apart() {
        assert_eq!([number(-123456.0, 0), number(1234.5, 1), number(999.0, 0)], ["-123,456", "1,234.5", "999"]);
    }
}
