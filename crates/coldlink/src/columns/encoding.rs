//! What each kind of column becomes: the one table that the encoder, the schema and the preparation read.

use super::cell::{Cell, narrow};
use super::kind::{CellPart, ColumnKind, DateOrder, Decimal, Scale, Separator, StopWords, WordWeights};
use super::{times, words};
use crate::graph::Fitting;

/// Different words that are listed at most, before a vocabulary is chosen among them.
const MOST_WORDS: usize = 1 << 20;

/// What the cells of a column become.
#[derive(Clone, Copy)]
pub(super) enum Encoding {
    /// Nothing.
    Nothing,
    /// A few numbers, always the same ones, and one more attribute where they are missing.
    Parts(Parts),
    /// An attribute for each value, or for each bucket of values.
    Values(ValueColumn),
    /// An attribute for each number of a list, of so many where that is said.
    Vector(Option<u32>),
    /// An attribute for each number of the vector that token vectors make of a text.
    Encoded,
}

/// Numbers that every cell of a column becomes.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    pub parts: &'static [Part],
    /// Hands over what a cell says, part by part; false where it cannot be read.
    pub read: fn(Cell<'_>, &mut dyn FnMut(u32, f32)) -> bool,
}

/// One of these numbers.
pub(super) struct Part {
    /// Stands after the column's name, in brackets; empty where there is one part only.
    pub name: &'static str,
    pub fit: Fitting,
}

/// A column of values.
#[derive(Clone, Copy)]
pub(super) struct ValueColumn {
    pub split: Split,
    /// With more different values than this they are hashed into buckets.
    pub limit: usize,
    pub buckets: u32,
    /// Whether a value counts the more the oftener a cell has it.
    pub counted: bool,
    /// Whether listed values that are rare or unknown count as one, `(other)`.
    pub other: bool,
    /// Whether unknown values are nothing out of the ordinary.
    pub open: bool,
    pub fit: Fitting,
}

/// How a cell is split into values.
#[derive(Clone, Copy)]
pub(super) enum Split {
    /// It is one, or a part of it is.
    One(CellPart),
    /// `a|b|c`, or a list.
    Several(Separator),
    /// Its words, and their parts where these are asked for.
    Words(StopWords, bool),
}

const WORD: Fitting = Fitting::Unchanged { is_word: true };
const NUMBER: Fitting = Fitting::Unchanged { is_word: false };

impl ColumnKind {
    /// What cells of this kind become.
    pub(super) fn encoding(&self) -> Encoding {
        match *self {
            ColumnKind::Numeric { scale, decimal } => Encoding::Parts(Parts {
                parts: match scale {
                    Scale::Standard => &[Part { name: "", fit: Fitting::Standardised }],
                    Scale::Quantile => &[Part { name: "", fit: Fitting::Ranked }],
                    Scale::None => &[Part { name: "", fit: NUMBER }],
                },
                read: match decimal {
                    Decimal::Point => |cell, add| numeric(cell, Decimal::Point, add),
                    Decimal::Comma => |cell, add| numeric(cell, Decimal::Comma, add),
                },
            }),
            ColumnKind::Boolean {} => Encoding::Parts(Parts { parts: &[Part { name: "", fit: WORD }], read: boolean }),
            ColumnKind::DateTime { order } => Encoding::Parts(Parts {
                parts: &DATE_PARTS,
                read: match order {
                    DateOrder::MonthFirst => |cell, add| date_time(cell, DateOrder::MonthFirst, add),
                    DateOrder::DayFirst => |cell, add| date_time(cell, DateOrder::DayFirst, add),
                },
            }),
            ColumnKind::Categorical { rare, limit, buckets, part } => Encoding::Values(ValueColumn {
                split: Split::One(part),
                limit: limit as usize,
                buckets,
                counted: false,
                other: true,
                open: false,
                fit: Fitting::Grouped { at_least: rare },
            }),
            ColumnKind::MultiValued { rare, limit, buckets, separator } => Encoding::Values(ValueColumn {
                split: Split::Several(separator),
                limit: limit as usize,
                buckets,
                counted: false,
                other: true,
                open: false,
                fit: Fitting::Grouped { at_least: rare },
            }),
            ColumnKind::Text { encoder: Some(_), .. } => Encoding::Encoded,
            ColumnKind::Text { vocabulary, rare, stop_words, weights, hashed, buckets, parts, .. } => {
                let weighed = weights == WordWeights::TfIdf;
                Encoding::Values(ValueColumn {
                    split: Split::Words(stop_words, parts == Some(true)),
                    limit: if hashed { 0 } else { MOST_WORDS },
                    buckets,
                    counted: weighed,
                    other: false,
                    open: true,
                    fit: Fitting::Words { at_least: rare, most: vocabulary, weighed },
                })
            }
            ColumnKind::Type {} => Encoding::Values(ValueColumn {
                split: Split::One(CellPart::Whole),
                limit: usize::MAX,
                buckets: 1,
                counted: false,
                other: false,
                open: false,
                fit: WORD,
            }),
            ColumnKind::Vector { size } => Encoding::Vector(size),
            ColumnKind::Ignore {} => Encoding::Nothing,
        }
    }
}

impl Encoding {
    /// Whether words such as `n/a` say that nothing is known. They are values where any text may be one.
    pub(super) fn has_missing_words(&self) -> bool {
        matches!(self, Encoding::Parts(_) | Encoding::Vector(_))
    }
}

impl ValueColumn {
    /// Calls `each` with every value of a cell.
    pub fn read(&self, cell: Cell<'_>, each: &mut dyn FnMut(&str)) {
        match self.split {
            _ if cell.is_missing() => {}
            Split::One(CellPart::Whole) => each(&cell.to_text()),
            Split::One(CellPart::Domain) => each(&domain(&cell.to_text())),
            Split::One(CellPart::Starts) => starts(&cell.to_text(), each),
            Split::Several(separator) => cell.values(separator, each),
            Split::Words(stop_words, parts) => words::words(&cell.to_text(), stop_words, parts, each),
        }
    }

    /// What is fitted where values are hashed: of buckets, none is rare.
    pub fn fit_of_buckets(&self) -> Fitting {
        if self.other { WORD } else { self.fit }
    }
}

/// What says that the parts of a column are missing.
pub(super) const FIT_OF_MISSING: Fitting = WORD;

const DATE_PARTS: [Part; times::PARTS] = {
    let [year, month_sine, month_cosine, weekday_sine, weekday_cosine, hour_sine, hour_cosine] = times::PART_NAMES;
    [
        Part { name: year, fit: Fitting::Standardised },
        Part { name: month_sine, fit: NUMBER },
        Part { name: month_cosine, fit: NUMBER },
        Part { name: weekday_sine, fit: NUMBER },
        Part { name: weekday_cosine, fit: NUMBER },
        Part { name: hour_sine, fit: NUMBER },
        Part { name: hour_cosine, fit: NUMBER },
    ]
};

/// The host of an e-mail address or of a web address, in small letters; another text as it is.
pub(super) fn domain(text: &str) -> String {
    let start = text.split_once("://").map_or(text, |(_, rest)| rest);
    let place = start.split(['/', '?', '#']).next().unwrap_or(start);
    let host = place.rsplit_once('@').map_or(place, |(_, host)| host);
    let host = host.split(':').next().unwrap_or(host).trim_end_matches(['>', '.']).to_lowercase();
    host.strip_prefix("www.").map_or(host.clone(), str::to_owned)
}

/// The first one, two and three characters of a code, and all of it.
fn starts(text: &str, each: &mut dyn FnMut(&str)) {
    let borders = text.char_indices().map(|(place, _)| place).skip(1).take(3);
    borders.for_each(|border| each(text[..border].trim_end()));
    each(text);
}

fn numeric(cell: Cell<'_>, decimal: Decimal, add: &mut dyn FnMut(u32, f32)) -> bool {
    cell.number_with(decimal).and_then(narrow).map(|number| add(0, number)).is_some()
}

fn boolean(cell: Cell<'_>, add: &mut dyn FnMut(u32, f32)) -> bool {
    let flag = cell.boolean();
    if flag == Some(true) {
        add(0, 1.0);
    }
    flag.is_some()
}

fn date_time(cell: Cell<'_>, order: DateOrder, add: &mut dyn FnMut(u32, f32)) -> bool {
    let Some(moment) = cell.moment(order) else { return false };
    (0..).zip(times::parts(moment)).for_each(|(part, number)| add(part, number));
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(kind: &ColumnKind, text: &str) -> String {
        let Encoding::Values(column) = kind.encoding() else { panic!("{} has no values", kind.name()) };
        let mut found = Vec::new();
        column.read(Cell::Text(text), &mut |value| found.push(value.to_owned()));
        found.join(" ")
    }

    #[test]
    fn addresses_and_codes_are_used_by_their_parts() {
        let domain = ColumnKind::by_part(CellPart::Domain);
        let addresses =
            ["Ann@Example.org", "https://www.example.org:80/x?y=a@b", "Ann <ann@example.org>", "example.org"];
        addresses.iter().for_each(|address| assert_eq!(values(&domain, address), "example.org", "{address}"));
        let starts = ColumnKind::by_part(CellPart::Starts);
        assert_eq!(values(&starts, "01067"), "0 01 010 01067");
        assert_eq!(values(&starts, "SW1A 1AA"), "S SW SW1 SW1A 1AA");
        assert_eq!((values(&starts, "é"), values(&starts, "12")), ("é".to_owned(), "1 12".to_owned()));
    }
}
