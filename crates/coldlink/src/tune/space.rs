//! Settings to choose from, in TOML.

use rand::RngExt;
use rand::seq::IndexedRandom;

use super::{Candidate, TuneError};
use crate::config::{Config, Preset};
use crate::random::{Purpose, stream};

/// For each setting the values it may take: a list, or a range as `{ from = 0.001, to = 0.03, log = true }`.
#[derive(Clone, Debug, PartialEq)]
pub struct Space {
    settings: Vec<(String, Values)>,
}

#[derive(Clone, Debug, PartialEq)]
enum Values {
    List(Vec<toml::Value>),
    Range { from: f64, to: f64, log: bool },
}

/// The space that `coldlink tune` searches where none is given.
const BUILT_IN: &str = include_str!("../../spaces/default.toml");

impl Space {
    /// What is searched where nothing else is said.
    pub fn built_in() -> Self {
        // A test reads it, so the text is known to be whole.
        Space::parse(BUILT_IN).unwrap_or_else(|error| unreachable!("{error}"))
    }

    /// The TOML of the built-in space.
    pub fn built_in_text() -> &'static str {
        BUILT_IN
    }

    /// Reads a space, and checks that each of its settings is one.
    pub fn parse(text: &str) -> Result<Self, TuneError> {
        let table: toml::Table =
            text.parse().map_err(|error: toml::de::Error| TuneError::Space(error.message().trim().to_owned()))?;
        let mut settings = Vec::new();
        for (key, value) in table {
            let values = match value {
                toml::Value::Array(values) if !values.is_empty() => Values::List(values),
                toml::Value::Table(range) => range_of(&key, &range)?,
                _ => return Err(TuneError::Space(format!("`{key}` is neither a list of values nor a range"))),
            };
            settings.push((key, values));
        }
        let space = Space { settings };
        if space.settings.is_empty() {
            return Err(TuneError::Nothing);
        }
        for (key, values) in &space.settings {
            match values {
                Values::List(values) => {
                    for value in values {
                        check(&format!("{key}={value}"))?;
                    }
                }
                Values::Range { from, to, .. } => {
                    for value in [from, to] {
                        check(&format!("{key}={value:?}"))?;
                    }
                }
            }
        }
        Ok(space)
    }

    /// The same without some settings, which stay as the base has them.
    pub fn without(mut self, fixed: &[String]) -> Self {
        self.settings.retain(|(key, _)| !fixed.contains(key));
        self
    }

    /// `count` candidates around a base, drawn at random; the base itself comes first. Draws that are not sound as a whole are
    /// drawn again.
    pub fn sample(&self, base: &Config, count: usize, seed: u64) -> Vec<Candidate> {
        let mut candidates = vec![Candidate { name: "as given".to_owned(), config: base.clone() }];
        for index in 0..100 * count as u64 {
            if candidates.len() >= count {
                break;
            }
            let random = &mut stream(seed, Purpose::Trials, index, 0);
            let changes: Vec<String> = self
                .settings
                .iter()
                .map(|(key, values)| match values {
                    Values::List(values) => {
                        format!("{key}={}", values.choose(random).unwrap_or(&values[0]))
                    }
                    Values::Range { from, to, log } => {
                        let share: f64 = random.random();
                        let value = if *log { from * (to / from).powf(share) } else { from + share * (to - from) };
                        format!("{key}={}", rounded(value))
                    }
                })
                .collect();
            // All at once: one may be sound only together with another.
            let drawn = base.merged(&changes.join("\n"));
            let Ok(config) = drawn else { continue };
            if candidates.iter().all(|candidate| candidate.config != config) {
                candidates.push(Candidate { name: changes.join(" "), config });
            }
        }
        candidates
    }
}

/// Whether a setting is sound, with one loss or the other.
fn check(setting: &str) -> Result<(), TuneError> {
    Config::default().set(setting).or_else(|_| Preset::Paper.config().set(setting))?;
    Ok(())
}

fn range_of(key: &str, range: &toml::Table) -> Result<Values, TuneError> {
    let number = |name: &str| {
        let value = range.get(name).and_then(|value| value.as_float().or(value.as_integer().map(|whole| whole as f64)));
        value.ok_or_else(|| TuneError::Space(format!("the range of `{key}` has no number `{name}`")))
    };
    let (from, to) = (number("from")?, number("to")?);
    let log = range.get("log").and_then(toml::Value::as_bool).unwrap_or(false);
    if from >= to || (log && from <= 0.0) {
        return Err(TuneError::Space(format!(
            "the range of `{key}` must rise, and start above 0 where it is logarithmic"
        )));
    }
    Ok(Values::Range { from, to, log })
}

/// Three digits, with a decimal point: settings that are read by people.
fn rounded(value: f64) -> String {
    let digits = (2 - value.abs().max(1e-300).log10().floor() as i32).clamp(0, 12) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text } else { format!("{text}.0") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_space_is_sound_and_its_draws_are_too() {
        let candidates = Space::built_in().sample(&Config::default(), 40, 5);
        assert_eq!(candidates.len(), 40);
        assert_eq!(candidates, Space::built_in().sample(&Config::default(), 40, 5));
        for candidate in &candidates {
            candidate.config.check().unwrap();
            assert!((0.049..0.41).contains(&candidate.config.temperature), "{}", candidate.name);
        }
    }

    #[test]
    fn settings_that_need_one_another_are_drawn_together() {
        let space = Space::parse("alignment = [\"tight\"]\nloss = [\"pairs\"]").unwrap();
        assert_eq!(space.sample(&Config::default(), 100, 1).len(), 2);
        let fixed = space.without(&["alignment".to_owned()]).sample(&Config::default(), 100, 1);
        assert!(fixed.iter().all(|candidate| candidate.config.alignment == Config::default().alignment));
    }

    #[test]
    fn a_small_space_gives_no_candidate_twice() {
        let space = Space::parse("temperature = [0.1, 0.2]\nattribute_dropout = [0.0, 0.5]").unwrap();
        assert_eq!(space.sample(&Config::default(), 100, 1).len(), 5);
    }

    #[test]
    fn a_space_that_cannot_be_searched_is_refused_with_a_hint() {
        let texts = ["", "temperature", "temperature = 1", "temperatur = [0.1]", "width = [0]", "temperature = []"];
        let ranges = ["temperature = { from = 1 }", "temperature = { from = 2, to = 1 }"];
        let log = ["temperature = { from = 0.0, to = 1.0, log = true }"];
        for text in texts.iter().chain(&ranges).chain(&log) {
            let error = Space::parse(text).unwrap_err();
            assert!(error.hint().is_some() || matches!(error, TuneError::Config(_)), "{text}: {error}");
        }
    }
}
