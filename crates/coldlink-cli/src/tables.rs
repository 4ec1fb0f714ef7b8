//! Tables and numbers as a terminal shows them. Names of users are escaped where a terminal would obey them.

use std::fmt::Display;

use coldlink::text::printable;
use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Row, Table, presets};

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

    /// Adds a row of one line, with texts in some columns to the left; [`Columns::fit`] may cut these.
    pub fn line<T: Display>(&mut self, row: impl IntoIterator<Item = T>, texts: &[usize]) {
        self.0.add_row(line(row, texts));
    }

    /// A table with a header of which some columns have texts, for [`Columns::line`].
    pub fn of_lines<T: Display>(header: impl IntoIterator<Item = T>, texts: &[usize]) -> Self {
        let mut columns = Columns::bare();
        columns.0.set_header(line(header, texts));
        columns
    }

    /// Makes lines no wider than a terminal, by cutting the texts of some columns.
    pub fn fit(&mut self, width: u16, texts: &[usize]) {
        self.0.set_content_arrangement(ContentArrangement::Dynamic).set_width(width).set_truncation_indicator("…");
        let others = self.0.column_iter_mut().enumerate().filter(|(place, _)| !texts.contains(place));
        others.for_each(|(_, column)| _ = column.set_constraint(ColumnConstraint::ContentWidth));
    }

    /// Adds a row.
    pub fn row<T: Display>(&mut self, row: impl IntoIterator<Item = T>) {
        self.0.add_row(cells(row));
    }
}

fn line<T: Display>(row: impl IntoIterator<Item = T>, texts: &[usize]) -> Row {
    let to_the_left = |(place, cell): (usize, Cell)| match texts.contains(&place) {
        true => cell.set_alignment(CellAlignment::Left),
        false => cell,
    };
    let mut row = Row::from(cells(row).into_iter().enumerate().map(to_the_left).collect::<Vec<_>>());
    row.max_height(1);
    row
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
        table.line(["a\u{1b}[2J\nb", "1", "\u{202e}x"], &[2]);
        assert_eq!(table.to_string().trim(), "a\\u{1b}[2J\\nb  1  \\u{202e}x");
        let mut facts = Facts::default();
        facts.add("column `\u{7}`", "x\ny");
        assert_eq!(facts.to_string(), "  column `\\u{7}`  x\\ny\n");
    }

    #[test]
    fn texts_are_cut_to_the_width_and_nothing_else_is() {
        let mut table = Columns::of_lines(["name", "title", "probability"], &[1]);
        table.line(["p1", "A title that is much too long for a terminal as narrow as this one", "12.5 %"], &[1]);
        table.fit(50, &[1]);
        let text = table.to_string();
        assert!(text.lines().all(|line| line.chars().count() <= 50), "{text}");
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.len() == 2 && lines[1].contains("A title that is") && lines[1].contains("…"), "{text}");
        assert!(lines[0].ends_with("probability") && lines[1].ends_with("12.5 %"), "{text}");
    }

    #[test]
    fn small_shares_keep_their_digits() {
        assert_eq!((percent(0.5), percent(0.00123), percent(0.0)), ("50.0 %".into(), "0.123 %".into(), "0.0 %".into()));
    }
}
