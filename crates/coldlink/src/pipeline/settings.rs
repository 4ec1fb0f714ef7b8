//! From the name of a preset and changes to it to all settings, and to whether better ones are searched for.

use std::path::{MAIN_SEPARATOR, Path};

use crate::config::{Config, ConfigError, Preset, Validation};
use crate::split::{Protocol, SplitError};
use crate::storage::read_short;
use crate::tune::Auto;

/// The preset that is a search.
pub const AUTO: &str = "auto";

/// A configuration and where it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The name of the preset.
    pub preset: String,
    /// All settings.
    pub config: Config,
    /// How better ones are searched for, where they are.
    pub auto: Option<Auto>,
    /// The settings that someone asked for one by one.
    pub fixed: Vec<String>,
    /// The validation rule, if someone asked for one.
    asked: Option<Validation>,
}

impl Settings {
    /// Those of a preset: `auto`, one of [`Preset::ALL`], or a TOML file. `budget` is that of `auto`, in estimated seconds.
    pub fn of_preset(preset: &str, budget: f64) -> Result<Self, ConfigError> {
        let (preset, config) = start(preset)?;
        let auto = (preset == AUTO).then(|| Auto { budget, fixed: Vec::new() });
        Ok(Settings { preset, config, auto, fixed: Vec::new(), asked: None })
    }

    /// These and no others: nothing is searched for.
    pub fn given(config: Config) -> Self {
        Settings { preset: Preset::Default.name().to_owned(), config, auto: None, fixed: Vec::new(), asked: None }
    }

    /// The same with the settings of a TOML text put over them.
    pub fn merged(mut self, text: &str) -> Result<Self, ConfigError> {
        self.config = self.config.merged(text)?;
        let keys = text.parse::<toml::Table>().unwrap_or_default();
        Ok(self.fixing(keys.keys().cloned()))
    }

    /// The same with the settings of a TOML file put over them.
    pub fn merged_file(self, path: &Path) -> Result<Self, ConfigError> {
        self.merged(&read(path)?).map_err(|error| unusable(path, error))
    }

    /// The same with one `key=value` put over them.
    pub fn set(mut self, assignment: &str) -> Result<Self, ConfigError> {
        self.config = self.config.set(assignment)?;
        let key = assignment.split('=').next().unwrap_or_default().trim().to_owned();
        Ok(self.fixing([key]))
    }

    /// The same with a rule of validation that someone asked for.
    pub fn validated_on(mut self, rule: Validation) -> Self {
        self.config.validation = rule;
        self.asked = Some(rule);
        self
    }

    /// The same for a protocol: its rule of validation holds, unless someone asked for another.
    pub fn under(mut self, protocol: &Protocol) -> Result<Self, SplitError> {
        self.config.validation = match self.asked {
            Some(rule) => rule,
            None => protocol.validation(self.config.validation)?,
        };
        Ok(self)
    }

    fn fixing(mut self, keys: impl IntoIterator<Item = String>) -> Self {
        self.fixed.extend(keys);
        if self.fixed.iter().any(|key| key == "validation") {
            self.asked = Some(self.config.validation);
        }
        if let Some(auto) = &mut self.auto {
            auto.fixed.clone_from(&self.fixed);
        }
        self
    }
}

fn start(preset: &str) -> Result<(String, Config), ConfigError> {
    let is_name = preset == AUTO || Preset::find(preset).is_ok() || !Path::new(preset).is_file();
    if is_name && !preset.ends_with(".toml") && !preset.contains(MAIN_SEPARATOR) {
        let config = if preset == AUTO { Config::default() } else { Preset::find(preset)?.config() };
        return Ok((preset.to_owned(), config));
    }
    let path = Path::new(preset);
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let config = Config::default().merged(&read(path)?).map_err(|error| unusable(path, error))?;
    Ok((name, config))
}

fn read(path: &Path) -> Result<String, ConfigError> {
    read_short(path).map_err(|source| ConfigError::Read { path: path.to_owned(), source })
}

fn unusable(path: &Path, error: ConfigError) -> ConfigError {
    ConfigError::File { path: path.to_owned(), source: Box::new(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_is_fixed_in_a_search() {
        let settings = Settings::of_preset(AUTO, 60.0).unwrap().merged("width = 32").unwrap().set("steps = 9").unwrap();
        assert_eq!((settings.config.width, settings.config.steps), (32, 9));
        assert_eq!(settings.auto, Some(Auto { budget: 60.0, fixed: vec!["width".into(), "steps".into()] }));
        assert_eq!(Settings::of_preset("paper", 60.0).unwrap().auto, None);
    }

    #[test]
    fn a_protocol_chooses_the_validation_rule_unless_someone_did() {
        let rule = |settings: Settings| settings.under(&Protocol::Transductive).unwrap().config.validation;
        let nodes = || Settings::of_preset(AUTO, 60.0).unwrap().set("width=8").unwrap();
        assert_eq!(rule(nodes()), Validation::Edges);
        assert_eq!(rule(nodes().validated_on(Validation::Nodes)), Validation::Nodes);
        assert_eq!(rule(nodes().set("validation=nodes").unwrap()), Validation::Nodes);
    }

    #[test]
    fn a_preset_may_be_a_file_and_is_called_like_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.toml");
        let named = path.to_string_lossy().into_owned();
        assert!(matches!(Settings::of_preset(&named, 1.0), Err(ConfigError::Read { .. })));
        std::fs::write(&path, "width = 7").unwrap();
        let settings = Settings::of_preset(&named, 1.0).unwrap();
        assert_eq!((settings.preset.as_str(), settings.config.width, settings.auto), ("mine", 7, None));
        std::fs::write(&path, "widht = 7").unwrap();
        let error = Settings::of_preset(&named, 1.0).unwrap_err();
        assert!(error.hint().is_some_and(|hint| hint.to_string().contains("`width`")), "{error}");
    }
}
