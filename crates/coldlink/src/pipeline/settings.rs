//! From the name of a preset and changes to it to all settings, and to whether better ones are searched for.

use std::path::{MAIN_SEPARATOR, Path};

use crate::config::{Config, ConfigError, Objective, Preset, Validation};
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
        let auto = (preset == AUTO).then(|| Auto { budget, fixed: Vec::new(), time_limit: None });
        Ok(Settings { preset, config, auto, fixed: Vec::new(), asked: None })
    }

    /// The same where the search ends after so many seconds on the clock, whatever its budget: another run may choose other settings.
    pub fn within(mut self, seconds: Option<f64>) -> Self {
        if let Some(auto) = &mut self.auto {
            auto.time_limit = seconds;
        }
        self
    }

    /// These and no others: nothing is searched for.
    pub fn given(config: Config) -> Self {
        Settings { preset: "given".to_owned(), config, auto: None, fixed: Vec::new(), asked: None }
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
        let epochs = self.config.epochs;
        self.config = self.config.set(assignment)?;
        let key = assignment.split('=').next().unwrap_or_default().trim().to_owned();
        if key == "steps" && self.fixed.iter().any(|key| key == "epochs") {
            self.config.epochs = epochs;
        }
        Ok(self.fixing([key]))
    }

    /// The same with a rule of validation that someone asked for.
    pub fn validated_on(mut self, rule: Validation) -> Self {
        self.config.validation = rule;
        self.asked = Some(rule);
        self
    }

    /// The same for a protocol: its rule of validation holds, and those of the paper choose for pairs, unless someone asked for another.
    pub fn under(mut self, protocol: &Protocol) -> Result<Self, SplitError> {
        self.config.validation = match self.asked {
            Some(rule) => rule,
            None => protocol.validation(self.config.validation)?,
        };
        if self.fixed.iter().all(|key| key != "objective") && protocol.is_about_pairs()? {
            self.config.objective = Objective::Pairs;
            self = self.rebased();
        }
        Ok(self)
    }

    /// The same where pairs are asked for: on the settings that are best for them, unless a preset was asked for by name.
    fn rebased(mut self) -> Self {
        let free = [AUTO, Preset::Default.name()].contains(&self.preset.as_str());
        if free && self.config.objective == Objective::Pairs {
            let mut keys = self.fixed.clone();
            if self.config.validation != Preset::Pairs.config().validation {
                keys.push("validation".to_owned());
            }
            if let Ok(config) = Preset::Pairs.config().taking(&keys, &self.config) {
                self.config = config;
            }
        }
        self
    }

    fn fixing(mut self, keys: impl IntoIterator<Item = String>) -> Self {
        self.fixed.extend(keys);
        if self.fixed.iter().any(|key| key == "validation") {
            self.asked = Some(self.config.validation);
        }
        if let Some(auto) = &mut self.auto {
            auto.fixed.clone_from(&self.fixed);
        }
        self.rebased()
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
        assert_eq!(
            settings.auto,
            Some(Auto { budget: 60.0, fixed: vec!["width".into(), "steps".into()], time_limit: None })
        );
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
    fn the_papers_protocols_choose_for_pairs_unless_someone_asks_for_lists() {
        let auto = || Settings::of_preset(AUTO, 60.0).unwrap();
        let under = |settings: Settings, protocol: &Protocol| settings.under(protocol).unwrap().config;
        assert_eq!(under(auto(), &Protocol::Strict), Config::default());
        assert_eq!(under(auto(), &Protocol::Deal2020), Preset::Pairs.config());
        let fixed = under(auto().set("width=32").unwrap(), &Protocol::Transductive);
        assert_eq!((fixed.width, fixed.temperature, fixed.validation), (32, 0.15, Validation::Edges));
        let lists = under(auto().set("objective=lists").unwrap(), &Protocol::Deal2020);
        assert_eq!(lists, Config::default());
        let pairs = auto().set("temperature=0.5").unwrap().set("objective=pairs").unwrap();
        assert_eq!((pairs.config.temperature, pairs.config.steps, pairs.config.epochs), (0.5, 2000, 0.0));
        let paper = Settings::of_preset("paper", 60.0).unwrap();
        assert_eq!(under(paper, &Protocol::Strict).objective, Objective::Pairs);
    }

    #[test]
    fn steps_alone_end_the_count_of_epochs() {
        let auto = || Settings::of_preset(AUTO, 60.0).unwrap();
        assert_eq!(auto().set("steps=20").unwrap().config.epochs, 0.0);
        assert_eq!(auto().set("epochs=3").unwrap().set("steps=20").unwrap().config.epochs, 3.0);
        assert_eq!(auto().set("steps=20").unwrap().set("epochs=3").unwrap().config.epochs, 3.0);
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
