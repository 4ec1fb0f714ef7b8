//! A look through a table, to find out what its columns are.

use std::collections::HashSet;

use csv::StringRecord;
use xxhash_rust::xxh3::xxh3_64;

use super::cells::{BETWEEN_VALUES, boolean, is_missing, list_of_numbers};
use super::kind::{ColumnKind, Scale};
use super::times;

/// Rows from the first on in which different cells are counted.
const COUNTED: usize = 100_000;
/// A column of texts that has more different ones than this, in more than half of the rows, has nearly a text of its own in each
/// row.
const FEW: usize = 50;
/// Words in a cell from which on it is a text, even where cells are repeated.
const WORDS_OF_A_TEXT: f64 = 4.0;
/// A list of so many numbers is a vector even if all of them are whole.
const LONG_LIST: usize = 8;
/// A column of this name says what kind of node each is.
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
    pub fn look(&mut self, cell: &str) {
        self.rows += 1;
        if cell.is_empty() {
            return;
        }
        if is_missing(cell) {
            self.missing_words += 1;
        }
        let so_far = self.filled;
        self.filled += 1;
        let missing = self.missing_words;
        // What some earlier cell was not, the column is not.
        let still = |count: usize| count + missing >= so_far;
        if still(self.numbers) && cell.parse::<f64>().is_ok_and(f64::is_finite) {
            self.numbers += 1;
        }
        if still(self.booleans) && boolean(cell).is_some() {
            self.booleans += 1;
        }
        if still(self.times) && times::parse(cell).is_some() {
            self.times += 1;
        }
        if still(self.vectors)
            && cell.starts_with('[')
            && let Some(numbers) = list_of_numbers(cell)
            && *self.vector_size.get_or_insert(numbers.len()) == numbers.len()
        {
            self.vectors += 1;
            self.fractions |= numbers.iter().any(|number| number.fract() != 0.0);
        }
        self.several |= cell.contains(BETWEEN_VALUES) || cell.starts_with('[');
        self.words += cell.split_whitespace().count();
        if self.rows <= COUNTED {
            self.counted += 1;
            self.different.insert(xxh3_64(cell.as_bytes()));
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
pub(crate) fn look_at_row(surveys: &mut [Survey], row: &StringRecord) {
    surveys.iter_mut().zip(row).for_each(|(survey, cell)| survey.look(cell));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: AsRef<str>>(cells: impl IntoIterator<Item = T>, expected: &str) {
        let mut survey = Survey::default();
        cells.into_iter().for_each(|cell| survey.look(cell.as_ref()));
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
