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
/// in any script and without their punctuation.
pub(super) fn words(text: &str, stop_words: StopWords, mut each: impl FnMut(&str)) {
    let mut small = String::new();
    for word in text.unicode_words() {
        small.clear();
        small.extend(word.chars().take(LONGEST).flat_map(char::to_lowercase));
        if stop_words == StopWords::None || ENGLISH.binary_search(&small.as_str()).is_err() {
            each(&small);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, stop_words: StopWords, expected: &[&str]) {
        let mut found = Vec::new();
        words(text, stop_words, |word| found.push(word.to_owned()));
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
}
