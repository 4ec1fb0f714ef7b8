//! A line chart with its labels at the ends of the lines.

use crate::axis::{Axis, range};
use crate::picture::{LEFT, MARGIN, Picture};
use crate::text::{TEXT_SIZE, shortened, widest};

/// Where the axes end on the right.
const RIGHT: f64 = 560.0;
/// The room between the axes and the labels of lines.
const LEADER: f64 = 22.0;
/// The most room of a label.
const LABEL: f64 = 220.0;
/// From one label to the next.
const SPACING: f64 = 17.0;
/// Where the axes end above.
const TOP: f64 = 58.0;
/// The least height of the axes.
const HEIGHT: f64 = 300.0;
/// The room below the axes.
const BELOW: f64 = 56.0;
/// How many colours there are; further lines have them again, dashed.
const COLOURS: usize = 8;
/// A line with more points has no dots.
const MOST_DOTS: usize = 30;

/// Lines over one quantity.
#[derive(Debug, Clone)]
pub struct LineChart {
    /// Its heading.
    pub title: String,
    /// The quantity along the bottom.
    pub x_label: String,
    /// The quantity along the side.
    pub y_label: String,
    /// The lines.
    pub lines: Vec<Line>,
}

/// A line of a chart.
#[derive(Debug, Clone)]
pub struct Line {
    /// Its name.
    pub label: String,
    /// Its points from left to right.
    pub points: Vec<(f64, f64)>,
}

/// A line chart as an SVG file. It leaves out points that are not finite, and lines without others.
pub fn lines(chart: &LineChart) -> String {
    let lines: Vec<Line> = chart.lines.iter().map(finite).filter(|line| !line.points.is_empty()).collect();
    let bottom = TOP + HEIGHT.max(lines.len() as f64 * SPACING);
    let labels = widest(lines.iter().map(|line| line.label.as_str())).min(LABEL);
    let mut picture = Picture::new(&chart.title, (RIGHT + LEADER + labels + MARGIN, bottom + BELOW));
    let x = Axis::new(values(&lines, |point| point.0), (LEFT, RIGHT)).inset();
    let y = Axis::new(values(&lines, |point| point.1), (bottom, TOP)).inset();
    picture.axes((&x, &chart.x_label), (&y, &chart.y_label));
    if lines.is_empty() {
        picture.text("middle", (x.middle(), y.middle()), "nothing was measured");
    }
    let ends: Vec<f64> = lines.iter().filter_map(|line| line.points.last()).map(|end| y.at(end.1)).collect();
    for (index, (line, label)) in lines.iter().zip(spread_out(&ends, bottom)).enumerate() {
        picture.add(format!(r#"<g class="series-{}">"#, index % COLOURS));
        draw(&mut picture, line, index / COLOURS, |(horizontal, vertical)| (x.at(horizontal), y.at(vertical)));
        name(&mut picture, &line.label, x.at(line.points[line.points.len() - 1].0), (ends[index], label));
        picture.add("</g>");
    }
    picture.finish()
}

fn finite(line: &Line) -> Line {
    let points = line.points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
    Line { label: line.label.clone(), points }
}

/// From the least value of all lines to the greatest.
fn values(lines: &[Line], of: fn(&(f64, f64)) -> f64) -> (f64, f64) {
    match range(lines.iter().flat_map(|line| &line.points).map(of)) {
        None => (0.0, 1.0),
        // A single value still needs an axis, on which it is half-way.
        Some((low, high)) if low == high => (low - low.abs().max(1.0) * 0.1, low + low.abs().max(1.0) * 0.1),
        Some(both) => both,
    }
}

/// The line, and a dot for each of its points where they are few.
fn draw(picture: &mut Picture, line: &Line, dash: usize, place: impl Fn((f64, f64)) -> (f64, f64)) {
    let corners: Vec<_> = line.points.iter().map(|&point| place(point)).collect();
    picture.joined(&format!("line dash-{}", dash.min(2)), &corners);
    if corners.len() > MOST_DOTS {
        return;
    }
    for (corner, (across, up)) in corners.into_iter().zip(&line.points) {
        picture.dot("dot", corner, 3.5, &format!("{}: {across}, {up:.4}", line.label));
    }
}

/// The label of a line, with a leader to it from where the line ends.
fn name(picture: &mut Picture, label: &str, end: f64, (from, to): (f64, f64)) {
    let turn = RIGHT + 6.0;
    picture.joined("leader", &[(end + 6.0, from), (turn, from), (turn + 12.0, to)]);
    picture.text("name", (RIGHT + LEADER, to + 4.0), &shortened(label, LABEL, TEXT_SIZE));
}

/// Heights near the wanted ones, in the same order, that keep their distance and stay above the bottom.
fn spread_out(wanted: &[f64], bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    let mut heights = wanted.to_vec();
    let mut free = f64::NEG_INFINITY;
    for &index in &order {
        heights[index] = heights[index].max(free);
        free = heights[index] + SPACING;
    }
    let mut free = bottom;
    for &index in order.iter().rev() {
        heights[index] = heights[index].min(free);
        free = heights[index] - SPACING;
    }
    heights
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check_well_formed;

    fn drawn(lines_of_points: &[&[(f64, f64)]]) -> String {
        let line = |points: &&[(f64, f64)]| Line { label: "<DEAL> & co".into(), points: points.to_vec() };
        let svg = lines(&LineChart {
            title: "AUC <over> time".into(),
            x_label: "steps".into(),
            y_label: "AUC".into(),
            lines: lines_of_points.iter().map(line).collect(),
        });
        check_well_formed(&svg);
        svg
    }

    #[test]
    fn a_line_has_its_label_and_points() {
        let svg = drawn(&[&[(0.0, 0.5), (100.0, 0.9)]]);
        assert!(svg.contains(">&lt;DEAL&gt; &amp; co</text>") && svg.contains("<title>AUC &lt;over&gt; time</title>"));
        assert_eq!(svg.matches("<circle").count(), 2);
    }

    #[test]
    fn lines_without_numbers_are_left_out() {
        assert!(drawn(&[]).contains("nothing was measured"));
        assert!(drawn(&[&[], &[(f64::NAN, 1.0), (1.0, f64::INFINITY)]]).contains("nothing was measured"));
        assert_eq!(drawn(&[&[(1.0, f64::NAN), (2.0, 0.7)], &[]]).matches("<circle").count(), 1);
    }

    #[test]
    fn equal_values_are_drawn() {
        drawn(&[&[(0.0, 0.0)], &[(0.0, 0.0)]]);
        drawn(&[&[(1e9, -3.0), (1e9, -3.0)]]);
    }

    #[test]
    fn labels_keep_their_distance_and_order() {
        let heights = spread_out(&[100.0, 50.0, 101.0, 100.5], 120.0);
        assert_eq!(heights, [86.0, 50.0, 120.0, 103.0]);
    }
}
