//! One cell of a table, typed as its source has it, and what can be read from it.
//!
//! Text files give texts, JSON and Parquet numbers, flags, times and lists. A cell is never printed to be parsed again; it
//! becomes text only where text is asked for: a name, a word, a value.

use std::borrow::Cow;
use std::fmt;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use serde_json::Value;

use super::kind::{DateOrder, Decimal, Separator};
use super::{numbers, times};

/// Texts that say that nothing is known, where any other text would be an error.
const MISSING_WORDS: [&str; 18] = [
    "nan", "na", "n/a", "n.a.", "#n/a", "null", "(null)", "none", "nil", "-", "--", "?", "unknown", "missing", "tbd",
    "\\N", "–", "—",
];

/// What one cell of a table says.
#[derive(Clone, Copy)]
pub enum Cell<'a> {
    /// Nothing.
    Missing,
    /// A text. Where a column asks for something else, it is parsed.
    Text(&'a str),
    /// Whether something is so.
    Boolean(bool),
    /// A whole number.
    Integer(i128),
    /// A number; NaN is a missing one.
    Number(f64),
    /// A date, as days after 1970-01-01.
    Date(i32),
    /// A moment, as microseconds after 1970 began in UTC.
    Time(i64),
    /// A list of numbers.
    Numbers(&'a [f32]),
    /// A list of anything but lists.
    List(&'a dyn Cells),
}

/// Cells in their order: a row of a table, or the list within one cell.
pub trait Cells {
    /// How many there are.
    fn len(&self) -> usize;

    /// One of them, counted from 0.
    fn cell(&self, place: usize) -> Cell<'_>;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Cells for Vec<Value> {
    fn len(&self) -> usize {
        Vec::len(self)
    }

    fn cell(&self, place: usize) -> Cell<'_> {
        Cell::from(&self[place])
    }
}

impl<'a> From<&'a Value> for Cell<'a> {
    /// An object says nothing: sources refuse it, see [`Cell::of_json`].
    fn from(value: &'a Value) -> Self {
        Cell::of_json(value).unwrap_or(Cell::Missing)
    }
}

impl<'a> Cell<'a> {
    /// A JSON value as a cell; none where it is an object, or a list with lists or objects in it.
    pub fn of_json(value: &'a Value) -> Option<Self> {
        Some(match value {
            Value::Null => Cell::Missing,
            Value::Bool(flag) => Cell::Boolean(*flag),
            Value::String(text) => Cell::Text(text),
            Value::Number(number) => match (number.as_i128(), number.as_f64()) {
                (Some(whole), _) => Cell::Integer(whole),
                (None, number) => Cell::Number(number.unwrap_or(f64::NAN)),
            },
            Value::Array(values) if values.iter().any(|value| value.is_array() || value.is_object()) => return None,
            Value::Array(values) => Cell::List(values),
            Value::Object(_) => return None,
        })
    }

    /// The same without spaces around a text; missing where nothing is left of it, or where it is no number and no date.
    pub(crate) fn tidy(self) -> Self {
        match self {
            Cell::Text(text) => match text.trim() {
                "" => Cell::Missing,
                text => Cell::Text(text),
            },
            Cell::Number(number) if number.is_nan() => Cell::Missing,
            Cell::Date(_) | Cell::Time(_) if self.moment(DateOrder::default()).is_none() => Cell::Missing,
            other => other,
        }
    }

    /// Whether nothing is said, after [`Cell::tidy`].
    pub(crate) fn is_missing(self) -> bool {
        matches!(self, Cell::Missing)
    }

    /// Whether a text says that nothing is known, where any other text would be an error.
    pub(crate) fn is_missing_word(self) -> bool {
        matches!(self, Cell::Text(text) if MISSING_WORDS.iter().any(|word| text.eq_ignore_ascii_case(word)))
    }

    /// As people would write it, and lists as JSON.
    pub fn to_text(self) -> Cow<'a, str> {
        match self {
            Cell::Missing => Cow::Borrowed(""),
            Cell::Text(text) => Cow::Borrowed(text.trim()),
            Cell::Boolean(flag) => Cow::Borrowed(if flag { "true" } else { "false" }),
            Cell::Integer(number) => Cow::Owned(number.to_string()),
            Cell::Number(number) if number.is_nan() => Cow::Borrowed(""),
            Cell::Number(number) => Cow::Owned(number_text(number)),
            Cell::Date(days) => Cow::Owned(date(days).map_or_else(String::new, |date| date.to_string())),
            Cell::Time(time) => Cow::Owned(moment(time).map_or_else(String::new, |moment| moment.to_string())),
            Cell::Numbers(_) | Cell::List(_) => Cow::Owned(self.to_json().to_string()),
        }
    }

    fn to_json(self) -> Value {
        match self {
            Cell::Missing => Value::Null,
            Cell::Boolean(flag) => flag.into(),
            Cell::Integer(number) => serde_json::Number::from_i128(number).map_or(Value::Null, Value::Number),
            Cell::Number(number) => number.into(),
            Cell::Numbers(numbers) => numbers.iter().map(|&number| f64::from(number)).collect(),
            Cell::List(cells) => (0..cells.len()).map(|place| cells.cell(place).to_json()).collect(),
            Cell::Text(text) => text.into(),
            Cell::Date(_) | Cell::Time(_) => self.to_text().into(),
        }
    }

    /// A finite number.
    pub fn number(self) -> Option<f64> {
        self.any_number().filter(|number| number.is_finite())
    }

    /// A number, which may be infinite or none.
    pub(crate) fn any_number(self) -> Option<f64> {
        match self {
            Cell::Text(text) => text.trim().parse().ok(),
            Cell::Integer(number) => Some(number as f64),
            Cell::Number(number) => Some(number),
            _ => None,
        }
    }

    /// A finite number as people write it, with a currency or in groups of digits.
    pub(super) fn number_with(self, decimal: Decimal) -> Option<f64> {
        match self {
            Cell::Text(text) => numbers::read(text.trim(), decimal),
            other => other.number(),
        }
    }

    /// The same with decimals after a point, where it can be read in two ways.
    pub(crate) fn plain_number(self) -> Option<f64> {
        self.number_with(Decimal::Point)
    }

    /// When something was, as one number: a number as it stands, a date as its year with the share of it that has passed.
    pub(crate) fn time(self, order: DateOrder) -> Option<f64> {
        self.moment(order).map(times::years).or_else(|| self.plain_number())
    }

    /// Whether a date shows that days come before months; none where it shows neither.
    pub(crate) fn shows_day_first(self) -> Option<bool> {
        match self {
            Cell::Text(text) => match times::shape(text)? {
                times::Shape::DayFirst => Some(true),
                times::Shape::MonthFirst => Some(false),
                times::Shape::Any | times::Shape::Either => None,
            },
            _ => None,
        }
    }

    /// Whether something is so.
    pub(super) fn boolean(self) -> Option<bool> {
        match self {
            Cell::Boolean(flag) => Some(flag),
            Cell::Integer(1) => Some(true),
            Cell::Integer(0) => Some(false),
            Cell::Number(1.0) => Some(true),
            Cell::Number(0.0) => Some(false),
            Cell::Text(text) => boolean_word(text),
            _ => None,
        }
    }

    /// A date or a time, in UTC where it has an offset.
    pub(super) fn moment(self, order: DateOrder) -> Option<DateTime> {
        match self {
            Cell::Date(days) => Some(date(days)?.to_datetime(jiff::civil::Time::midnight())),
            Cell::Time(time) => Some(TimeZone::UTC.to_datetime(moment(time)?)),
            Cell::Text(text) => times::parse(text, order),
            _ => None,
        }
    }

    /// Whether it is a list: of JSON, or a text that is written like one.
    pub(super) fn is_list(self) -> bool {
        matches!(self, Cell::Numbers(_) | Cell::List(_))
            || matches!(self, Cell::Text(text) if text.starts_with('[') && text.ends_with(']'))
    }

    /// Adds the numbers of a list: `[0.5, 1]`, `0.5|1`, or with spaces, commas or semicolons between them. Adds none, and says
    /// so, where one is not finite in 32 bits.
    pub(super) fn numbers(self, out: &mut Vec<f32>) -> bool {
        let start = out.len();
        let mut add = |number: Option<f32>| number.map(|number| out.push(number)).is_some();
        let all = match self {
            Cell::Numbers(numbers) => numbers.iter().all(|&number| add(number.is_finite().then_some(number))),
            Cell::List(cells) => (0..cells.len()).all(|place| match cells.cell(place) {
                cell @ (Cell::Integer(_) | Cell::Number(_)) => add(cell.number().and_then(narrow)),
                _ => false,
            }),
            Cell::Text(text) => numbers_of_text(text, &mut add),
            Cell::Integer(_) | Cell::Number(_) => add(self.number().and_then(narrow)),
            _ => false,
        };
        if !all {
            out.truncate(start);
        }
        all
    }

    /// Calls `each` with every value of a cell that may have several: `a|b|c`, or a list.
    pub(super) fn values(self, separator: Separator, each: &mut dyn FnMut(&str)) {
        match self {
            Cell::List(cells) => (0..cells.len()).for_each(|place| value_of_list(cells.cell(place), each)),
            Cell::Numbers(numbers) => {
                numbers.iter().for_each(|&number| value_of_list(Cell::Number(number.into()), each));
            }
            Cell::Text(text) => values_of_text(text, separator, each),
            other => value_of_list(other, each),
        }
    }
}

/// A number of 32 bits, where it is finite in them.
pub(super) fn narrow(number: f64) -> Option<f32> {
    let number = number as f32;
    number.is_finite().then_some(number)
}

/// As JSON writes it, so that 2 and 2.0 stay apart; `inf` where JSON has no word.
fn number_text(number: f64) -> String {
    serde_json::Number::from_f64(number).map_or_else(|| number.to_string(), |number| number.to_string())
}

fn date(days: i32) -> Option<jiff::civil::Date> {
    let after = Span::new().try_days(days).and_then(|span| jiff::civil::date(1970, 1, 1).checked_add(span));
    after.ok()
}

fn moment(microseconds: i64) -> Option<Timestamp> {
    Timestamp::from_microsecond(microseconds).ok()
}

fn boolean_word(text: &str) -> Option<bool> {
    let is = |words: [&str; 4]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    match text {
        "1" | "1.0" => Some(true),
        "0" | "0.0" => Some(false),
        _ if is(["true", "yes", "t", "y"]) => Some(true),
        _ if is(["false", "no", "f", "n"]) => Some(false),
        _ => None,
    }
}

fn numbers_of_text(text: &str, add: &mut dyn FnMut(Option<f32>) -> bool) -> bool {
    let Some(inner) = text.strip_prefix('[').map_or(Some(text), |inner| inner.strip_suffix(']')) else { return false };
    let parts = inner.split(['|', ',', ';', ' ', '\t', '\n']).filter(|part| !part.is_empty());
    parts.into_iter().all(|part| add(part.parse().ok().and_then(narrow)))
}

fn values_of_text(text: &str, separator: Separator, each: &mut dyn FnMut(&str)) {
    if text.starts_with('[')
        && let Ok(list) = serde_json::from_str::<Vec<Value>>(text)
    {
        for value in &list {
            match Cell::of_json(value) {
                Some(cell) => value_of_list(cell, each),
                None => each(&value.to_string()),
            }
        }
        return;
    }
    text.split(separator.mark()).map(str::trim).filter(|value| !value.is_empty()).for_each(each);
}

/// A value as it stands: a text in a list is not split again.
fn value_of_list(cell: Cell<'_>, each: &mut dyn FnMut(&str)) {
    let cell = cell.tidy();
    if !cell.is_missing() {
        each(&cell.to_text());
    }
}

impl fmt::Debug for Cell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.to_json())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_typed_cell_reads_as_the_text_that_stands_for_it() {
        let check = |cell: Cell<'_>, text: &str| {
            assert_eq!(cell.to_text(), text);
            assert_eq!(cell.number(), Cell::Text(text).number(), "{text}");
            assert_eq!(cell.boolean(), Cell::Text(text).boolean(), "{text}");
            let moment = |cell: Cell<'_>| cell.moment(DateOrder::default());
            assert_eq!(moment(cell), moment(Cell::Text(text)), "{text}");
            let numbers = |cell: Cell<'_>| {
                let mut numbers = Vec::new();
                cell.numbers(&mut numbers).then_some(numbers)
            };
            assert_eq!(numbers(cell), numbers(Cell::Text(text)), "{text}");
            assert_eq!(values(cell), values(Cell::Text(text)), "{text}");
        };
        check(Cell::Integer(1999), "1999");
        check(Cell::Integer(u64::MAX.into()), "18446744073709551615");
        check(Cell::Number(1.5e3), "1500.0");
        check(Cell::Number(1e-5), "0.00001");
        check(Cell::Number(f64::from(0.1_f32)), "0.10000000149011612");
        check(Cell::Number(1.0), "1.0");
        check(Cell::Boolean(true), "true");
        check(Cell::Date(19_844), "2024-05-01");
        check(Cell::Time(1_714_566_600_000_000), "2024-05-01T12:30:00Z");
        check(Cell::Numbers(&[0.5, 1.0]), "[0.5,1.0]");
        check((&json!(["a|b", 2, null, true, " "])).into(), "[\"a|b\",2,null,true,\" \"]");
        check((&json!([1, 2.5])).into(), "[1,2.5]");
        check((&json!([])).into(), "[]");
    }

    fn values(cell: Cell<'_>) -> Vec<String> {
        let mut found = Vec::new();
        cell.values(Separator::Bar, &mut |value| found.push(value.to_owned()));
        found
    }

    #[test]
    fn several_values_are_told_apart() {
        let check = |text: &str, expected: &[&str]| assert_eq!(values(Cell::Text(text)), expected, "{text}");
        check("a| b ||c", &["a", "b", "c"]);
        check("[\"a|b\", 2, null, true, \" \"]", &["a|b", "2", "true"]);
        check("[not json", &["[not json"]);
        check("", &[]);
    }

    #[test]
    fn numbers_and_flags_are_read_in_their_usual_forms() {
        let number = |text: &str| Cell::Text(text).number().and_then(narrow);
        assert_eq!((number("1e3"), number("1e300"), number("x"), number("nan")), (Some(1000.0), None, None, None));
        let boolean = |text: &str| Cell::Text(text).boolean();
        let found = (boolean("TRUE"), boolean("n"), boolean("0"), boolean("2"));
        assert_eq!(found, (Some(true), Some(false), Some(false), None));
        let numbers = |cell: Cell<'_>| {
            let mut numbers = vec![7.0];
            cell.numbers(&mut numbers).then(|| numbers.split_off(1))
        };
        assert_eq!(numbers(Cell::Text("[0.5, -1]")), Some(vec![0.5, -1.0]));
        assert_eq!(numbers(Cell::Text("1|2;3 4")), Some(vec![1.0, 2.0, 3.0, 4.0]));
        assert_eq!((numbers(Cell::Text("[1, x]")), numbers(Cell::Text("[1"))), (None, None));
        assert_eq!((numbers((&json!([1, null])).into()), numbers((&json!(["1"])).into())), (None, None));
        assert_eq!(numbers(Cell::Numbers(&[1.0, f32::NAN])), None);
    }

    #[test]
    fn what_is_no_number_and_no_date_is_missing() {
        for cell in [Cell::Number(f64::NAN), Cell::Date(i32::MAX), Cell::Time(i64::MIN), Cell::Text(" \t")] {
            assert!(cell.tidy().is_missing(), "{cell:?}");
        }
        assert!(!Cell::Number(f64::INFINITY).tidy().is_missing() && Cell::Number(f64::INFINITY).number().is_none());
    }

    #[test]
    fn objects_and_lists_of_lists_are_no_cells() {
        assert!(Cell::of_json(&json!({"x": 1})).is_none() && Cell::of_json(&json!([[1]])).is_none());
    }
}
