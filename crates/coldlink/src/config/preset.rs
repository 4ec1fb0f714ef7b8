//! The named configurations.

use super::{Config, ConfigError};
use crate::text::nearest;

/// The configurations that come with coldlink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// The best we know for lists of links.
    Default,
    /// The best we know for pairs, as the paper asks about them.
    Pairs,
    /// The paper's description.
    Paper,
    /// The released code of its authors.
    AuthorsCode,
}

impl Preset {
    /// All of them.
    pub const ALL: [Preset; 4] = [Preset::Default, Preset::Pairs, Preset::Paper, Preset::AuthorsCode];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Default => "default",
            Preset::Pairs => "pairs",
            Preset::Paper => "paper",
            Preset::AuthorsCode => "authors-code",
        }
    }

    /// Its TOML, with a comment on where values come from.
    pub fn text(self) -> &'static str {
        match self {
            Preset::Default => include_str!("../../presets/default.toml"),
            Preset::Pairs => include_str!("../../presets/pairs.toml"),
            Preset::Paper => include_str!("../../presets/paper.toml"),
            Preset::AuthorsCode => include_str!("../../presets/authors-code.toml"),
        }
    }

    /// The preset of that name.
    pub fn find(name: &str) -> Result<Self, ConfigError> {
        let known = Preset::ALL.into_iter().find(|preset| preset.name() == name);
        known.ok_or_else(|| ConfigError::UnknownPreset {
            name: name.to_owned(),
            nearest: nearest(name, Preset::ALL.map(Preset::name)),
        })
    }

    /// Its configuration.
    pub fn config(self) -> Config {
        // A test reads every preset, so the text is known to be whole.
        toml::from_str(self.text()).unwrap_or_else(|error| unreachable!("preset `{}`: {error}", self.name()))
    }
}
