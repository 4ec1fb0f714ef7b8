//! A look through a table: what the cells of each column have in common. `rules.rs` decides what the column is.

use std::collections::{HashMap, HashSet};

use xxhash_rust::xxh3::xxh3_64;

use super::cell::{Cell, Cells};
use super::encoding::domain;
use super::kind::{Separator, StopWords};
use super::mismatches::short;
use super::words::words;
use super::{numbers, times};

/// Rows from the first on in which different cells and different values are counted.
const COUNTED: usize = 100_000;
/// Cells in which the words of names are counted.
const COUNTED_NAMES: usize = 20_000;
/// So many different ones are few, however many rows there are.
const FEW: usize = 50;
/// So many names of rows are in other columns by chance.
const FEWEST_NAMED: usize = 2;
/// Cells that are kept to show.
const SAMPLES: usize = 3;
/// Values are long from this many words or characters on.
const LONG_VALUE: (usize, usize) = (6, 40);
/// So many values are enough to see that they are long.
const ENOUGH: usize = 1_000;

/// How many of so many cells may be odd: one in a hundred; of fewer than about a thousand, where a hundredth would be too few to
/// count, a third of the square root, which is 1 of 9, 2 of 36, 3 of 100.
pub(super) fn odd_ones(cells: usize) -> usize {
    (cells / 100).max(((cells as f64).sqrt() / 3.0) as usize)
}

/// What the cells of a column have in common.
#[derive(Default)]
pub(super) struct Survey {
    rows: usize,
    filled: usize,
    missing_words: usize,
    /// One after the other, as one number: columns with the same cells have the same.
    content: u64,
    first: Option<u64>,
    varies: bool,
    different: HashSet<u64>,
    counted: usize,
    words: usize,
    pub numbers: Numbers,
    trues: usize,
    falses: usize,
    pub dates: Dates,
    pub lists: usize,
    vectors: HashMap<usize, usize>,
    fractions: bool,
    separated: [Values; 3],
    emails: usize,
    urls: usize,
    hexes: usize,
    domains: Values,
    names: Names,
    pub samples: Vec<String>,
}

/// Cells that are numbers.
#[derive(Default)]
pub(super) struct Numbers {
    pub cells: usize,
    pub with_point: usize,
    pub with_comma: usize,
    whole: usize,
    /// Texts of digits alone, those with a zero first, and those as wide as the first.
    digits: usize,
    zero_first: usize,
    width: usize,
    of_width: usize,
}

/// Cells that are dates.
#[derive(Default)]
pub(super) struct Dates {
    pub cells: usize,
    pub month_first: usize,
    pub day_first: usize,
    pub either: usize,
}

/// The values of cells that have several, or parts of cells.
#[derive(Default)]
struct Values {
    /// Cells that have more than one.
    cells: usize,
    count: usize,
    words: usize,
    long: usize,
    different: HashSet<u64>,
}

/// The words of cells that may be names.
#[derive(Default)]
struct Names {
    cells: usize,
    words: HashMap<u64, u32>,
}

impl Numbers {
    fn look(&mut self, cell: Cell<'_>) {
        let shape = match cell {
            Cell::Text(text) => numbers::shape(text),
            other => other.number().map(|_| numbers::Shape::Any),
        };
        let Some(shape) = shape else { return };
        self.cells += 1;
        self.with_point += usize::from(shape == numbers::Shape::Point);
        self.with_comma += usize::from(shape == numbers::Shape::Comma);
        match cell {
            Cell::Text(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.whole += 1;
                self.digits += 1;
                self.zero_first += usize::from(text.len() > 1 && text.starts_with('0'));
                self.width = if self.width == 0 { text.len() } else { self.width };
                self.of_width += usize::from(text.len() == self.width);
            }
            Cell::Integer(_) => self.whole += 1,
            _ => {}
        }
    }
}

impl Dates {
    fn look(&mut self, cell: Cell<'_>) {
        let shape = match cell {
            Cell::Text(text) => times::shape(text),
            Cell::Date(_) | Cell::Time(_) => Some(times::Shape::Any),
            _ => None,
        };
        self.cells += usize::from(shape.is_some());
        match shape {
            Some(times::Shape::MonthFirst) => self.month_first += 1,
            Some(times::Shape::DayFirst) => self.day_first += 1,
            Some(times::Shape::Either) => self.either += 1,
            _ => {}
        }
    }
}

impl Values {
    fn add(&mut self, value: &str) {
        // That values are long is seen from some.
        if self.count > ENOUGH && self.are_long() {
            return;
        }
        let words = value.split_whitespace().count();
        self.count += 1;
        self.words += words;
        self.long += usize::from(words >= LONG_VALUE.0 || value.chars().count() >= LONG_VALUE.1);
        self.different.insert(xxh3_64(value.as_bytes()));
    }

    fn are_long(&self) -> bool {
        self.words > 3 * self.count || 20 * self.long > self.count
    }

    fn are_few(&self) -> bool {
        self.different.len() <= FEW
    }

    /// Whether each is there so many times, on average.
    fn repeat(&self, times: f64) -> bool {
        self.count as f64 >= times * self.different.len() as f64
    }
}

impl Names {
    fn look(&mut self, text: &str) {
        if self.cells == COUNTED_NAMES {
            return;
        }
        self.cells += 1;
        let mut of_cell = HashSet::new();
        words(text, StopWords::None, true, |word| {
            if word.chars().count() > 2 && word.chars().all(char::is_alphabetic) {
                of_cell.insert(xxh3_64(word.as_bytes()));
            }
        });
        of_cell.into_iter().for_each(|word| *self.words.entry(word).or_default() += 1);
    }

    /// Whether half of the cells, on average, have a word that some others have and not all.
    fn have_common_words(&self) -> bool {
        let common = self.words.values().filter(|&&cells| cells > 1 && 2 * cells as usize <= self.cells);
        2 * common.map(|&cells| cells as usize).sum::<usize>() >= self.cells.max(1)
    }
}

impl Survey {
    /// Looks at one more row.
    pub fn look(&mut self, cell: Cell<'_>) {
        self.rows += 1;
        let cell = cell.tidy();
        let text = cell.to_text();
        let hash = xxh3_64(text.as_bytes());
        self.content = self.content.rotate_left(5).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ hash;
        if cell.is_missing() {
            return;
        }
        self.filled += 1;
        self.varies |= *self.first.get_or_insert(hash) != hash;
        if cell.is_missing_word() {
            self.missing_words += 1;
            return;
        }
        if self.rows <= COUNTED {
            self.counted += 1;
            if self.different.insert(hash) && self.samples.len() < SAMPLES {
                self.samples.push(short(&text));
            }
        }
        self.numbers.look(cell);
        self.dates.look(cell);
        match cell.boolean() {
            Some(true) => self.trues += 1,
            Some(false) => self.falses += 1,
            None => {}
        }
        if cell.is_list() {
            self.look_at_list(cell);
        } else {
            self.look_at_text(&text);
        }
    }

    fn look_at_list(&mut self, cell: Cell<'_>) {
        self.lists += 1;
        self.separated.iter_mut().for_each(|values| values.cells += 1);
        let mut numbers = Vec::new();
        if cell.numbers(&mut numbers) {
            *self.vectors.entry(numbers.len()).or_default() += 1;
            self.fractions |= numbers.iter().any(|number| number.fract() != 0.0);
        }
    }

    fn look_at_text(&mut self, text: &str) {
        self.words += count_words(text);
        for (values, separator) in self.separated.iter_mut().zip(Separator::ALL) {
            values.cells += usize::from(text.contains(separator.mark()));
            if self.rows <= COUNTED {
                let parts = text.split(separator.mark()).map(str::trim).filter(|value| !value.is_empty());
                parts.for_each(|value| values.add(value));
            }
        }
        if is_email(text) || is_url(text) {
            self.emails += usize::from(is_email(text));
            self.urls += usize::from(is_url(text));
            if self.rows <= COUNTED {
                self.domains.add(&domain(text));
            }
        }
        self.hexes += usize::from(is_hex(text));
        self.names.look(text);
    }

    /// How many cells say something.
    pub fn told(&self) -> usize {
        self.filled - self.missing_words
    }

    /// Whether so many are nearly all cells that say something.
    pub fn nearly_all(&self, cells: usize) -> bool {
        self.told() > 0 && cells + odd_ones(self.told()) >= self.told() && cells > 0
    }

    /// Whether so many are most of the cells, though not nearly all.
    pub fn most(&self, cells: usize) -> bool {
        5 * cells >= 4 * self.told() && !self.nearly_all(cells)
    }

    /// Whether every row says the same.
    pub fn is_constant(&self) -> bool {
        self.rows > 1 && self.filled == self.rows && !self.varies
    }

    /// Whether all cells are those of another column.
    pub fn is_same_as(&self, other: &Survey) -> bool {
        self.told() > 0 && self.rows == other.rows && self.content == other.content
    }

    /// Whether most rows have a cell of their own.
    pub fn is_mostly_different(&self) -> bool {
        2 * self.different.len() > self.counted
    }

    /// The same, where there are too many different ones to be categories.
    pub fn is_nearly_unique(&self) -> bool {
        self.is_mostly_different() && self.different.len() > FEW
    }

    /// Whether nearly all different cells are among the names of rows. Some numbers always are.
    pub fn names_rows_of(&self, names: &Survey) -> bool {
        let (found, all) = (self.different.intersection(&names.different).count(), self.different.len());
        let least = if names.are_whole() { names.different.len() / 5 } else { 0 };
        names.rows <= COUNTED && found > FEWEST_NAMED.max(least) && 20 * found >= 19 * all
    }

    /// Words in a cell, on average.
    pub fn words_of_a_cell(&self) -> f64 {
        self.words as f64 / self.told().max(1) as f64
    }

    pub fn are_booleans(&self) -> bool {
        self.nearly_all(self.trues + self.falses) && self.trues > 0 && self.falses > 0
    }

    pub fn are_whole(&self) -> bool {
        self.nearly_all(self.numbers.whole)
    }

    /// The width of digits, where nearly all cells have as many and some start with a zero.
    pub fn code_width(&self) -> Option<usize> {
        let Numbers { digits, zero_first, width, of_width, .. } = self.numbers;
        let is_code = self.nearly_all(digits.min(of_width)) && zero_first > odd_ones(self.told());
        is_code.then_some(width)
    }

    /// How many numbers nearly all cells are a list of: two or more, unless they could be values.
    pub fn vector_size(&self) -> Option<u32> {
        const LONG_LIST: usize = 8;
        let (&size, &cells) = self.vectors.iter().max_by_key(|(size, cells)| (**cells, **size))?;
        let is_vector = size >= LONG_LIST || (size >= 2 && self.fractions);
        (self.nearly_all(cells) && is_vector).then_some(size as u32)
    }

    /// Whether half of the cells are lists.
    pub fn are_lists(&self) -> bool {
        self.told() > 0 && 2 * self.lists >= self.told()
    }

    /// What stands between short values that are there again and again. A bar means it wherever more than odd cells have it;
    /// commas and semicolons stand in texts as well, so that a fifth of the cells must have them and values repeat more.
    pub fn separator(&self) -> Option<Separator> {
        let is_list = |(values, separator): &(&Values, Separator)| {
            let cells = values.cells > odd_ones(self.told());
            let of_values = match separator {
                Separator::Bar => values.are_few() || values.repeat(2.0),
                _ if 5 * values.cells < self.told() => false,
                _ => values.repeat(3.0) || (values.are_few() && values.repeat(1.5)),
            };
            cells && of_values && !values.are_long()
        };
        self.separated.iter().zip(Separator::ALL).find(is_list).map(|(_, separator)| separator)
    }

    /// Whether cells are e-mail addresses, and their domains few or the same again and again.
    pub fn are_emails(&self) -> bool {
        self.nearly_all(self.emails)
    }

    pub fn domains_repeat(&self) -> bool {
        self.domains.are_few() || self.domains.repeat(2.0)
    }

    pub fn are_urls(&self) -> bool {
        self.nearly_all(self.urls)
    }

    /// Whether cells are hashes or random numbers in hexadecimal digits.
    pub fn are_hex(&self) -> bool {
        self.nearly_all(self.hexes)
    }

    /// Whether names of nodes say something by their words.
    pub fn are_names_of_words(&self) -> bool {
        self.names_share_words() && !self.are_hex() && !self.are_emails() && !self.are_urls()
    }

    /// Whether many different cells are made of few words, as `Comedy Drama`, `Drama` and `Comedy Crime` are.
    pub fn are_made_of_few_words(&self) -> bool {
        let (words, cells) = (self.names.words.len(), self.different.len());
        let several = self.words_of_a_cell() >= 1.25 && cells > FEW;
        let common = self.names.words.values().filter(|&&cells| cells >= 3).count();
        several && words > 0 && 3 * words <= cells && 2 * common >= words
    }

    /// Whether cells are names that share words.
    pub fn names_share_words(&self) -> bool {
        self.names.have_common_words()
    }
}

/// Words of a text that has letters; two signs of a script without spaces count as one.
fn count_words(text: &str) -> usize {
    if !text.contains(char::is_alphabetic) {
        return 0;
    }
    let is_between = |c: char| c.is_whitespace() || matches!(c, '|' | ';' | ',');
    let words = text.split(is_between).filter(|word| !word.is_empty()).count();
    let is_sign = |c: &char| ('\u{2e80}'..='\u{9fff}').contains(c);
    words + if text.is_ascii() { 0 } else { text.chars().filter(is_sign).count() / 2 }
}

fn is_email(text: &str) -> bool {
    let host = text.split_once('@').filter(|(name, _)| !name.is_empty()).map(|(_, host)| host);
    !text.contains(char::is_whitespace) && host.is_some_and(|host| host.contains('.') && !host.contains(['@', '/']))
}

fn is_url(text: &str) -> bool {
    let starts = ["http://", "https://", "ftp://", "www."];
    starts.iter().any(|start| text.starts_with(start)) && !text.contains(char::is_whitespace)
}

fn is_hex(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or(text).trim_matches(['{', '}']);
    let hex = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
    digits.len() > 6 && digits.bytes().all(hex) && digits.bytes().any(|byte| byte.is_ascii_digit())
}

/// Looks at all columns of a table.
pub(crate) struct Surveys(pub(super) Vec<Survey>);

impl Surveys {
    pub fn of(columns: usize) -> Self {
        Surveys((0..columns).map(|_| Survey::default()).collect())
    }

    /// Looks at one more row.
    pub fn look(&mut self, row: &dyn Cells) {
        self.0.iter_mut().enumerate().for_each(|(place, survey)| survey.look(row.cell(place)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_cell_in_a_hundred_may_be_odd_and_more_where_there_are_few() {
        let found = [0, 3, 8, 9, 36, 100, 1_000, 60_000].map(odd_ones);
        assert_eq!(found, [0, 0, 0, 1, 2, 3, 10, 600]);
    }
}
