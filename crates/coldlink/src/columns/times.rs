//! Dates and times, and what is made of them.

use jiff::civil::{DateTime, Time};
use jiff::fmt::temporal::DateTimeParser;
use jiff::tz::TimeZone;

/// Numbers that a date becomes.
pub(super) const PARTS: usize = 7;

/// What they are called.
pub(super) const PART_NAMES: [&str; PARTS] =
    ["year", "month, sine", "month, cosine", "weekday, sine", "weekday, cosine", "hour, sine", "hour, cosine"];

const PARSER: DateTimeParser = DateTimeParser::new();

/// A date or a time as people and programs write them: `2024-05-01`, `2024/05/01`, `2024-05-01 12:30`,
/// `2024-05-01T12:30:00Z`. Times with an offset are moved to UTC.
pub(super) fn parse(cell: &str) -> Option<DateTime> {
    // A date has a digit first and a separator after four: most other texts are told apart at once.
    let bytes = cell.as_bytes();
    if bytes.len() < 8 || !bytes[0].is_ascii_digit() {
        return None;
    }
    let slashed = (bytes.get(4) == Some(&b'/')).then(|| cell.replace('/', "-"));
    let text = slashed.as_deref().unwrap_or(cell);
    if text.as_bytes().get(4) != Some(&b'-') {
        return None;
    }
    let with_offset = PARSER.parse_timestamp(text).ok().map(|moment| TimeZone::UTC.to_datetime(moment));
    with_offset.or_else(|| PARSER.parse_datetime(text).ok())
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
            assert_eq!(parse(text).map(|moment| moment.to_string()).as_deref(), expected, "{text}");
        };
        check("2024-05-01", Some("2024-05-01T00:00:00"));
        check("2024/05/01", Some("2024-05-01T00:00:00"));
        check("2024-05-01 12:30", Some("2024-05-01T12:30:00"));
        check("2024-05-01T12:30:15.5", Some("2024-05-01T12:30:15.5"));
        check("2024-05-01T12:30:00Z", Some("2024-05-01T12:30:00"));
        check("2024-05-01T12:30:00+02:00", Some("2024-05-01T10:30:00"));
        for other in ["", "2024", "May 2024", "2024-13-01", "12345-67-89", "1234-5678", "99999999999"] {
            check(other, None);
        }
    }

    #[test]
    fn parts_say_when_in_the_year_the_week_and_the_day() {
        let of = |text: &str| parts(parse(text).unwrap());
        assert_eq!(of("2000-01-03"), [2.0 / 366.0, of("2000-01-03")[1], of("2000-01-03")[2], 0.0, 1.0, 0.0, 0.0]);
        let noon = of("2010-07-02 12:00");
        assert!((noon[0] - 10.4986).abs() < 1e-3 && (noon[6] + 1.0).abs() < 1e-6, "{noon:?}");
    }
}
