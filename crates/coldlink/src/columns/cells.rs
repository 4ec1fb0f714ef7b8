//! What a single cell says.

/// Separates the values of a cell that has several.
pub(super) const BETWEEN_VALUES: char = '|';

/// Whether a cell of a column that is no text says that nothing is known.
pub(super) fn is_missing(cell: &str) -> bool {
    ["nan", "na", "n/a", "null", "none", "-"].iter().any(|word| cell.eq_ignore_ascii_case(word))
}

/// A number that is finite in 32 bits.
pub(super) fn number(cell: &str) -> Option<f32> {
    let value = cell.parse::<f64>().ok()? as f32;
    value.is_finite().then_some(value)
}

/// Whether something is so.
pub(super) fn boolean(cell: &str) -> Option<bool> {
    let is = |words: [&str; 4]| words.iter().any(|word| cell.eq_ignore_ascii_case(word));
    match cell {
        "1" | "1.0" => Some(true),
        "0" | "0.0" => Some(false),
        _ if is(["true", "yes", "t", "y"]) => Some(true),
        _ if is(["false", "no", "f", "n"]) => Some(false),
        _ => None,
    }
}

/// The numbers of a list: `[0.5, 1]`, `0.5|1`, or with spaces, commas or semicolons between them.
pub(super) fn list_of_numbers(cell: &str) -> Option<Vec<f32>> {
    let inner = cell.strip_prefix('[').map_or(Some(cell), |inner| inner.strip_suffix(']'))?;
    let parts = inner.split([BETWEEN_VALUES, ',', ';', ' ', '\t', '\n']).filter(|part| !part.is_empty());
    parts.map(number).collect()
}

/// Calls `each` with every value of a cell that may have several: `a|b|c`, or a list in JSON.
pub(super) fn values(cell: &str, mut each: impl FnMut(&str)) {
    if cell.starts_with('[')
        && let Ok(list) = serde_json::from_str::<Vec<serde_json::Value>>(cell)
    {
        for value in list {
            match value {
                serde_json::Value::Null => {}
                serde_json::Value::String(text) => {
                    if !text.trim().is_empty() {
                        each(text.trim());
                    }
                }
                other => each(&other.to_string()),
            }
        }
        return;
    }
    cell.split(BETWEEN_VALUES).map(str::trim).filter(|value| !value.is_empty()).for_each(each);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_values_are_told_apart() {
        let check = |cell: &str, expected: &[&str]| {
            let mut found = Vec::new();
            values(cell, |value| found.push(value.to_owned()));
            assert_eq!(found, expected, "{cell}");
        };
        check("a| b ||c", &["a", "b", "c"]);
        check("[\"a|b\", 2, null, true, \" \"]", &["a|b", "2", "true"]);
        check("[not json", &["[not json"]);
        check("", &[]);
    }

    #[test]
    fn numbers_and_flags_are_read_in_their_usual_forms() {
        assert_eq!((number("1e3"), number("1e300"), number("x"), number("nan")), (Some(1000.0), None, None, None));
        assert_eq!(
            (boolean("TRUE"), boolean("n"), boolean("0"), boolean("2")),
            (Some(true), Some(false), Some(false), None)
        );
        assert_eq!(list_of_numbers("[0.5, -1]"), Some(vec![0.5, -1.0]));
        assert_eq!(list_of_numbers("1|2;3 4"), Some(vec![1.0, 2.0, 3.0, 4.0]));
        assert_eq!((list_of_numbers("[1, x]"), list_of_numbers("[1")), (None, None));
    }
}
