//! The words of a text.

use unicode_segmentation::UnicodeSegmentation;

use super::kind::StopWords;

/// Longer words are cut: no language has them, and files may.
const LONGEST: usize = 64;

/// English words that say nothing about a text.
const ENGLISH: [&str; 60] = [
    "a", "about", "all", "also", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "do", "for", "from",
    "had", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its", "more", "no", "not", "of", "on", "or",
    "our", "so", "such", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those",
    "to", "was", "we", "were", "what", "when", "which", "who", "will", "with", "you", "your",
];

/// Calls `each` with every word of a text, in small letters. Words are those of Unicode's rules, so that they are found
/// in any script and without their punctuation. Where `parts` are asked for, those of a word follow it.
pub(super) fn words(text: &str, stop_words: StopWords, parts: bool, mut each: impl FnMut(&str)) {
    let mut small = String::new();
    let mut add = |word: &str| {
        small.clear();
        small.extend(word.chars().take(LONGEST).flat_map(char::to_lowercase));
        if stop_words == StopWords::None || ENGLISH.binary_search(&small.as_str()).is_err() {
            each(&small);
        }
    };
    for word in text.unicode_words() {
        add(word);
        if parts {
            parts_of(word, &mut add);
        }
    }
}

/// What a character is to the borders of parts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Small,
    Capital,
    Digit,
    Between,
}

fn class(c: char) -> Class {
    match c {
        '\'' | '’' => Class::Small,
        _ if c.is_uppercase() => Class::Capital,
        _ if c.is_alphabetic() => Class::Small,
        _ if c.is_numeric() => Class::Digit,
        _ => Class::Between,
    }
}

/// The parts of a word as people write them into names: `snake_case`, `camelCase`, `HTTPServer`, `libqt5`, `example.com`. A
/// part has two characters at least; a word that is one part has none, and neither has a number.
fn parts_of(word: &str, each: &mut impl FnMut(&str)) {
    let mut add = |part: &str| {
        if part.len() < word.len() && part.chars().nth(1).is_some() {
            each(part);
        }
    };
    if !word.contains(|c: char| c.is_alphabetic()) {
        return;
    }
    let (mut start, mut before) = (0, Class::Between);
    for (place, c) in word.char_indices() {
        let now = class(c);
        let starts_word =
            || word[place + c.len_utf8()..].chars().next().is_some_and(|next| class(next) == Class::Small);
        let border = match (before, now) {
            (Class::Capital, Class::Small) => false,
            (Class::Capital, Class::Capital) => starts_word(),
            _ => before != now,
        };
        if border {
            add(word[start..place].trim_matches(|c| class(c) == Class::Between));
            start = place;
        }
        before = now;
    }
    add(word[start..].trim_matches(|c| class(c) == Class::Between));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, stop_words: StopWords, expected: &[&str]) {
        let mut found = Vec::new();
        words(text, stop_words, false, |word| found.push(word.to_owned()));
        assert_eq!(found, expected);
    }

    #[test]
    fn words_are_found_in_any_script_and_without_punctuation() {
        check("The Élan, of graph-mining (2020)!", StopWords::None, &["the", "élan", "of", "graph", "mining", "2020"]);
        check("Die Straße — не знаю", StopWords::None, &["die", "straße", "не", "знаю"]);
        check(&"x".repeat(1000), StopWords::None, &[&"x".repeat(64)]);
        check(" … ", StopWords::None, &[]);
    }

    #[test]
    fn stop_words_are_left_out_when_asked_for() {
        assert!(ENGLISH.is_sorted());
        check("The art of not being", StopWords::English, &["art", "being"]);
    }

    #[test]
    fn parts_of_names_follow_the_whole_words() {
        let check = |text: &str, expected: &str| {
            let mut found = Vec::new();
            words(text, StopWords::None, true, |word| found.push(word.to_owned()));
            assert_eq!(found.join(" "), expected);
        };
        check("libqt5-svg", "libqt5 libqt svg");
        check("snake_case camelCase", "snake_case snake case camelcase camel case");
        check("HTTPServer IOError2024", "httpserver http server ioerror2024 io error 2024");
        check("https://example.com/new", "https example.com example com new");
        check("don't 3.14 2020 plain NASA", "don't 3.14 2020 plain nasa");
        check("ÜberGröße", "übergröße über größe");
    }
}
