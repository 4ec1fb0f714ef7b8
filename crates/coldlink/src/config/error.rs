//! What can be wrong with settings.

use std::io;
use std::path::PathBuf;

use super::Preset;
use crate::hint::Hint;
use crate::text::plain_reason;

/// What can be wrong with settings.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// No such key.
    #[error("there is no setting `{key}`")]
    UnknownKey {
        /// As it was given.
        key: String,
        /// The most similar known key, if one is similar.
        nearest: Option<String>,
    },
    /// No such preset.
    #[error("there is no preset `{name}`")]
    UnknownPreset {
        /// As it was given.
        name: String,
        /// The most similar known one, if one is similar.
        nearest: Option<String>,
    },
    /// Not `key=value`.
    #[error("expected `key=value`, got `{0}`")]
    NotAnAssignment(String),
    /// A file of settings that cannot be read.
    #[error("cannot read `{path}`", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file of settings that cannot be used.
    #[error("cannot use `{path}`", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<ConfigError>,
    },
    /// Not TOML.
    #[error("the settings are not valid TOML: {0}")]
    Syntax(String),
    /// A value of the wrong type.
    #[error("setting `{key}`: {message}")]
    Kind {
        /// Which setting.
        key: String,
        /// What is wrong.
        message: String,
    },
    /// A value outside its range.
    #[error("setting `{key}` must be {range}, got {value}")]
    Range {
        /// Which setting.
        key: &'static str,
        /// Its value.
        value: String,
        /// What is allowed.
        range: &'static str,
    },
}

impl ConfigError {
    /// What to do about it.
    pub fn hint(&self) -> Option<Hint> {
        Some(match self {
            ConfigError::UnknownKey { nearest: Some(nearest), .. } => Hint::text(format!("did you mean `{nearest}`?")),
            ConfigError::UnknownKey { nearest: None, .. } => {
                Hint::text("each preset has all settings, with what they mean".to_owned())
            }
            ConfigError::UnknownPreset { nearest, .. } => {
                let names = Preset::ALL.map(Preset::name).join("`, `");
                let meant = nearest.as_ref().map(|nearest| format!("did you mean `{nearest}`? ")).unwrap_or_default();
                Hint::text(format!("{meant}Presets are `{names}`, or the path of a TOML file"))
            }
            ConfigError::File { source, .. } => return source.hint(),
            ConfigError::NotAnAssignment(_) => Hint::new("write, for example, {set width=128}"),
            ConfigError::Read { .. } => Hint::new("check that the path exists and that you have access to it"),
            ConfigError::Syntax(_) => Hint::new("write one setting per line, such as `width = 128`"),
            ConfigError::Kind { .. } | ConfigError::Range { .. } => return None,
        })
    }
}

/// Why a value cannot take the place of another: what is expected, and what was given, instead of the types of this program.
pub(super) fn wrong_kind(key: &str, old: &toml::Value, given: &toml::Value, said: &str) -> String {
    let expected = match old {
        _ if key == "batch" => "a number of pairs, a share such as 0.25, or `auto`",
        toml::Value::Integer(_) => "a non-negative integer",
        toml::Value::Float(_) => "a number",
        toml::Value::Boolean(_) => "true or false",
        toml::Value::Array(numbers) if numbers.iter().all(|number| number.is_float()) => "a list of numbers",
        // Which words there are to choose from is known to the parser.
        _ => return plain_reason(said),
    };
    format!("expected {expected}, got {given}")
}
