//! What tests ask of markup.

/// Panics unless every tag is closed in order, every attribute quoted, every `&` the start of an entity, and every
/// number a number. For tests of SVG and HTML.
pub fn check_well_formed(markup: &str) {
    let mut open = Vec::new();
    let mut rest = markup;
    while let Some((text, after)) = rest.split_once('<') {
        check_text(text);
        let (tag, after) = after.split_once('>').expect("a tag ends");
        rest = after;
        let name = tag.split_whitespace().next().expect("a tag has a name");
        assert!(tag.matches('"').count().is_multiple_of(2), "`{tag}` has an open quote");
        assert!(!tag.contains("NaN") && !tag.contains("inf\"") && !tag.contains("inf "), "`{tag}` has no number");
        if let Some(closed) = name.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed), "in {markup}");
        } else if !(tag.ends_with('/') || name.starts_with('!') || name == "meta") {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?} left open");
    assert_eq!(rest, "\n", "after the last tag");
}

fn check_text(text: &str) {
    assert!(!text.contains(|character: char| character.is_control() && character != '\n'));
    for after in text.split('&').skip(1) {
        let entity = after.split_once(';').map(|(entity, _)| entity);
        let is_named = |entity: &str| entity.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '#');
        assert!(entity.is_some_and(|entity| !entity.is_empty() && is_named(entity)), "a bare `&` in `{text}`");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_markup_is_refused() {
        check_well_formed("<svg><g x=\"1\"/>a &amp; b</svg>\n");
        for broken in ["<a><b></a></b>\n", "<a x=\"1></a>\n", "<a x=\"NaN\"/>\n", "<a>b & c</a>\n", "<a>\n", "<a/>b\n"]
        {
            assert!(std::panic::catch_unwind(|| check_well_formed(broken)).is_err(), "{broken}");
        }
    }
}
