//! What can be wrong with settings.

use std::io;
use std::path::PathBuf;

use super::Preset;
use crate::hint::Hint;

/// What can be wrong with settings.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// No such key.
    #[error("there is no setting `{key}`")]
    UnknownKey {
        /// As it was given.
        key: String,
        /// The most similar known key.
        nearest: String,
    },
    /// No such preset.
    #[error("there is no preset `{name}`")]
    UnknownPreset {
        /// As it was given.
        name: String,
        /// The most similar known one.
        nearest: String,
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
        /// What is wrong, in the parser's words.
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
            ConfigError::UnknownKey { nearest, .. } => Hint::text(format!("did you mean `{nearest}`?")),
            ConfigError::UnknownPreset { nearest, .. } => {
                let names = Preset::ALL.map(Preset::name).join("`, `");
                Hint::text(format!("did you mean `{nearest}`? Presets are `{names}`, or the path of a TOML file"))
            }
            ConfigError::File { source, .. } => return source.hint(),
            ConfigError::NotAnAssignment(_) => Hint::new("write, for example, {set width=128}"),
            ConfigError::Read { .. } => Hint::new("check that the path exists and that you have access to it"),
            ConfigError::Syntax(_) => Hint::new("write one setting per line, such as `width = 128`"),
            ConfigError::Kind { .. } | ConfigError::Range { .. } => return None,
        })
    }
}

/// The most similar of the known words.
pub(super) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let similarity = |candidate: &&str| strsim::jaro_winkler(word, candidate);
    let best = known.into_iter().max_by(|a, b| similarity(a).total_cmp(&similarity(b)));
    best.unwrap_or_default().to_owned()
}
