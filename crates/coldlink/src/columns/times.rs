//! Dates and times, and what is made of them.
//!
//! What can be read in one way only is read so in every column: `2024-05-01`, `31.12.1999`, `12/31/1999`. Whether `05/04/2024` is in
//! April or in May is said by the column's [`DateOrder`].

use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::rfc2822;
use jiff::fmt::temporal::DateTimeParser;
use jiff::tz::TimeZone;

use super::kind::DateOrder;

/// Numbers that a date becomes.
pub(super) const PARTS: usize = 7;

/// What they are called.
pub(super) const PART_NAMES: [&str; PARTS] =
    ["year", "month, sine", "month, cosine", "weekday, sine", "weekday, cosine", "hour, sine", "hour, cosine"];

const PARSER: DateTimeParser = DateTimeParser::new();
const MAIL_PARSER: rfc2822::DateTimeParser = rfc2822::DateTimeParser::new();
/// Dates with the name of a month.
const WITH_NAMES: [&str; 9] =
    ["%d %B %Y", "%d %b %Y", "%d-%b-%Y", "%B %d, %Y", "%b %d, %Y", "%B %d %Y", "%b %d %Y", "%d. %B %Y", "%d %b, %Y"];
/// The longest text that is looked at.
const LONGEST: usize = 40;

/// What a date shows about its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Nothing: it can be read in one way, whatever the order.
    Any,
    /// The month comes first.
    MonthFirst,
    /// The day comes first.
    DayFirst,
    /// It may be either.
    Either,
}

/// A date or a time as people and programs write them: `2024-05-01`, `2024/05/01`, `2024-05-01 12:30`, `2024-05-01T12:30:00Z`,
/// `2024-05`, `31.12.1999`, `12/31/1999 2:30 PM`, `1 May 2024`. Times with an offset are moved to UTC.
pub(super) fn parse(cell: &str, order: DateOrder) -> Option<DateTime> {
    read(cell, order).map(|(moment, _)| moment)
}

/// What a text shows, where it is a date.
pub(super) fn shape(cell: &str) -> Option<Shape> {
    read(cell, DateOrder::MonthFirst).map(|(_, shape)| shape)
}

fn read(cell: &str, order: DateOrder) -> Option<(DateTime, Shape)> {
    // Most other texts are told apart by their length and their start.
    let bytes = cell.as_bytes();
    if !(6..=LONGEST).contains(&bytes.len()) || !bytes.iter().any(u8::is_ascii_digit) {
        return None;
    }
    if !bytes[0].is_ascii_digit() {
        return with_names(cell);
    }
    match bytes.iter().find(|byte| !byte.is_ascii_digit())? {
        b'-' | b'/' if bytes[..4].iter().all(u8::is_ascii_digit) => year_first(cell),
        b'.' | b'/' | b'-' => year_last(cell, order).or_else(|| with_names(cell)),
        b' ' => with_names(cell),
        _ => None,
    }
}

fn year_first(cell: &str) -> Option<(DateTime, Shape)> {
    let slashed = (cell.as_bytes()[4] == b'/').then(|| cell.replace('/', "-"));
    let text = slashed.as_deref().unwrap_or(cell);
    if text.as_bytes().get(4) != Some(&b'-') {
        return None;
    }
    let with_offset = || PARSER.parse_timestamp(text).ok().map(|moment| TimeZone::UTC.to_datetime(moment));
    let month = || (text.len() == 7).then(|| PARSER.parse_datetime(format!("{text}-01")).ok()).flatten();
    let moment = with_offset().or_else(|| PARSER.parse_datetime(text).ok()).or_else(month)?;
    Some((moment, Shape::Any))
}

/// `31.12.1999`, `12/31/1999`, with a time or without. Between points the day comes first.
fn year_last(cell: &str, order: DateOrder) -> Option<(DateTime, Shape)> {
    let (date, time) = cell.split_once([' ', 'T']).unwrap_or((cell, ""));
    let mark = date.chars().find(|c| !c.is_ascii_digit())?;
    let mut numbers = date.split(mark).map(|number| number.parse::<i16>().ok());
    let (first, second, year) = (numbers.next()??, numbers.next()??, numbers.next()??);
    let is_date = numbers.next().is_none() && (1000..=9999).contains(&year) && first > 0 && second > 0;
    let (day_first, shape) = match (mark, first > 12, second > 12) {
        _ if !is_date => return None,
        ('.', ..) => (true, Shape::Any),
        (_, true, true) => return None,
        (_, true, false) => (true, Shape::DayFirst),
        (_, false, true) => (false, Shape::MonthFirst),
        _ if first == second => (true, Shape::Any),
        _ => (order == DateOrder::DayFirst, Shape::Either),
    };
    let (day, month) = if day_first { (first, second) } else { (second, first) };
    let date = Date::new(year, month.try_into().ok()?, day.try_into().ok()?).ok()?;
    Some((date.to_datetime(time_of_day(time.trim())?), shape))
}

fn time_of_day(text: &str) -> Option<Time> {
    if text.is_empty() {
        return Some(Time::midnight());
    }
    let with_half = || ["%I:%M %p", "%I:%M:%S %p"].iter().find_map(|format| Time::strptime(format, text).ok());
    PARSER.parse_time(text).ok().or_else(with_half)
}

/// `1 May 2024`, `May 1, 2024`, `Wed, 1 May 2024 12:30:00 +0200`.
fn with_names(cell: &str) -> Option<(DateTime, Shape)> {
    if !cell.bytes().any(|byte| byte.is_ascii_alphabetic()) {
        return None;
    }
    let date = WITH_NAMES.iter().find_map(|format| Date::strptime(format, cell).ok());
    let date = date.filter(|date| date.year() >= 1000);
    let moment = date.map(|date| date.to_datetime(Time::midnight()));
    let mail = || MAIL_PARSER.parse_timestamp(cell).ok().map(|moment| TimeZone::UTC.to_datetime(moment));
    moment.or_else(mail).map(|moment| (moment, Shape::Any))
}

/// The year with the share of it that has passed.
pub(super) fn years(moment: DateTime) -> f64 {
    let time = moment.time();
    let minutes = f64::from(time.hour()) * 60.0 + f64::from(time.minute());
    let seconds = minutes * 60.0 + f64::from(time.second()) + f64::from(time.subsec_nanosecond()) / 1e9;
    let days = f64::from(moment.day_of_year() - 1) + seconds / 86_400.0;
    f64::from(moment.year()) + days / f64::from(moment.days_in_year())
}

/// The year with its fraction, counted from 2000, and the places in year, week and day as points of a circle. A date
/// without a time has no place in the day.
pub(super) fn parts(moment: DateTime) -> [f32; PARTS] {
    let around = |share: f64| (share * std::f64::consts::TAU).sin_cos();
    let in_year = f64::from(moment.day_of_year() - 1) / f64::from(moment.days_in_year());
    let years = f64::from(moment.year()) - 2000.0 + in_year;
    let (month_sine, month_cosine) = around(in_year);
    let (weekday_sine, weekday_cosine) = around(f64::from(moment.weekday().to_monday_zero_offset()) / 7.0);
    let (hour_sine, hour_cosine) = match moment.time() {
        time if time == Time::midnight() => (0.0, 0.0),
        time => around((f64::from(time.hour()) + f64::from(time.minute()) / 60.0) / 24.0),
    };
    [years, month_sine, month_cosine, weekday_sine, weekday_cosine, hour_sine, hour_cosine].map(|part| part as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_they_are_written() {
        let check = |text: &str, expected: Option<&str>| {
            let found = parse(text, DateOrder::MonthFirst).map(|moment| moment.to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        };
        check("2024-05-01", Some("2024-05-01T00:00:00"));
        check("2024/05/01", Some("2024-05-01T00:00:00"));
        check("2024-05", Some("2024-05-01T00:00:00"));
        check("2024-05-01 12:30", Some("2024-05-01T12:30:00"));
        check("2024-05-01T12:30:15.5", Some("2024-05-01T12:30:15.5"));
        check("2024-05-01T12:30:00Z", Some("2024-05-01T12:30:00"));
        check("2024-05-01T12:30:00+02:00", Some("2024-05-01T10:30:00"));
        check("31.12.1999", Some("1999-12-31T00:00:00"));
        check("1.2.1999 14:30", Some("1999-02-01T14:30:00"));
        check("12/31/1999 2:30 PM", Some("1999-12-31T14:30:00"));
        check("31/12/1999", Some("1999-12-31T00:00:00"));
        check("31-12-1999", Some("1999-12-31T00:00:00"));
        check("1 May 2024", Some("2024-05-01T00:00:00"));
        check("01 Jan 2020", Some("2020-01-01T00:00:00"));
        check("January 1, 2020", Some("2020-01-01T00:00:00"));
        check("Dec 31 2020", Some("2020-12-31T00:00:00"));
        check("May 1, 2024", Some("2024-05-01T00:00:00"));
        check("01-May-2024", Some("2024-05-01T00:00:00"));
        check("Wed, 1 May 2024 12:30:00 +0200", Some("2024-05-01T10:30:00"));
        let others =
            ["", "2024", "May 2024", "2024-13-01", "12345-67-89", "1234-5678", "99999999999", "1.2.3", "32.1.2000"];
        for other in others.into_iter().chain(["13/13/2000", "10.0.0.1", "555-123-4567", "0/1/2000", "1/2/2000 noon"]) {
            check(other, None);
        }
    }

    #[test]
    fn the_order_of_a_column_decides_what_may_be_read_in_two_ways() {
        let check = |text: &str, expected: Shape, [month_first, day_first]: [&str; 2]| {
            assert_eq!(shape(text), Some(expected), "{text}");
            let found = [DateOrder::MonthFirst, DateOrder::DayFirst].map(|order| parse(text, order).unwrap().date());
            assert_eq!(found.map(|date| date.to_string()), [month_first, day_first]);
        };
        check("05/04/2024", Shape::Either, ["2024-05-04", "2024-04-05"]);
        check("25/04/2024", Shape::DayFirst, ["2024-04-25"; 2]);
        check("04/25/2024", Shape::MonthFirst, ["2024-04-25"; 2]);
        check("05/05/2024", Shape::Any, ["2024-05-05"; 2]);
        check("05.04.2024", Shape::Any, ["2024-04-05"; 2]);
    }

    #[test]
    fn parts_say_when_in_the_year_the_week_and_the_day() {
        let of = |text: &str| parts(parse(text, DateOrder::MonthFirst).unwrap());
        assert_eq!(of("2000-01-03"), [2.0 / 366.0, of("2000-01-03")[1], of("2000-01-03")[2], 0.0, 1.0, 0.0, 0.0]);
        let noon = of("2010-07-02 12:00");
        assert!((noon[0] - 10.4986).abs() < 1e-3 && (noon[6] + 1.0).abs() < 1e-6, "{noon:?}");
    }
}
