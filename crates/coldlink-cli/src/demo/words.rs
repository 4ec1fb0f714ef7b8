//! The words of the demo's papers: topics with their fields (in `topics.txt`), and how titles are made of them.

/// A subject: a few fields, and the places where its papers play.
pub(super) struct Topic {
    pub(super) fields: Vec<Field>,
    /// Each completes a title, preposition included.
    pub(super) places: Vec<&'static str>,
}

/// A cluster of keywords within a topic: its papers mean nearly the same by each of them.
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) keywords: Vec<&'static str>,
}

/// A keyword that papers of all topics use, and how it shows in a title.
pub(super) struct Method {
    pub(super) keyword: &'static str,
    /// `{a}` and `{b}` stand for two keywords (`{A}` for one at the beginning), `{at}` for a place or nothing.
    pub(super) titles: &'static [&'static str],
}

impl Topic {
    /// All topics of `topics.txt`, where a line at the margin begins a topic and an indented one is a field of it.
    pub(super) fn all() -> Vec<Topic> {
        let mut topics: Vec<Topic> = Vec::new();
        let lines = include_str!("topics.txt").lines().filter(|line| !line.starts_with('#'));
        for (head, words) in lines.filter_map(|line| line.split_once(": ")) {
            let words = words.split(", ").collect();
            match (head.strip_prefix("  "), topics.last_mut()) {
                (Some(name), Some(topic)) => topic.fields.push(Field { name, keywords: words }),
                _ => topics.push(Topic { fields: Vec::new(), places: words }),
            }
        }
        topics
    }
}

const fn method(keyword: &'static str, titles: &'static [&'static str]) -> Method {
    Method { keyword, titles }
}

/// What papers of all topics do.
pub(super) const METHODS: [Method; 16] = [
    method(
        "survey",
        &["A survey of {a} and {b}{at}", "{A} and {b}{at}: a survey", "Twenty years of {a}{at}: a survey"],
    ),
    method("model", &["A model of {a} and {b}{at}", "Modelling {a} by means of {b}", "{A} as a model of {b}{at}"]),
    method("measurement", &["Measuring {a} without {b}{at}", "New measurements of {a} and {b}{at}"]),
    method("field study", &["{A} and {b}{at}: a field study", "In the field with {a}", "Three summers of {a}{at}"]),
    method("statistics", &["The statistics of {a}{at}", "Counting {a} and {b}{at}"]),
    method("history", &["A short history of {a}{at}", "From {a} to {b}: a history", "{A} before {b}"]),
    method("simulation", &["Simulating {a} and {b}{at}", "{A} and {b} in simulation", "Simulated {a}{at}"]),
    method("theory", &["Towards a theory of {a}", "{A} in theory, {b} in practice"]),
    method("experiment", &["Experiments with {a} and {b}{at}", "{A} and {b}: an experiment that went wrong"]),
    method("data set", &["A data set of {a} and {b}{at}", "An open collection of {a}{at}"]),
    method("uncertainty", &["How certain are we about {a}{at}?", "What {a} cannot tell us about {b}"]),
    method("comparison", &["{A} or {b}{at}? A comparison", "{A} compared with {b}{at}"]),
    method("long-term trends", &["Long-term trends of {a} and {b}{at}", "A century of {a}{at}"]),
    method("case study", &["{A} and {b}{at}: a case study", "A case of {a} without {b}{at}"]),
    method("review", &["{A} reviewed", "What we know about {a} and {b}{at}", "Myths about {a}{at}"]),
    method("forecasting", &["Forecasting {a} from {b}{at}", "Does the past of {b} foretell {a}{at}?"]),
];

/// Fields of different topics that read each other. No keyword of theirs says so: it has to be learned from links.
pub(super) const KINDRED: [(&str, &str); 16] = [
    ("bee diseases", "contagion"),
    ("honey", "fermentation"),
    ("foraging", "shortest paths"),
    ("eruptions", "avalanches"),
    ("volcano watching", "earthquakes listened to"),
    ("volcanic gases", "ice cores"),
    ("reef life", "deep life"),
    ("bleaching", "meltwater"),
    ("merchants", "networks"),
    ("goods", "pigments"),
    ("routes", "navigation"),
    ("wrecks", "workshops"),
    ("money", "strategy"),
    ("hard problems", "game engines"),
    ("birdsong", "tuning"),
    ("perspective", "telescopes"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_keyword_belongs_to_one_field() {
        let topics = Topic::all();
        let fields = topics.iter().flat_map(|topic| &topic.fields);
        let keywords: Vec<&str> = fields.flat_map(|field| &field.keywords).copied().collect();
        let methods = METHODS.iter().map(|method| method.keyword);
        let different: HashSet<&str> = keywords.iter().copied().chain(methods).collect();
        assert_eq!(different.len(), keywords.len() + METHODS.len());
        assert!(different.iter().all(|keyword| !keyword.contains(['|', ',', '"'])));
    }

    #[test]
    fn topics_have_four_fields_of_nine_keywords() {
        let topics = Topic::all();
        assert_eq!(topics.len(), 14);
        assert!(topics.iter().all(|topic| topic.fields.len() == 4 && topic.places.len() == 6));
        assert!(topics.iter().flat_map(|topic| &topic.fields).all(|field| field.keywords.len() == 9));
    }

    #[test]
    fn kindred_fields_exist_and_are_of_two_topics() {
        let topics = Topic::all();
        let topic_of = |name| topics.iter().position(|topic| topic.fields.iter().any(|field| field.name == name));
        for (one, other) in KINDRED {
            assert!(topic_of(one).is_some() && topic_of(other).is_some(), "{one}, {other}");
            assert_ne!(topic_of(one), topic_of(other));
        }
    }
}
