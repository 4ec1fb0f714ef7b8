//! What rows have that was not expected: each mismatch is counted, reported once, and handled by a stated rule.
//!
//! The cells of a missing column count as empty; an unknown column is ignored. An unknown value counts as `(other)` where its
//! column has that, and as nothing elsewhere. A cell that cannot be read as its column's kind counts as empty.

use super::problem::CellProblem;
use crate::graph::NodeTypes;
use crate::text::{all_quoted, quoted, start_of};

/// What was not expected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mismatches {
    /// Columns that rows should have.
    pub missing_columns: Vec<String>,
    /// Columns that rows have and nothing is made of.
    pub extra_columns: Vec<String>,
    /// Values that are not known, by column, in the order in which they were found. Words of texts are none: new ones are nothing out of
    /// the ordinary.
    pub unknown: Vec<UnknownValues>,
    /// Cells that cannot be read as their column's kind.
    pub unreadable: usize,
    /// The first of them: its line, and what is wrong.
    pub first_unreadable: Option<(u64, String)>,
    /// The same by column, in the order in which they were found.
    pub odd: Vec<OddCells>,
    /// Rows that say the same as an earlier one of that name.
    pub repeated_rows: usize,
    /// A column that tells more node types than can be told apart, and how many.
    pub too_many_types: Option<(String, usize)>,
}

/// Cells of a column that cannot be read as its kind and count as missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OddCells {
    /// The column.
    pub column: String,
    /// Its kind.
    pub kind: &'static str,
    /// How many there are.
    pub cells: usize,
    /// The line of the first.
    pub line: u64,
    /// The first of them that differ.
    pub examples: Vec<String>,
}

impl OddCells {
    /// Examples that are kept.
    const EXAMPLES: usize = 3;

    fn note(&self) -> String {
        let OddCells { column, kind, cells, line, examples } = self;
        let (cells_are, count) = match cells {
            1 => ("1 cell is".to_owned(), "counts"),
            _ => (format!("{cells} cells are"), "count"),
        };
        let examples = examples.join("`, `");
        format!("column `{column}`: {cells_are} not {kind} and {count} as missing, first on line {line}: `{examples}`")
    }
}

/// Values of a column that are not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnknownValues {
    /// The column.
    pub column: String,
    /// How many there are, the same one as often as rows have it.
    pub values: usize,
    /// The first of them that differ.
    pub examples: Vec<String>,
}

impl UnknownValues {
    /// Examples that are kept.
    const EXAMPLES: usize = 3;

    /// Counts one more.
    pub(super) fn add(&mut self, value: &str) {
        self.values += 1;
        self.keep(&short(value));
    }

    fn keep(&mut self, example: &String) {
        if self.examples.len() < UnknownValues::EXAMPLES && !self.examples.contains(example) {
            self.examples.push(example.clone());
        }
    }

    fn note(&self) -> String {
        let UnknownValues { column, values, examples } = self;
        let (s, are, such) = match (*values, examples.len()) {
            (1, _) => ("", "is", ":"),
            (values, found) if found < UnknownValues::EXAMPLES || values == found => ("s", "are", ":"),
            _ => ("s", "are", ", such as"),
        };
        let (column, examples) = (quoted(column), all_quoted(examples));
        format!("column `{column}`: {values} value{s} {are} unknown to the model{such} {examples}")
    }
}

/// As much of a cell as fits in a line.
pub(super) fn short(cell: &str) -> String {
    const MOST: usize = 60;
    start_of(cell, MOST).into_owned()
}

impl Mismatches {
    pub(super) fn unreadable(&mut self, line: u64, problem: &CellProblem) {
        self.unreadable += 1;
        self.first_unreadable.get_or_insert_with(|| (line, problem.to_string()));
        let CellProblem::Unreadable { column, kind, cell } = problem else { return };
        let place = self.odd.iter().position(|odd| odd.column == *column).unwrap_or_else(|| {
            self.odd.push(OddCells { column: column.clone(), kind, cells: 0, line, examples: Vec::new() });
            self.odd.len() - 1
        });
        let odd = &mut self.odd[place];
        odd.cells += 1;
        if odd.examples.len() < OddCells::EXAMPLES && !odd.examples.contains(cell) {
            odd.examples.push(cell.clone());
        }
    }

    /// Adds values of one cell that are not known.
    pub(super) fn add_unknown(&mut self, column: &str, found: &UnknownValues) {
        let place = self.unknown.iter().position(|known| known.column == column).unwrap_or_else(|| {
            self.unknown.push(UnknownValues { column: column.to_owned(), ..UnknownValues::default() });
            self.unknown.len() - 1
        });
        let known = &mut self.unknown[place];
        known.values += found.values;
        found.examples.iter().for_each(|example| known.keep(example));
    }

    /// What the user should know, a line each.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.missing_columns.is_empty() {
            let s = if self.missing_columns.len() == 1 { "" } else { "s" };
            notes.push(format!("missing column{s} {}: read as empty", all_quoted(&self.missing_columns)));
        }
        if !self.extra_columns.is_empty() {
            let (s, them) = if self.extra_columns.len() == 1 { ("", "it") } else { ("s", "them") };
            notes
                .push(format!("ignored column{s} {}: the model does not know {them}", all_quoted(&self.extra_columns)));
        }
        notes.extend(self.unknown.iter().map(UnknownValues::note));
        if self.repeated_rows > 0 {
            let s = if self.repeated_rows == 1 { "" } else { "s" };
            notes.push(format!("ignored {} repeated row{s}", self.repeated_rows));
        }
        notes.extend(self.odd.iter().map(OddCells::note));
        if let Some((column, types)) = &self.too_many_types {
            let most = NodeTypes::MOST;
            notes.push(format!(
                "column `{}` has {types} node types, more than {most}: all nodes count as one type; use fewer types, or give the column the kind `categorical`",
                quoted(column)
            ));
        }
        notes
    }
}
