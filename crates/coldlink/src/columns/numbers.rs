//! Numbers as people write them: `1234.5`, `1,234.50`, `1.234,50`, `1 234`, `€ 12`, `12 %`.
//!
//! What can be read in one way only is read so in every column. `1.234` and `1,234` can be read in two ways: what the point and the
//! comma mean there is said by the column's [`Decimal`].

use super::kind::Decimal;

/// The longest text that is looked at, in bytes.
const LONGEST: usize = 64;

/// What a number shows about its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Nothing: it has neither a point nor a comma, or it is a number either way.
    Any,
    /// Its decimals follow a point.
    Point,
    /// Its decimals follow a comma.
    Comma,
}

/// A finite number.
pub(super) fn read(text: &str, decimal: Decimal) -> Option<f64> {
    // With an exponent it can be read in one way only.
    if decimal == Decimal::Point || !text.contains('.') || text.contains(['e', 'E']) {
        let plain = text.parse::<f64>().ok();
        if let Some(plain) = plain {
            return plain.is_finite().then_some(plain);
        }
    }
    let (bare, negative) = bare(text)?;
    let mark = decimal_mark(bare, decimal)?;
    let digits: String = bare.chars().filter(|c| c.is_ascii_digit() || Some(*c) == mark).collect();
    let number: f64 = digits.replace(',', ".").parse().ok()?;
    number.is_finite().then_some(if negative { -number } else { number })
}

/// What a text shows, where it is a number.
pub(super) fn shape(text: &str) -> Option<Shape> {
    // Too large, but a number: one that cannot be read is no reason to take the column for something else.
    if text.parse::<f64>().is_ok_and(f64::is_infinite) {
        return Some(Shape::Any);
    }
    // Most texts are told apart at once.
    if text.len() > LONGEST || !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (point, comma) = (read(text, Decimal::Point)?, read(text, Decimal::Comma)?);
    if text.contains(['e', 'E']) {
        return Some(if text.contains('.') { Shape::Point } else { Shape::Any });
    }
    if point != comma {
        return Some(Shape::Any);
    }
    match bare(text).map(|(bare, _)| decimal_mark(bare, Decimal::Point)) {
        Some(Some(Some('.'))) => Some(Shape::Point),
        Some(Some(Some(','))) => Some(Shape::Comma),
        _ => Some(Shape::Any),
    }
}

/// Without sign, currency and percent sign; and whether it is below 0. Only digits and what may stand between them are left.
fn bare(text: &str) -> Option<(&str, bool)> {
    let (text, before) = signed(text.trim());
    let text = without_unit(text);
    let (text, after) = signed(text);
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let ends = is_digit(text.chars().next()) && is_digit(text.chars().next_back());
    let plain = |c: char| c.is_ascii_digit() || c == '.' || c == ',' || is_gap(c);
    (ends && !(before && after) && text.chars().all(plain)).then_some((text, before || after))
}

fn signed(text: &str) -> (&str, bool) {
    match text.strip_prefix(['-', '−']) {
        Some(rest) => (rest.trim_start(), true),
        None => (text.strip_prefix('+').unwrap_or(text), false),
    }
}

/// Without one currency or percent sign, before or after it.
fn without_unit(text: &str) -> &str {
    const SIGNS: [char; 10] = ['$', '€', '£', '¥', '₹', '₽', '₩', '₺', '%', '‰'];
    const CODES: [&str; 12] = ["USD", "EUR", "GBP", "CHF", "JPY", "CNY", "INR", "AUD", "CAD", "SEK", "NOK", "DKK"];
    let sign = text.strip_suffix(SIGNS).or_else(|| text.strip_prefix(SIGNS));
    let code = || CODES.iter().find_map(|code| text.strip_suffix(code).or_else(|| text.strip_prefix(code)));
    sign.or_else(code).unwrap_or(text).trim()
}

/// Whether it stands between groups of digits and means nothing.
fn is_gap(c: char) -> bool {
    matches!(c, ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}' | '\'' | '’')
}

/// What stands before the decimals, if anything does; or nothing where the digits are no number.
fn decimal_mark(bare: &str, decimal: Decimal) -> Option<Option<char>> {
    let count = |mark: char| bare.matches(mark).count();
    let mark = match (count('.'), count(',')) {
        (0, 0) => None,
        (points, commas) if points > 0 && commas > 0 => {
            let last = bare.chars().rev().find(|c| matches!(c, '.' | ','))?;
            Some(last).filter(|&last| count(last) == 1)
        }
        (1, 0) => single('.', bare, decimal),
        (0, 1) => single(',', bare, decimal),
        _ => None,
    };
    let whole = mark.and_then(|mark| bare.split_once(mark)).map_or(bare, |(whole, _)| whole);
    let decimals = mark.and_then(|mark| bare.split_once(mark)).map_or("", |(_, decimals)| decimals);
    (is_grouped(whole) && decimals.bytes().all(|byte| byte.is_ascii_digit())).then_some(mark)
}

/// What a point or a comma means that stands there once.
fn single(mark: char, bare: &str, decimal: Decimal) -> Option<char> {
    let (whole, rest) = bare.split_once(mark)?;
    let may_group = rest.len() == 3 && whole.len() <= 3 && !whole.starts_with('0');
    let column = if decimal == Decimal::Point { '.' } else { ',' };
    (!may_group || mark == column).then_some(mark)
}

/// Whether digits stand together, or in groups of three after the first.
fn is_grouped(whole: &str) -> bool {
    let mut marks = whole.chars().filter(|c| !c.is_ascii_digit());
    let Some(first) = marks.next() else { return true };
    let mut groups = whole.split(first);
    let head = groups.next().unwrap_or_default();
    marks.all(|mark| mark == first)
        && (1..=3).contains(&head.len())
        && !head.starts_with('0')
        && groups.all(|group| group.len() == 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        let check = |text: &str, point: Option<f64>, comma: Option<f64>| {
            assert_eq!((read(text, Decimal::Point), read(text, Decimal::Comma)), (point, comma), "{text}");
        };
        let same = |text: &str, number: f64| check(text, Some(number), Some(number));
        same("12", 12.0);
        same("-2e3", -2000.0);
        same("12,50", 12.5);
        same("12.50", 12.5);
        same("0.125", 0.125);
        same("1.234,50", 1234.5);
        same("1,234.50", 1234.5);
        same("1,234,567", 1_234_567.0);
        same("1 234,5", 1234.5);
        same("1'234.5", 1234.5);
        same("$1,299.00", 1299.0);
        same("-€ 3,20", -3.2);
        same("€-3,20", -3.2);
        same("12 EUR", 12.0);
        same("45 %", 45.0);
        same("7.5%", 7.5);
        check("1.234", Some(1.234), Some(1234.0));
        check("1,234", Some(1234.0), Some(1.234));
        for other in
            ["", "x", "nan", "inf", "1.2.3", "12A", "1,2,3", "--1", "1 23", "31.12.1999", "$", "1,", "030 123 456"]
        {
            check(other, None, None);
        }
    }

    #[test]
    fn a_number_shows_what_its_decimals_follow_if_it_can_be_read_in_one_way() {
        let found = ["12,50", "1.234,5", "12.5", "1,234.5", "1.234", "1,234", "12", "1e5", "x"].map(shape);
        let (point, comma, any) = (Some(Shape::Point), Some(Shape::Comma), Some(Shape::Any));
        assert_eq!(found, [comma, comma, point, point, any, any, any, any, None]);
    }
}
