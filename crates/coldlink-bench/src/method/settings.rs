//! Settings of a method: its defaults with changes put over them, checked as a whole.

use coldlink::config::ConfigError;
use coldlink::sample::SampleError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

/// How long a method is trained, and how often it is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Training {
    /// Steps at the most.
    pub steps: u64,
    /// Steps between validations, at least 1.
    #[serde(deserialize_with = "at_least_one")]
    pub validate_every: u64,
    /// Validations without a new best before training stops.
    pub patience: u32,
    /// Adam's learning rate.
    pub learning_rate: f64,
}

fn at_least_one<'de, D: serde::Deserializer<'de>>(value: D) -> Result<u64, D::Error> {
    std::num::NonZeroU64::deserialize(value).map(std::num::NonZeroU64::get)
}

/// Why a method cannot be trained.
#[derive(Debug, thiserror::Error)]
pub enum MethodError {
    /// No such method.
    #[error("there is no method `{name}`")]
    Unknown {
        /// As it was given.
        name: String,
        /// The most similar known one.
        nearest: String,
    },
    /// No such setting, or one of the wrong kind.
    #[error("settings of `{method}`: {message}")]
    Settings {
        /// Which method.
        method: String,
        /// What is wrong, in the parser's words.
        message: String,
        /// The keys that there are.
        known: String,
    },
    /// A setting of the core.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Nothing to learn from.
    #[error(transparent)]
    Sample(#[from] SampleError),
}

impl MethodError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            MethodError::Unknown { nearest, .. } => {
                Some(format!("did you mean `{nearest}`? `coldlink-bench methods` lists them all"))
            }
            MethodError::Settings { known, .. } => Some(format!("the settings are {known}")),
            MethodError::Config(error) => error.hint().map(|hint| hint.to_string()),
            MethodError::Sample(error) => error.hint().map(|hint| hint.to_string()),
        }
    }
}

/// Reads settings: the defaults with `changes` put over them. A key of `changes` may name a nested one, as in
/// `training.steps`.
pub(super) fn read<S: Serialize + DeserializeOwned + Checked>(
    method: &str,
    defaults: &S,
    changes: &Table,
) -> Result<S, MethodError> {
    let refuse = |message: String, known: String| MethodError::Settings { method: method.to_owned(), message, known };
    let mut table = Table::try_from(defaults).map_err(|error| refuse(error.to_string(), String::new()))?;
    let known = keys(&table, "").join(", ");
    for (key, value) in flat(changes, "") {
        let place = find(&mut table, &key);
        *place.ok_or_else(|| refuse(format!("there is no setting `{key}`"), known.clone()))? = value;
    }
    let read: S =
        table.try_into().map_err(|error: toml::de::Error| refuse(error.message().to_owned(), known.clone()))?;
    match read.wrong() {
        Some(message) => Err(refuse(message.to_owned(), known)),
        None => Ok(read),
    }
}

/// Settings whose values are checked together.
pub(super) trait Checked {
    /// What is wrong with them, if anything.
    fn wrong(&self) -> Option<&'static str>;
}

/// The message of the first fault that there is.
pub(super) fn wrong<const N: usize>(faults: [(bool, &'static str); N]) -> Option<&'static str> {
    faults.into_iter().find_map(|(is_there, message)| is_there.then_some(message))
}

/// Settings in TOML.
pub(super) fn in_toml(settings: &impl Serialize) -> String {
    toml::to_string(settings).unwrap_or_else(|error| unreachable!("settings are plain values: {error}"))
}

/// Whether a share can be dropped.
pub(super) fn is_share(share: f32) -> bool {
    (0.0..1.0).contains(&share)
}

/// Nested tables as dotted keys.
pub(crate) fn flat(table: &Table, prefix: &str) -> Vec<(String, Value)> {
    let entry = |(key, value): (&String, &Value)| match value {
        Value::Table(inner) => flat(inner, &format!("{prefix}{key}.")),
        value => vec![(format!("{prefix}{key}"), value.clone())],
    };
    table.iter().flat_map(entry).collect()
}

fn keys(table: &Table, prefix: &str) -> Vec<String> {
    flat(table, prefix).into_iter().map(|(key, _)| format!("`{key}`")).collect()
}

fn find<'a>(table: &'a mut Table, key: &str) -> Option<&'a mut Value> {
    match key.split_once('.') {
        Some((first, rest)) => table.get_mut(first)?.as_table_mut().and_then(|inner| find(inner, rest)),
        None => table.get_mut(key),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Serialize, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Example {
        width: usize,
        training: Training,
    }

    impl Checked for Example {
        fn wrong(&self) -> Option<&'static str> {
            wrong([(self.width == 0, "`width` must be at least 1")])
        }
    }

    fn example(text: &str) -> Result<Example, MethodError> {
        let training = Training { steps: 10, validate_every: 2, patience: 3, learning_rate: 0.01 };
        read("example", &Example { width: 64, training }, &text.parse().unwrap())
    }

    #[test]
    fn changes_reach_nested_settings() {
        assert_eq!(example("training.steps = 20").unwrap().training.steps, 20);
        assert_eq!(example("[training]\nlearning_rate = 0.5").unwrap().training.learning_rate, 0.5);
        assert_eq!(example("width = 8").unwrap().width, 8);
    }

    #[test]
    fn a_setting_that_does_not_exist_is_refused_with_those_that_do() {
        for text in ["widht = 8", "training.step = 1", "width.x = 2"] {
            let error = example(text).unwrap_err();
            assert!(error.to_string().contains("no setting"), "{error}");
            assert!(error.hint().unwrap().contains("`training.steps`"));
        }
    }

    #[test]
    fn a_value_of_the_wrong_kind_is_refused() {
        assert!(example("width = \"wide\"").unwrap_err().to_string().contains("settings of `example`"));
        assert!(example("width = 0").unwrap_err().to_string().contains("`width` must be at least 1"));
        let never = example("training.validate_every = 0").unwrap_err().to_string();
        assert!(never.contains("nonzero"), "{never}");
    }
}
