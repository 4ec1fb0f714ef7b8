//! Horizontal bars in panels that share their rows and their axis.

use crate::axis::Axis;
use crate::picture::{MARGIN, Picture};
use crate::text::{TEXT_SIZE, escaped, shortened, widest};

/// How wide an axis is where there are one, two, or more panels side by side.
const PLOTS: [f64; 3] = [420.0, 230.0, 190.0];
/// Where the first row of panels starts.
const TOP: f64 = 84.0;
/// The height of a row.
const ROW: f64 = 22.0;
/// The thickness of a bar.
const BAR: f64 = 12.0;
/// The room of a panel's heading.
const HEADING: f64 = 26.0;
/// The room below a panel, for the numbers of its axis.
const AXIS: f64 = 40.0;
/// The room beside a bar, for its label.
const VALUE: f64 = 60.0;
/// The room between panels.
const GAP: f64 = 14.0;
/// The most room of a row's name.
const NAME: f64 = 225.0;
/// About how many numbers an axis has.
const TICKS: f64 = 4.0;

/// Bars in panels, with a row of the same name in each.
#[derive(Debug, Clone)]
pub struct BarChart {
    /// Its heading.
    pub title: String,
    /// What the axis measures and what labels mean, in a line above the panels.
    pub note: String,
    /// What a bar shows, for the legend.
    pub bar: String,
    /// What the tick beside a bar shows, for the legend.
    pub tick: String,
    /// The least and the greatest value of the axis.
    pub range: (f64, f64),
    /// The names of the rows.
    pub rows: Vec<String>,
    /// The panels.
    pub panels: Vec<Panel>,
}

/// A panel of bars.
#[derive(Debug, Clone)]
pub struct Panel {
    /// Its heading.
    pub label: String,
    /// A bar per row; further ones are left out.
    pub bars: Vec<Bar>,
}

/// A row of a panel. Values that are not finite are not drawn.
#[derive(Debug, Clone, Default)]
pub struct Bar {
    /// Where the bar ends.
    pub value: Option<f64>,
    /// The standard deviation of that value.
    pub deviation: Option<f64>,
    /// Where the tick is that the bar is compared with.
    pub tick: Option<f64>,
    /// Whether it stands out, since other rows are compared with it.
    pub is_reference: bool,
    /// What stands beside it.
    pub label: String,
    /// Its tooltip.
    pub tooltip: String,
}

/// A bar chart as an SVG file.
pub fn bars(chart: &BarChart) -> String {
    if chart.panels.is_empty() {
        let mut picture = Picture::new(&chart.title, (560.0, 90.0));
        picture.text("", (MARGIN, 60.0), "nothing was measured");
        return picture.finish();
    }
    let layout = Layout::new(chart);
    let mut picture = Picture::new(&chart.title, layout.size());
    legend(&mut picture, chart);
    picture.text("", (MARGIN, 74.0), &chart.note);
    for (index, panel) in chart.panels.iter().enumerate() {
        draw(&mut picture, chart, panel, layout.place(index));
        if index.is_multiple_of(layout.columns) {
            names(&mut picture, &layout, layout.place(index).start);
        }
    }
    picture.finish()
}

/// Where panels are.
struct Layout<'a> {
    chart: &'a BarChart,
    columns: usize,
    names: f64,
    plot: f64,
}

/// The place of a panel: the left end of its axis, its right end, and the panel's top.
struct Place {
    start: (f64, f64),
    right: f64,
}

impl<'a> Layout<'a> {
    fn new(chart: &'a BarChart) -> Self {
        let columns = chart.panels.len().min(PLOTS.len());
        let names = widest(chart.rows.iter().map(String::as_str)).clamp(30.0, NAME);
        Layout { chart, columns, names, plot: PLOTS[columns - 1] }
    }

    fn panel_height(&self) -> f64 {
        HEADING + self.chart.rows.len() as f64 * ROW + AXIS
    }

    fn place(&self, panel: usize) -> Place {
        let (row, column) = (panel / self.columns, panel % self.columns);
        let left = MARGIN + self.names + 8.0 + column as f64 * (self.plot + VALUE + GAP);
        Place { start: (left, TOP + row as f64 * self.panel_height()), right: left + self.plot }
    }

    fn size(&self) -> (f64, f64) {
        let rows = self.chart.panels.len().div_ceil(self.columns);
        (self.place(self.columns - 1).right + VALUE + MARGIN, TOP + rows as f64 * self.panel_height())
    }
}

/// What bars and ticks mean; only those that there are.
fn legend(picture: &mut Picture, chart: &BarChart) {
    let any = |is_so: fn(&Bar) -> bool| chart.panels.iter().flat_map(|panel| &panel.bars).any(is_so);
    let reference = format!("{}, reference row", chart.bar);
    let marks = [
        (true, r#"<rect class="bar" y="-6" width="18" height="12"/>"#, chart.bar.as_str()),
        (
            any(|bar| bar.is_reference),
            r#"<rect class="bar reference" y="-6" width="18" height="12"/>"#,
            reference.as_str(),
        ),
        (
            any(|bar| bar.deviation.is_some()),
            r#"<path class="whisker" d="M1 -4V4M1 0H17M17 -4V4"/>"#,
            "± standard deviation",
        ),
        (any(|bar| bar.tick.is_some()), r#"<path class="tick" d="M12 -8V8"/>"#, chart.tick.as_str()),
    ];
    let marks: Vec<_> =
        marks.into_iter().filter(|(is_there, ..)| *is_there).map(|(_, mark, meaning)| (mark, 18.0, meaning)).collect();
    picture.legend(50.0, &marks);
}

/// A panel without the names of its rows.
fn draw(picture: &mut Picture, chart: &BarChart, panel: &Panel, Place { start: (left, top), right }: Place) {
    let axis = Axis::new(chart.range, (left, right));
    picture.text("strong", (left, top + 14.0), &shortened(&panel.label, right - left + VALUE, TEXT_SIZE));
    let (first, last) = (top + HEADING, top + HEADING + chart.rows.len() as f64 * ROW);
    for (at, label) in axis.ticks(TICKS) {
        picture.path("grid", &format!("M{at:.1} {first:.1}V{last:.1}"));
        picture.text("middle", (at, last + 16.0), &label);
    }
    picture.path("axis", &format!("M{left:.1} {first:.1}V{last:.1}"));
    for (row, bar) in panel.bars.iter().take(chart.rows.len()).enumerate() {
        let middle = row_middle(top, row);
        picture.add(format!("<g><title>{}</title>", escaped(&bar.tooltip)));
        draw_bar(picture, &axis, middle, bar);
        picture.text("note", (right + 8.0, middle + 4.0), &bar.label);
        picture.add("</g>");
    }
}

/// The names of the rows of a panel that starts at a place.
fn names(picture: &mut Picture, layout: &Layout, (left, top): (f64, f64)) {
    for (row, name) in layout.chart.rows.iter().enumerate() {
        let name = shortened(name, layout.names, TEXT_SIZE);
        picture.text("note end", (left - 8.0, row_middle(top, row) + 4.0), &name);
    }
}

fn row_middle(top: f64, row: usize) -> f64 {
    top + HEADING + (row as f64 + 0.5) * ROW
}

/// The bar with its deviation, and the tick that it is compared with.
fn draw_bar(picture: &mut Picture, axis: &Axis, middle: f64, bar: &Bar) {
    let is_finite = |value: &f64| value.is_finite();
    if let Some(value) = bar.value.filter(is_finite) {
        let class = if bar.is_reference { "bar reference" } else { "bar" };
        let (start, end) = (axis.start, axis.at(value));
        let (top, bottom) = (middle - BAR / 2.0, middle + BAR / 2.0);
        picture.path(class, &format!("M{start:.1} {top:.1}H{end:.1}V{bottom:.1}H{start:.1}Z"));
        if let Some(deviation) = bar.deviation.filter(is_finite) {
            let (low, high) = (axis.at(value - deviation), axis.at(value + deviation));
            let caps = format!("M{low:.1} {0:.1}v7M{high:.1} {0:.1}v7", middle - 3.5);
            picture.path("whisker", &format!("{caps}M{low:.1} {middle:.1}H{high:.1}"));
        }
    }
    if let Some(tick) = bar.tick.filter(is_finite) {
        picture.path("tick", &format!("M{:.1} {:.1}v18", axis.at(tick), middle - 9.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check_well_formed;

    fn chart(panels: Vec<Panel>) -> BarChart {
        BarChart {
            title: "<methods> & sets".into(),
            note: "AUC".into(),
            bar: "ours".into(),
            tick: "theirs".into(),
            range: (0.5, 1.0),
            rows: vec!["DEAL".into(), "MLP".into()],
            panels,
        }
    }

    fn drawn(panels: Vec<Panel>) -> String {
        let svg = bars(&chart(panels));
        check_well_formed(&svg);
        svg
    }

    #[test]
    fn a_row_has_its_name_once_per_row_of_panels_and_its_bar_in_each() {
        let bar = Bar { value: Some(0.9), label: "0.900".into(), tooltip: "a & b".into(), ..Bar::default() };
        let panel = Panel { label: "Cora".into(), bars: vec![bar.clone(), bar] };
        let svg = drawn(vec![panel; 4]);
        assert_eq!(svg.matches(">DEAL</text>").count(), 2);
        assert_eq!(svg.matches(r#"<path class="bar""#).count(), 8);
        assert_eq!(svg.matches("<title>a &amp; b</title>").count(), 8);
    }

    #[test]
    fn the_legend_names_only_what_is_drawn() {
        let with = |bar: Bar| drawn(vec![Panel { label: "Cora".into(), bars: vec![bar] }]);
        let plain = with(Bar { value: Some(0.9), ..Bar::default() });
        assert!(!plain.contains("theirs") && !plain.contains("deviation") && !plain.contains("reference row"));
        assert!(with(Bar { tick: Some(0.7), ..Bar::default() }).contains(">theirs</text>"));
        let full = Bar { value: Some(0.9), deviation: Some(0.1), is_reference: true, ..Bar::default() };
        assert!(with(full.clone()).contains(">± standard deviation</text>"));
        assert!(with(full).contains(">ours, reference row</text>"));
    }

    #[test]
    fn values_that_are_no_numbers_and_surplus_bars_are_left_out() {
        let bar = Bar { value: Some(f64::NAN), tick: Some(f64::INFINITY), ..Bar::default() };
        let svg = drawn(vec![Panel { label: String::new(), bars: vec![bar; 9] }]);
        assert!(!svg.contains(r#"<path class="bar"#) && svg.matches("<g><title>").count() == 2);
        assert!(drawn(Vec::new()).contains("nothing was measured"));
    }
}
