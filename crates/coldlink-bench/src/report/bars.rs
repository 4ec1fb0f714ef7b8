//! Our AUC as bars beside the paper's, a panel per data set.

use super::compare::{Comparison, Metric};
use super::numbers::{NONE, number, three};
use super::svg::{MARGIN, Picture, Scale, TEXT_SIZE, escaped, shortened, text_width, widest};
use super::{Block, Cell, Mark, Table};

/// How wide an axis is where there are one, two, or more panels side by side.
const PLOTS: [f64; 3] = [420.0, 230.0, 190.0];
/// Where the first row of panels starts.
const TOP: f64 = 84.0;
/// The room of a method.
const ROW: f64 = 22.0;
/// The thickness of a bar.
const BAR: f64 = 12.0;
/// The room of a panel's heading.
const HEADING: f64 = 26.0;
/// The room below a panel, for the numbers of its axis.
const AXIS: f64 = 40.0;
/// The room beside a bar, for its value and mark.
const VALUE: f64 = 54.0;
/// The room between panels.
const GAP: f64 = 14.0;
/// The most room of a method's name.
const NAME: f64 = 225.0;

/// Bars of our AUC ± standard deviation for a block of a table, and a tick at the paper's value.
///
/// The axis starts at a round value below all others, which is written above the panels.
pub fn bars(table: &Table, block: usize) -> String {
    let is_measured = |block: &Block, set: usize| {
        block.rows.iter().any(|row| row.cells.get(set).is_some_and(|cell| cell.ours.is_some()))
    };
    let block = table.blocks.get(block);
    let sets: Vec<usize> =
        (0..table.sets.len()).filter(|&set| block.is_some_and(|block| is_measured(block, set))).collect();
    let Some(block) = block.filter(|_| !sets.is_empty()) else {
        let mut picture = Picture::new(&table.title, (560.0, 90.0));
        picture.text("", (MARGIN, 60.0), "nothing was measured");
        return picture.finish();
    };
    let layout = Layout::new(block, &sets);
    let mut picture = Picture::new(&format!("{}: {}", table.title, block.label), layout.size(sets.len()));
    legend(&mut picture, layout.low, block);
    for (index, &set) in sets.iter().enumerate() {
        panel(&mut picture, &layout, index, (&table.sets[set].label, block, set));
    }
    picture.finish()
}

/// Where panels are, and where their axes start.
struct Layout {
    columns: usize,
    methods: usize,
    names: f64,
    plot: f64,
    low: f64,
}

impl Layout {
    fn new(block: &Block, sets: &[usize]) -> Self {
        let columns = sets.len().min(PLOTS.len());
        let names = widest(block.rows.iter().map(|row| row.label.as_str())).clamp(30.0, NAME);
        Layout { columns, methods: block.rows.len(), names, plot: PLOTS[columns - 1], low: axis_start(block, sets) }
    }

    fn panel_height(&self) -> f64 {
        HEADING + self.methods as f64 * ROW + AXIS
    }

    /// The left end of a panel's axis, and the panel's top.
    fn place(&self, panel: usize) -> (f64, f64) {
        let (row, column) = (panel / self.columns, panel % self.columns);
        let left = MARGIN + self.names + 8.0 + column as f64 * (self.plot + VALUE + GAP);
        (left, TOP + row as f64 * self.panel_height())
    }

    fn size(&self, panels: usize) -> (f64, f64) {
        let right = self.place(self.columns - 1).0 + self.plot + VALUE;
        (right + MARGIN, TOP + panels.div_ceil(self.columns) as f64 * self.panel_height())
    }
}

/// A multiple of .1 below all values and their deviations.
fn axis_start(block: &Block, sets: &[usize]) -> f64 {
    let cells = block.rows.iter().flat_map(|row| sets.iter().filter_map(|&set| row.cells.get(set)));
    let least = cells.map(|cell| least(Metric::Auc.compare(cell))).fold(0.95, f64::min);
    ((least - 0.01) * 10.0).floor().max(0.0) / 10.0
}

/// The least value that is drawn of a cell.
fn least(compared: Comparison) -> f64 {
    let ours = compared.ours.map(|ours| ours.mean - ours.sd.filter(|sd| sd.is_finite()).unwrap_or(0.0));
    compared.paper.unwrap_or(f64::INFINITY).min(ours.unwrap_or(f64::INFINITY))
}

/// What bars, ticks and marks mean.
fn legend(picture: &mut Picture, low: f64, block: &Block) {
    let keys = [
        (r#"<rect class="bar" y="-6" width="18" height="12"/>"#, "ours"),
        (r#"<rect class="bar reference" y="-6" width="18" height="12"/>"#, "ours, reference row"),
        (r#"<path class="whisker" d="M1 -4V4M1 0H17M17 -4V4"/>"#, "± standard deviation"),
        (r#"<path class="paper" d="M12 -8V8"/>"#, "the paper"),
    ];
    let has_reference = block.rows.iter().flat_map(|row| &row.cells).any(Cell::is_reference);
    let mut x = MARGIN;
    for (mark, meaning) in keys.into_iter().filter(|(mark, _)| has_reference || !mark.contains("reference")) {
        picture.add(format!(r#"<g transform="translate({x:.1} 50)">{mark}</g>"#));
        picture.text("", (x + 25.0, 54.0), meaning);
        x += 25.0 + text_width(meaning, TEXT_SIZE) + 12.0;
    }
    let marks = if has_reference { "; ▲ better, ▼ worse than the reference row" } else { "" };
    picture.text("", (MARGIN, 74.0), &format!("AUC, from {} (not from 0) to 1{marks}", number(low, 1)));
}

/// The methods on one data set; their names stand beside the leftmost panels.
fn panel(picture: &mut Picture, layout: &Layout, index: usize, (label, block, set): (&str, &Block, usize)) {
    let (left, top) = layout.place(index);
    let right = left + layout.plot;
    let scale = Scale::new((layout.low, 1.0), (left, right));
    picture.text("strong", (left, top + 14.0), &shortened(label, layout.plot + VALUE, TEXT_SIZE));
    axis(picture, &scale, (top + HEADING, top + layout.panel_height() - AXIS));
    for (row, method) in block.rows.iter().enumerate() {
        let middle = top + HEADING + (row as f64 + 0.5) * ROW;
        if index.is_multiple_of(layout.columns) {
            let name = shortened(&method.label, layout.names, TEXT_SIZE);
            picture.text("note end", (left - 8.0, middle + 4.0), &name);
        }
        let Some(cell) = method.cells.get(set) else { continue };
        let compared = Metric::Auc.compare(cell);
        let reason = cell.empty.as_ref().map_or(String::new(), |reason| format!(", {reason}"));
        let told = format!("{} on {label}: {}{reason}", method.label, compared.text(""));
        picture.add(format!("<g><title>{}</title>", escaped(&told)));
        bar(picture, &scale, middle, (compared, cell.is_reference()));
        picture.text("note", (right + 8.0, middle + 4.0), &value(cell));
        picture.add("</g>");
    }
}

/// The grid, the axis and its numbers.
fn axis(picture: &mut Picture, scale: &Scale, (top, bottom): (f64, f64)) {
    for (at, label) in scale.ticks(4.0) {
        picture.path("grid", &format!("M{at:.1} {top:.1}V{bottom:.1}"));
        picture.text("middle", (at, bottom + 16.0), &label);
    }
    picture.path("axis", &format!("M{:.1} {top:.1}V{bottom:.1}", scale.at(f64::NEG_INFINITY)));
}

/// The bar with its deviation, and the paper's tick.
fn bar(picture: &mut Picture, scale: &Scale, middle: f64, (compared, is_reference): (Comparison, bool)) {
    if let Some(ours) = compared.ours {
        let class = if is_reference { "bar reference" } else { "bar" };
        let (start, end) = (scale.at(f64::NEG_INFINITY), scale.at(ours.mean));
        let (top, bottom) = (middle - BAR / 2.0, middle + BAR / 2.0);
        picture.path(class, &format!("M{start:.1} {top:.1}H{end:.1}V{bottom:.1}H{start:.1}Z"));
        if let Some(sd) = ours.sd.filter(|sd| sd.is_finite()) {
            let (low, high) = (scale.at(ours.mean - sd), scale.at(ours.mean + sd));
            let caps = format!("M{low:.1} {0:.1}v7M{high:.1} {0:.1}v7", middle - 3.5);
            picture.path("whisker", &format!("{caps}M{low:.1} {middle:.1}H{high:.1}"));
        }
    }
    if let Some(paper) = compared.paper {
        picture.path("paper", &format!("M{:.1} {:.1}v18", scale.at(paper), middle - 9.0));
    }
}

/// What stands beside a bar.
fn value(cell: &Cell) -> String {
    let Some(ours) = cell.ours.as_ref().filter(|ours| ours.auc.mean.is_finite()) else { return NONE.to_owned() };
    let mark = ours.mark.filter(|mark| matches!(mark, Mark::Better | Mark::Worse));
    three(ours.auc.mean) + &mark.map_or(String::new(), |mark| format!(" {}", mark.sign().0))
}

#[cfg(test)]
mod tests {
    use super::super::samples::{check_contains, check_well_formed, compared, empty_tables, table};
    use super::*;

    fn check(table: &Table, parts: &[&str]) {
        let svg = bars(table, 0);
        check_well_formed(&svg);
        check_contains(&svg, parts);
        assert!(!svg.contains("PubMed"), "only data sets that are here have a panel");
    }

    #[test]
    fn a_set_that_is_here_has_a_panel_with_bar_and_paper() {
        check(&table(compared(0.864, 0.871)), &["DEAL on Cora: .864 → .871 ±.008 (+.007)</title>", ">.871 ▲</text>"]);
    }

    #[test]
    fn the_start_of_the_axis_is_below_all_values_and_stated() {
        check(&table(compared(0.864, 0.9)), &["AUC, from .8 (not from 0)"]);
        check(&table(compared(0.864, 0.801)), &["AUC, from .7 (not from 0)"]);
    }

    #[test]
    fn text_is_escaped() {
        let mut table = table(compared(0.864, 0.871));
        table.sets[0].label = "<b>&".into();
        table.blocks[0].label = "\"</title>".into();
        check(&table, &[">&lt;b&gt;&amp;</text>"]);
    }

    #[test]
    fn nothing_measured_is_drawn() {
        empty_tables().iter().for_each(|table| check(table, &[]));
        check(&table(compared(f64::NAN, f64::NAN)), &[">–</text>"]);
        assert!(bars(&table(Cell::default()), 9).contains("nothing was measured"));
    }
}
