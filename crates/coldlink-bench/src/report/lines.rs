//! A line chart with its labels at the ends of the lines.

use super::svg::{MARGIN, Picture, Scale, TEXT_SIZE, escaped, shortened, widest};
use super::{Chart, Line};

/// Where the lines start.
const LEFT: f64 = 76.0;
/// Where they end at most.
const RIGHT: f64 = 560.0;
/// The room between lines and their labels.
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

/// A line chart as an SVG file. Points that are no numbers are left out, and lines without others.
pub fn lines(chart: &Chart) -> String {
    let lines: Vec<Line> = chart.lines.iter().map(finite).filter(|line| !line.points.is_empty()).collect();
    let bottom = TOP + HEIGHT.max(lines.len() as f64 * SPACING);
    let labels = widest(lines.iter().map(|line| line.label.as_str())).min(LABEL);
    let mut picture = Picture::new(&chart.title, (RIGHT + LEADER + labels + MARGIN, bottom + BELOW));
    let x = Scale::new(range(&lines, |point| point.0, 0.0), (LEFT, RIGHT));
    let y = Scale::new(range(&lines, |point| point.1, 0.04), (bottom, TOP));
    axes(&mut picture, chart, &x, &y);
    if lines.is_empty() {
        picture.text("middle", ((LEFT + RIGHT) / 2.0, TOP + HEIGHT / 2.0), "nothing was measured");
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

/// From the least value to the greatest, each a share of their difference further out.
fn range(lines: &[Line], of: fn(&(f64, f64)) -> f64, further: f64) -> (f64, f64) {
    let values = || lines.iter().flat_map(|line| &line.points).map(of);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    if low > high {
        return (0.0, 1.0);
    }
    // A single value still needs an axis, on which it is half-way.
    let room = if low == high { low.abs().max(1.0) * 0.1 } else { further * (high - low) };
    (low - room, high + room)
}

/// Both axes with their labels, numbers and grid.
fn axes(picture: &mut Picture, chart: &Chart, x: &Scale, y: &Scale) {
    let bottom = y.at(f64::NEG_INFINITY);
    for (at, label) in x.ticks(6.0) {
        picture.path("axis", &format!("M{at:.1} {bottom:.1}v4"));
        picture.text("middle", (at, bottom + 18.0), &label);
    }
    for (at, label) in y.ticks(6.0) {
        picture.path("grid", &format!("M{LEFT} {at:.1}H{RIGHT}"));
        picture.text("end", (LEFT - 8.0, at + 4.0), &label);
    }
    picture.path("axis", &format!("M{LEFT} {bottom:.1}H{RIGHT}"));
    let across = shortened(&chart.x_label, RIGHT - LEFT, TEXT_SIZE);
    picture.text("note middle", ((LEFT + RIGHT) / 2.0, bottom + 40.0), &across);
    picture.add(format!(
        r#"<text class="note middle" transform="translate({:.1} {:.1}) rotate(-90)">{}</text>"#,
        MARGIN + 4.0,
        (TOP + bottom) / 2.0,
        escaped(&shortened(&chart.y_label, bottom - TOP, TEXT_SIZE))
    ));
}

/// The line, and a dot for each of its points where they are few.
fn draw(picture: &mut Picture, line: &Line, dash: usize, place: impl Fn((f64, f64)) -> (f64, f64)) {
    let corners: Vec<_> = line.points.iter().map(|&point| place(point)).collect();
    let path: Vec<_> = corners.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    picture.path(&format!("line dash-{}", dash.min(2)), &format!("M{}", path.join("L")));
    if corners.len() > MOST_DOTS {
        return;
    }
    for ((x, y), (across, up)) in corners.into_iter().zip(&line.points) {
        let told = escaped(&format!("{}: {across}, {up:.4}", line.label));
        picture.add(format!(r#"<circle class="dot" cx="{x:.1}" cy="{y:.1}" r="3.5"><title>{told}</title></circle>"#));
    }
}

/// The label of a line, with a leader to it from where the line ends.
fn name(picture: &mut Picture, label: &str, end: f64, (from, to): (f64, f64)) {
    let turn = RIGHT + 6.0;
    let start = end + 6.0;
    picture
        .path("leader", &format!("M{start:.1} {from:.1}L{:.1} {from:.1}L{:.1} {to:.1}", turn.max(start), turn + 12.0));
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
    use super::super::samples::check_well_formed;
    use super::*;

    fn drawn(lines_of_points: &[&[(f64, f64)]]) -> String {
        let line = |points: &&[(f64, f64)]| Line { label: "<DEAL> & co".into(), points: points.to_vec() };
        let svg = lines(&Chart {
            name: "curve".into(),
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
