//! Text in SVG and HTML, the room that it takes, and how numbers are written.

/// The font size of everything but the title.
pub const TEXT_SIZE: f64 = 12.0;

/// Text as it may stand in SVG and HTML, which have no way to write control characters.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            '\u{fffe}' | '\u{ffff}' => escaped.push(char::REPLACEMENT_CHARACTER),
            character if character.is_control() => escaped.push(' '),
            character => escaped.push(character),
        }
    }
    escaped
}

/// A number with its thousands apart, such as `1,234.5`; `–` for one that is not finite.
pub fn number(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let plain = format!("{:.decimals$}", value.abs());
    let is_zero = !plain.contains(|digit: char| ('1'..='9').contains(&digit));
    let sign = if value < 0.0 && !is_zero { "−" } else { "" };
    let (whole, fraction) = plain.split_at(plain.find('.').unwrap_or(plain.len()));
    format!("{sign}{}{fraction}", thousands(whole))
}

/// The digits of a whole number with a comma before each group of three.
pub fn thousands(digits: &str) -> String {
    let mut apart = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            apart.push(',');
        }
        apart.push(digit);
    }
    apart
}

/// About how wide a text is. Fonts differ, so this is rather too wide.
pub fn text_width(text: &str, size: f64) -> f64 {
    text.chars().map(|character| size * character_width(character)).sum()
}

/// About how wide a character is, as a multiple of the font size.
fn character_width(character: char) -> f64 {
    match character {
        ' ' | '.' | ',' | ':' | ';' | '\'' | '(' | ')' | 'I' | 'f' | 'i' | 'j' | 'l' | 'r' | 't' => 0.45,
        'M' | 'W' | 'm' | 'w' | '@' | '%' => 1.05,
        'A'..='Z' => 0.8,
        ' '..='~' => 0.7,
        _ => 1.0,
    }
}

/// The width of the widest text.
pub fn widest<'a>(texts: impl Iterator<Item = &'a str>) -> f64 {
    texts.map(|text| text_width(text, TEXT_SIZE)).fold(0.0, f64::max)
}

/// A text that is cut short where it would be wider than `room`.
pub fn shortened(text: &str, room: f64, size: f64) -> String {
    // A size chosen to fill the room may miss it by a rounding error.
    if text_width(text, size) <= room + 1e-6 {
        return text.to_owned();
    }
    let mut width = size;
    let is_inside = |character: &char| {
        width += size * character_width(*character);
        width <= room
    };
    let kept: String = text.chars().take_while(is_inside).collect();
    format!("{}…", kept.trim_end_matches(|character: char| !character.is_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        let nasty = "<b> & \"it's\" </title>\u{0}\u{1b}\n\u{ffff}";
        assert_eq!(escaped(nasty), "&lt;b&gt; &amp; &quot;it&#39;s&quot; &lt;/title&gt;   \u{fffd}");
    }

    #[test]
    fn thousands_are_apart() {
        assert_eq!(["999", "1000", "12345678"].map(thousands), ["999", "1,000", "12,345,678"]);
        assert_eq!([number(-123456.0, 0), number(1234.5, 1), number(999.0, 0)], ["−123,456", "1,234.5", "999"]);
    }

    #[test]
    fn zero_has_no_sign_and_what_is_no_number_is_a_dash() {
        assert_eq!([number(-0.0001, 3), number(0.0, 1), number(f64::NAN, 2)], ["0.000", "0.0", "–"]);
    }

    #[test]
    fn long_text_is_cut_to_its_room() {
        assert_eq!(shortened("short", 100.0, 10.0), "short");
        let cut = shortened(&"long ".repeat(50), 100.0, 10.0);
        assert!(cut.ends_with('…') && text_width(&cut, 10.0) <= 100.0, "{cut}");
    }
}
