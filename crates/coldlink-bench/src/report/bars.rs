//! Our AUC as bars beside the paper's, a panel per data set.

use coldlink_chart::{Bar, BarChart, Panel, number};

use super::compare::{Comparison, Metric};
use super::numbers::NONE;
use super::{Block, Cell, Mark, MethodRow, Table};

/// Bars of our AUC ± standard deviation for a block of a table, and a tick at the paper's value.
///
/// The axis starts at a round value below all others, which is written above the panels.
pub fn bars(table: &Table, block: usize) -> String {
    coldlink_chart::bars(&chart(table, table.blocks.get(block)))
}

fn chart(table: &Table, block: Option<&Block>) -> BarChart {
    let rows = block.map_or(&[][..], |block| &block.rows);
    let is_measured = |set: &usize| rows.iter().any(|row| row.cells.get(*set).is_some_and(|cell| cell.ours.is_some()));
    let sets: Vec<usize> = (0..table.sets.len()).filter(is_measured).collect();
    let low = axis_start(rows, &sets);
    let has_reference = rows.iter().flat_map(|row| &row.cells).any(Cell::is_reference);
    let marks = if has_reference { "; ▲ better, ▼ worse than the reference row" } else { "" };
    BarChart {
        title: block.map_or(table.title.clone(), |block| format!("{}: {}", table.title, block.label)),
        note: format!("AUC, from {} (not from 0) to 1{marks}", number(low, 1)),
        bar: "ours".to_owned(),
        tick: "the paper".to_owned(),
        range: (low, 1.0),
        rows: rows.iter().map(|row| row.label.clone()).collect(),
        panels: sets.iter().map(|&set| panel(rows, set, &table.sets[set].label)).collect(),
    }
}

/// A multiple of 0.1 below all values and their deviations.
fn axis_start(rows: &[MethodRow], sets: &[usize]) -> f64 {
    let cells = rows.iter().flat_map(|row| sets.iter().filter_map(|&set| row.cells.get(set)));
    let least = cells.map(|cell| least(Metric::Auc.compare(cell))).fold(0.95, f64::min);
    ((least - 0.01) * 10.0).floor().max(0.0) / 10.0
}

/// The least value that is drawn of a cell.
fn least(compared: Comparison) -> f64 {
    let ours = compared.ours.map(|ours| ours.mean - ours.sd.filter(|sd| sd.is_finite()).unwrap_or(0.0));
    compared.paper.unwrap_or(f64::INFINITY).min(ours.unwrap_or(f64::INFINITY))
}

/// The methods on one data set.
fn panel(rows: &[MethodRow], set: usize, label: &str) -> Panel {
    let bar = |row: &MethodRow| row.cells.get(set).map_or_else(Bar::default, |cell| bar(cell, &row.label, label));
    Panel { label: label.to_owned(), bars: rows.iter().map(bar).collect() }
}

fn bar(cell: &Cell, method: &str, set: &str) -> Bar {
    let compared = Metric::Auc.compare(cell);
    let reason = cell.empty.as_ref().map_or(String::new(), |reason| format!(", {reason}"));
    Bar {
        value: compared.ours.map(|ours| ours.mean),
        deviation: compared.ours.and_then(|ours| ours.sd),
        tick: compared.paper,
        is_reference: cell.is_reference(),
        label: value(cell),
        tooltip: format!("{method} on {set}: {}{reason}", compared.text("")),
    }
}

/// What stands beside a bar.
fn value(cell: &Cell) -> String {
    let Some(ours) = cell.ours.as_ref().filter(|ours| ours.auc.mean.is_finite()) else { return NONE.to_owned() };
    let mark = ours.mark.filter(|mark| matches!(mark, Mark::Better | Mark::Worse));
    number(ours.auc.mean, 3) + &mark.map_or(String::new(), |mark| format!(" {}", mark.sign().0))
}

#[cfg(test)]
mod tests {
    use coldlink_chart::check_well_formed;

    use super::super::samples::{check_contains, compared, empty_tables, table};
    use super::*;

    fn check(table: &Table, parts: &[&str]) {
        let svg = bars(table, 0);
        check_well_formed(&svg);
        check_contains(&svg, parts);
        assert!(!svg.contains("PubMed"), "only data sets that are here have a panel");
    }

    #[test]
    fn a_set_that_is_here_has_a_panel_with_bar_and_paper() {
        check(&table(compared(0.864, 0.871)), &["DEAL on Cora: .864 → .871 ±.008 (+.007)</title>", ">0.871 ▲</text>"]);
    }

    #[test]
    fn the_start_of_the_axis_is_below_all_values_and_stated() {
        check(&table(compared(0.864, 0.9)), &["AUC, from 0.8 (not from 0)"]);
        check(&table(compared(0.864, 0.801)), &["AUC, from 0.7 (not from 0)"]);
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
