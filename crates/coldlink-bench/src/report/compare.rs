//! The paper's numbers against ours, laid out, with what has to be said beside them.

use super::numbers::{NONE, deviation, number, signed, three};
use super::{Block, Cell, Mark, MethodRow, SetColumn, Spread, Table};

/// A cell that lies further below the paper's AUC is listed.
const TOLERATED: f64 = 0.03;

/// The heading of what [`shortfalls`] lists.
pub const SHORTFALLS: &str = "Cells more than .03 AUC below the paper";

/// The headings of what [`costs`] lists.
pub const COSTS: [&str; 8] = ["method", "block", "set", "seeds", "MRR", "parameters", "steps", "seconds"];

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// The area under the ROC curve.
    Auc,
    /// The average precision.
    Ap,
}

impl Metric {
    /// In the order of tables.
    pub const ALL: [Metric; 2] = [Metric::Auc, Metric::Ap];

    /// What it is called in headings.
    pub fn label(self) -> &'static str {
        if self == Metric::Auc { "AUC" } else { "AP" }
    }

    /// The paper's value and ours; what is no number counts as missing.
    pub fn compare(self, cell: &Cell) -> Comparison {
        let paper = cell.paper.map(|paper| if self == Metric::Auc { paper.auc } else { paper.ap });
        let ours = cell.ours.as_ref().map(|ours| if self == Metric::Auc { ours.auc } else { ours.ap });
        Comparison { paper: paper.filter(|paper| paper.is_finite()), ours: ours.filter(|ours| ours.mean.is_finite()) }
    }
}

/// The paper's value and ours.
#[derive(Clone, Copy)]
pub struct Comparison {
    /// The paper's value.
    pub paper: Option<f64>,
    /// Our mean.
    pub ours: Option<Spread>,
}

impl Comparison {
    /// How much ours is above the paper's.
    pub fn difference(self) -> Option<f64> {
        Some(self.ours?.mean - self.paper?)
    }

    /// Whether ours is further below the paper's than tolerated.
    pub fn falls_short(self) -> bool {
        self.difference().is_some_and(|difference| difference < -TOLERATED - 1e-9)
    }

    /// Such as `.864 → .871 ±.008 (+.007)`, our mean between two marks for bold.
    pub fn text(self, bold: &str) -> String {
        let paper = self.paper.map_or(String::new(), |paper| three(paper) + " → ");
        let mean = |ours: Spread| format!("{bold}{}{bold}{}", three(ours.mean), deviation(ours));
        let difference = self.difference().map_or(String::new(), |difference| format!(" ({})", signed(difference)));
        paper + &self.ours.map_or(NONE.to_owned(), mean) + &difference
    }
}

impl Mark {
    /// The sign that stands for it, and what it means.
    pub fn sign(self) -> (&'static str, &'static str) {
        match self {
            Mark::Better => ("▲", "better than the reference row"),
            Mark::Worse => ("▼", "worse than the reference row"),
            Mark::NoDifference => ("=", "no difference from the reference row"),
            Mark::Reference => ("◆", "reference row"),
        }
    }
}

/// What the marks mean, in a sentence.
pub fn mark_legend() -> String {
    let marks = [Mark::Reference, Mark::Better, Mark::Worse, Mark::NoDifference].map(Mark::sign);
    format!("By a paired bootstrap: {}.", marks.map(|(sign, meaning)| format!("{sign} {meaning}")).join(", "))
}

impl Cell {
    /// Whether it is of the row that others are compared with.
    pub fn is_reference(&self) -> bool {
        self.ours.as_ref().is_some_and(|ours| ours.mark == Some(Mark::Reference))
    }
}

/// One metric of a block, laid out.
pub struct Grid<'a> {
    /// What its cells compare.
    pub metric: Metric,
    /// A column for each data set.
    pub headings: Vec<Heading<'a>>,
    /// A row for each method.
    pub rows: Vec<(&'a MethodRow, Vec<GridCell>)>,
}

/// The head of a data set's column.
pub struct Heading<'a> {
    /// The data set.
    pub set: &'a SetColumn,
    /// The number of the note why it is missing.
    pub note: Option<usize>,
    /// The share of linked pairs in its tests, without which no AP is shown.
    pub linked: String,
}

/// A method on a data set.
pub struct GridCell {
    /// The paper's value and ours.
    pub compared: Comparison,
    /// How it compares with the reference row.
    pub mark: Option<Mark>,
    /// The number of its note.
    pub note: Option<usize>,
}

impl<'a> Grid<'a> {
    /// The rows of a block; what is said of cells is added to the notes.
    pub fn new(metric: Metric, table: &'a Table, block: &'a Block, notes: &mut Notes) -> Self {
        let mut headings = Vec::new();
        for (index, set) in table.sets.iter().enumerate() {
            let note = set.missing.as_ref().map(|reason| notes.number(&format!("{}: {reason}", set.label)));
            headings.push(Heading { set, note, linked: share_linked(block, index) });
        }
        let mut cells = |row: &MethodRow| {
            // A cell without a heading would be an AP without its prevalence.
            row.cells.iter().take(table.sets.len()).map(|cell| GridCell::new(metric, cell, notes)).collect()
        };
        Grid { metric, headings, rows: block.rows.iter().map(|row| (row, cells(row))).collect() }
    }
}

impl GridCell {
    fn new(metric: Metric, cell: &Cell, notes: &mut Notes) -> Self {
        let ours = cell.ours.as_ref();
        let note = ours.map_or(&cell.empty, |ours| &ours.note).as_ref().map(|text| notes.number(text));
        // The bootstrap is of AUC.
        let mark = ours.and_then(|ours| ours.mark).filter(|_| metric == Metric::Auc);
        GridCell { compared: metric.compare(cell), mark, note }
    }
}

/// The share of linked pairs in the tests of a data set; from the least to the greatest where rows differ.
fn share_linked(block: &Block, set: usize) -> String {
    let cells = block.rows.iter().filter_map(|row| row.cells.get(set)?.ours.as_ref());
    let mut shares: Vec<_> = cells.map(|ours| three(ours.prevalence)).collect();
    shares.sort();
    match shares.as_slice() {
        [] => "not known".to_owned(),
        [first, .., last] if first != last => format!("{first} to {last}"),
        [share, ..] => share.clone(),
    }
}

/// Numbered notes below a table; equal ones have one number.
#[derive(Default)]
pub struct Notes {
    /// In the order of their numbers, which start at 1.
    pub texts: Vec<String>,
}

impl Notes {
    fn number(&mut self, text: &str) -> usize {
        let index = self.texts.iter().position(|known| known == text).unwrap_or_else(|| {
            self.texts.push(text.to_owned());
            self.texts.len() - 1
        });
        index + 1
    }
}

/// All cells of a table with their method, block and data set.
fn cells(table: &Table) -> impl Iterator<Item = ([&str; 3], &Cell)> {
    let rows = table.blocks.iter().flat_map(|block| block.rows.iter().map(move |row| (block, row)));
    rows.flat_map(|(block, row)| {
        let columns = table.sets.iter().zip(&row.cells);
        columns.map(move |(set, cell)| ([&row.label, &block.label, &set.label].map(String::as_str), cell))
    })
}

/// The cells that are too far below the paper's AUC, in words.
pub fn shortfalls(table: &Table) -> Vec<String> {
    let compared = cells(table).map(|(place, cell)| (place, Metric::Auc.compare(cell)));
    let short = compared.filter(|(_, compared)| compared.falls_short());
    short.map(|(place, compared)| format!("{}: {}", place.join(", "), compared.text(""))).collect()
}

/// What each measured cell took.
pub fn costs(table: &Table) -> Vec<[String; COSTS.len()]> {
    let measured = cells(table).filter_map(|(place, cell)| Some((place, cell.ours.as_ref()?)));
    measured
        .map(|(place, ours)| {
            let [method, block, set] = place.map(str::to_owned);
            let mrr = ours.mrr.map_or(NONE.to_owned(), |mrr| three(mrr.mean) + &deviation(mrr));
            let [parameters, steps] = [ours.parameters, ours.steps].map(|value| number(value, 0));
            [method, block, set, ours.seeds.to_string(), mrr, parameters, steps, number(ours.seconds, 1)]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::samples::{compared, table};
    use super::*;

    #[test]
    fn only_cells_more_than_tolerated_below_the_paper_fall_short() {
        let count = |auc| shortfalls(&table(compared(0.864, auc))).len();
        assert_eq!([count(0.833), count(0.834), count(0.9), count(f64::NAN)], [1, 0, 0, 0]);
    }

    #[test]
    fn prevalences_that_differ_are_told_as_a_range() {
        let mut block = table(compared(0.864, 0.9)).blocks.remove(0);
        assert_eq!([share_linked(&block, 0), share_linked(&block, 1)], [".315", "not known"]);
        block.rows.push(block.rows[0].clone());
        block.rows[0].cells[0].ours.as_mut().unwrap().prevalence = 0.5;
        assert_eq!(share_linked(&block, 0), ".315 to .500");
    }

    #[test]
    fn equal_notes_have_one_number() {
        let mut notes = Notes::default();
        assert_eq!(["three splits", "too slow", "three splits"].map(|text| notes.number(text)), [1, 2, 1]);
    }
}
