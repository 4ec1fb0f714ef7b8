//! A look through a table, to find out what its columns are.

use std::collections::HashSet;

use xxhash_rust::xxh3::xxh3_64;

use super::cell::{Cell, Cells};
use super::kind::{ColumnKind, Scale};

/// Rows from the first on in which different cells are counted.
const COUNTED: usize = 100_000;
/// A column of texts that has more different ones than this, in more than half of the rows, has nearly a text of its own in each
/// row.
const FEW: usize = 50;
/// Words in a cell from which on it is a text, even where cells are repeated.
const WORDS_OF_A_TEXT: f64 = 4.0;
/// A list of so many numbers is a vector even if all of them are whole.
const LONG_LIST: usize = 8;
/// A column of this name tells the type of each node.
const TYPE: &str = "node_type";

/// What the cells of a column have in common.
#[derive(Default)]
pub(crate) struct Survey {
    rows: usize,
    filled: usize,
    missing_words: usize,
    numbers: usize,
    booleans: usize,
    times: usize,
    vectors: usize,
    vector_size: Option<usize>,
    fractions: bool,
    several: bool,
    words: usize,
    different: HashSet<u64>,
    counted: usize,
}

impl Survey {
    /// Looks at one more row.
    pub fn look(&mut self, cell: Cell<'_>) {
        self.rows += 1;
        let cell = cell.tidy();
        if cell.is_missing() {
            return;
        }
        if cell.is_missing_word() {
            self.missing_words += 1;
        }
        let so_far = self.filled;
        self.filled += 1;
        let missing = self.missing_words;
        // What some earlier cell was not, the column is not.
        let still = |count: usize| count + missing >= so_far;
        if still(self.numbers) && cell.is_number() {
            self.numbers += 1;
        }
        if still(self.booleans) && cell.boolean().is_some() {
            self.booleans += 1;
        }
        if still(self.times) && cell.moment().is_some() {
            self.times += 1;
        }
        if still(self.vectors) && cell.is_list() {
            self.look_at_list(cell);
        }
        self.several |= cell.is_several();
        self.look_at_words(cell);
    }

    fn look_at_list(&mut self, cell: Cell<'_>) {
        let mut numbers = Vec::new();
        if cell.numbers(&mut numbers) && *self.vector_size.get_or_insert(numbers.len()) == numbers.len() {
            self.vectors += 1;
            self.fractions |= numbers.iter().any(|number| number.fract() != 0.0);
        }
    }

    /// Only a column of single values can be a text or a category.
    fn look_at_words(&mut self, cell: Cell<'_>) {
        if self.several {
            return;
        }
        self.words += if let Cell::Text(text) = cell { text.split_whitespace().count() } else { 1 };
        if self.rows <= COUNTED {
            self.counted += 1;
            self.different.insert(xxh3_64(cell.to_text().as_bytes()));
        }
    }

    /// What the column is.
    pub fn kind(&self, name: &str) -> ColumnKind {
        let told = self.filled - self.missing_words;
        let all = |count: usize| count >= told && told > 0;
        let nearly_unique = self.different.len() > FEW && 2 * self.different.len() > self.counted;
        let words_of_a_cell = self.words as f64 / self.filled.max(1) as f64;
        if name.is_empty() || told == 0 {
            ColumnKind::Ignore {}
        } else if all(self.numbers) {
            ColumnKind::Numeric { scale: Scale::Standard }
        } else if all(self.booleans) {
            ColumnKind::Boolean {}
        } else if all(self.times) {
            ColumnKind::DateTime {}
        } else if all(self.vectors) && self.is_vector() {
            ColumnKind::Vector {}
        } else if self.several {
            ColumnKind::multi_valued()
        } else if name.eq_ignore_ascii_case(TYPE) {
            ColumnKind::Type {}
        } else if words_of_a_cell >= WORDS_OF_A_TEXT || (nearly_unique && words_of_a_cell >= 1.5) {
            ColumnKind::text()
        } else if nearly_unique {
            ColumnKind::Ignore {}
        } else {
            ColumnKind::categorical()
        }
    }

    fn is_vector(&self) -> bool {
        self.vector_size.is_some_and(|size| size >= LONG_LIST || (size >= 2 && self.fractions))
    }
}

/// Looks at a row of all columns.
pub(crate) fn look_at_row(surveys: &mut [Survey], row: &dyn Cells) {
    surveys.iter_mut().enumerate().for_each(|(place, survey)| survey.look(row.cell(place)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: AsRef<str>>(cells: impl IntoIterator<Item = T>, expected: &str) {
        let mut survey = Survey::default();
        cells.into_iter().for_each(|cell| survey.look(Cell::Text(cell.as_ref())));
        assert_eq!(survey.kind("x").name(), expected);
    }

    #[test]
    fn a_column_is_what_all_of_its_cells_are() {
        check(["1", "", "-2e3", "n/a"], "numeric");
        check(["1", "2", "12A"], "categorical");
        check(["yes", "No", ""], "boolean");
        check(["1", "0"], "numeric");
        check(["2020-01-01", "", "1999-12-31"], "date-time");
        check(["[0.5, 1]", "[2, 3]"], "vector");
        check(["[1, 2]", "[3]"], "multi-valued");
        check(["[1, 2]", "[3, 4]"], "multi-valued");
        check(["a|b", "c"], "multi-valued");
        check(["", "NaN"], "ignore");
        check((0..60).map(|row| format!("title number {row}")), "text");
        check((0..60).map(|row| format!("key{row}")), "ignore");
        check((0..60).map(|row| format!("group {}", row % 4)), "categorical");
        check(["the same long text in all rows"; 4], "text");
        assert_eq!(Survey::default().kind("x"), ColumnKind::Ignore {});
    }
}
