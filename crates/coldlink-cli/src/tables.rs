//! Tables and numbers as a terminal shows them. Names of users are escaped where a terminal would obey them.

use std::fmt::Display;

use coldlink::text::printable;
use comfy_table::{Cell, CellAlignment, Table, presets};

/// A table without lines: text to the left, everything after the first column to the right.
pub struct Columns(Table);

impl Columns {
    /// A table with a header.
    pub fn new<T: Display>(header: impl IntoIterator<Item = T>) -> Self {
        let mut columns = Columns::bare();
        columns.0.set_header(cells(header));
        columns
    }

    /// A table without one.
    pub fn bare() -> Self {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        Columns(table)
    }

    /// Adds a row that ends in a text, which stands to the left.
    pub fn row_with_text<T: Display>(&mut self, row: impl IntoIterator<Item = T>, text: &str) {
        let mut cells = cells(row);
        cells.push(Cell::new(printable(text)));
        self.0.add_row(cells);
    }

    /// Adds a row.
    pub fn row<T: Display>(&mut self, row: impl IntoIterator<Item = T>) {
        self.0.add_row(cells(row));
    }
}

fn cells<T: Display>(row: impl IntoIterator<Item = T>) -> Vec<Cell> {
    let align = |(index, text): (usize, T)| {
        let alignment = if index == 0 { CellAlignment::Left } else { CellAlignment::Right };
        Cell::new(printable(&text.to_string())).set_alignment(alignment)
    };
    row.into_iter().enumerate().map(align).collect()
}

impl Display for Columns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for line in self.0.to_string().lines() {
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Facts, a line each: what, and how much.
#[derive(Default)]
pub struct Facts(Vec<(String, String)>);

impl Facts {
    /// Adds a line.
    pub fn add(&mut self, what: impl Into<String>, value: impl Display) {
        self.0.push((printable(&what.into()).into_owned(), printable(&value.to_string()).into_owned()));
    }
}

impl Display for Facts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let width = self.0.iter().map(|(what, _)| what.chars().count()).max().unwrap_or(0);
        self.0.iter().try_for_each(|(what, value)| writeln!(f, "  {what:width$}  {value}"))
    }
}

/// A whole number with its thousands apart.
pub fn whole(number: impl TryInto<u64>) -> String {
    coldlink_chart::thousands(&number.try_into().unwrap_or(u64::MAX).to_string())
}

/// So many of something, in the singular or the plural.
pub fn count(number: usize, thing: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{} {thing}{s}", whole(number))
}

/// A share in percent.
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    let decimals = if percent != 0.0 && percent.abs() < 0.995 { 3 } else { 1 };
    format!("{percent:.decimals$} %")
}

/// A metric with its deviation, where there is one.
pub fn metric(mean: Option<f64>, deviation: Option<f64>) -> String {
    match (mean, deviation) {
        (Some(mean), Some(deviation)) => format!("{mean:.3} ± {deviation:.3}"),
        (Some(mean), None) => format!("{mean:.3}"),
        (None, _) => "–".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_kept_apart() {
        let check = |number: u64, text: &str| assert_eq!(whole(number), text);
        check(0, "0");
        check(999, "999");
        check(1000, "1,000");
        check(12_345_678, "12,345,678");
    }

    #[test]
    fn a_name_cannot_break_out_of_its_cell() {
        let mut table = Columns::bare();
        table.row_with_text(["a\u{1b}[2J\nb", "1"], "\u{202e}x");
        assert_eq!(table.to_string().trim(), "a\\u{1b}[2J\\nb  1  \\u{202e}x");
        let mut facts = Facts::default();
        facts.add("column `\u{7}`", "x\ny");
        assert_eq!(facts.to_string(), "  column `\\u{7}`  x\\ny\n");
    }

    #[test]
    fn small_shares_keep_their_digits() {
        assert_eq!((percent(0.5), percent(0.00123), percent(0.0)), ("50.0 %".into(), "0.123 %".into(), "0.0 %".into()));
    }
}
