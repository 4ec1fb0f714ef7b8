//! Words of users as people can read them: nothing in them moves a cursor, colours a terminal or turns its letters around.

use std::borrow::Cow;

/// As many characters of a text as an error quotes.
const QUOTED: usize = 80;

/// The text in one line, with an escape such as `\n` or `\u{1b}` for each character that a terminal would obey instead of showing
/// it: control characters, line breaks, and those that change the direction of writing.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// The same for a text of several lines, which stay lines.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |letter| letter == '\n')
}

/// The beginning of a text, with `…` where more follows.
pub(crate) fn start_of(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// A text as an error quotes it: printable, and cut where it is long.
pub(crate) fn quoted(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => Cow::Owned(format!("{}…", printable(&text[..end]))),
        None => printable(text),
    }
}

/// Several of them.
pub(crate) fn all_quoted(texts: &[impl AsRef<str>]) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| format!("`{}`", quoted(text.as_ref()))).collect();
    quoted.join(", ")
}

/// What a reader of TOML or JSON says of a value, without the types and terms of this program.
pub fn plain_reason(said: &str) -> String {
    let said = said.trim();
    let said = match said.strip_prefix("unknown variant ").and_then(|rest| rest.split_once(", ")) {
        Some((found, expected)) => format!("{expected}, got {found}"),
        None => said.to_owned(),
    };
    let said = match said.strip_prefix("invalid type: ").and_then(|rest| rest.split_once(", ")) {
        Some((found, expected)) => format!("{expected}, got {found}"),
        None => said,
    };
    let said = said.replace("unknown field", "unknown option").replace("missing field", "missing option");
    let types = [
        ("expected usize", "expected a non-negative integer"),
        ("expected u32", "expected a non-negative integer"),
        ("expected u64", "expected a non-negative integer"),
        ("expected f32", "expected a number"),
        ("expected f64", "expected a number"),
        ("expected a sequence", "expected a list"),
        ("expected a map", "expected names and values"),
        ("got floating point", "got number"),
    ];
    types.into_iter().fold(said, |said, (ours, theirs)| said.replace(ours, theirs))
}

/// Words that are less similar than this are no misspelling of each other.
const SIMILAR: f64 = 0.8;

/// The most similar of the known words, where one is similar.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let similar = known.into_iter().map(|known| (strsim::jaro_winkler(word, known), known));
    let best = similar.filter(|(similarity, _)| *similarity >= SIMILAR).max_by(|a, b| a.0.total_cmp(&b.0));
    best.map(|(_, known)| known.to_owned())
}

/// What to write instead of a name that is not there: the one that is nearly the same, or else one of these.
pub(crate) fn near_or_all(thing: &str, name: &str, known: &[String]) -> String {
    const SHOWN: usize = 12;
    // Letters of another case are no other word.
    let same = known.iter().find(|known| known.to_lowercase() == name.to_lowercase()).cloned();
    match same.or_else(|| nearest(name, known.iter().map(String::as_str))) {
        Some(nearest) => format!("did you mean `{}`?", quoted(&nearest)),
        None => {
            let more = if known.len() > SHOWN { ", …" } else { "" };
            format!("{thing}s are {}{more}", all_quoted(&known[..known.len().min(SHOWN)]))
        }
    }
}

fn escaped(text: &str, kept: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_escaped = |letter: char| is_obeyed(letter) && !kept(letter);
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_escaped(letter) { shown.extend(letter.escape_default()) } else { shown.push(letter) }
    }
    Cow::Owned(shown)
}

/// Whether a terminal does something other than showing it.
fn is_obeyed(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            // Marks, embeddings, overrides and isolates of the direction of writing.
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            // Separators of lines and paragraphs, spaces without width, annotations, and tags that nobody sees.
            | '\u{2028}' | '\u{2029}' | '\u{200b}' | '\u{2060}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_told_without_types() {
        let check = |said: &str, told: &str| assert_eq!(plain_reason(said), told);
        check("unknown variant `foo`, expected `a` or `b`", "expected `a` or `b`, got `foo`");
        check("invalid type: string \"x\", expected u32", "expected a non-negative integer, got string \"x\"");
        check("invalid type: floating point `1.5`, expected a sequence", "expected a list, got number `1.5`");
        check("missing field `kind`", "missing option `kind`");
        check("something else\n", "something else");
    }

    #[test]
    fn a_name_that_is_not_there_has_a_near_one_or_all() {
        let known = ["price", "category", "Year"].map(str::to_owned);
        let check = |name: &str, said: &str| assert_eq!(near_or_all("column", name, &known), said);
        check("categry", "did you mean `category`?");
        check("YEAR", "did you mean `Year`?");
        check("xyz", "columns are `price`, `category`, `Year`");
    }

    #[test]
    fn what_a_terminal_would_obey_is_escaped() {
        let check = |text: &str, shown: &str| assert_eq!(printable(text), shown);
        check("a\u{1b}[31mred\u{7}", "a\\u{1b}[31mred\\u{7}");
        check("two\nlines\tand\r", "two\\nlines\\tand\\r");
        check("\u{9b}2J \u{7f}", "\\u{9b}2J \\u{7f}");
        check("moc.\u{202e}txt.exe\u{2069}", "moc.\\u{202e}txt.exe\\u{2069}");
        check("\u{feff}line\u{2028}", "\\u{feff}line\\u{2028}");
    }

    #[test]
    fn ordinary_text_of_any_script_stays_as_it_is() {
        for text in ["Zürich \\n \"x\"", "שלום", "می\u{200c}خواهم", "日本語", "👩\u{200d}🔬"] {
            assert!(matches!(printable(text), Cow::Borrowed(same) if same == text), "{text}");
        }
        assert_eq!(printable_lines("a\n\u{1b}b"), "a\n\\u{1b}b");
    }

    #[test]
    fn an_error_quotes_the_beginning_of_a_long_text() {
        let long = "ä".repeat(1000);
        assert_eq!(quoted(&long), format!("{}…", "ä".repeat(QUOTED)));
        assert_eq!(quoted("short"), "short");
    }
}
