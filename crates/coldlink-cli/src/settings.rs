//! From `--preset`, `--config`, `--set` and `--validation` to a configuration.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use coldlink::Config;
use coldlink::config::Preset;
use coldlink::split::{Protocol, Validation};
use coldlink::tune::Auto;

use crate::failure::Failure;

/// The preset that is a search.
const AUTO: &str = "auto";

/// The settings of a model.
#[derive(Args)]
#[command(next_help_heading = "Settings")]
pub struct SettingsArgs {
    /// Settings to start from: auto (searches for the best ones first), default, paper, authors-code, or a TOML file
    #[arg(long, default_value = AUTO, value_name = "NAME|FILE")]
    preset: String,
    /// Time for the search of `--preset auto` in `train` and `evaluate`, as 90s or 3m, estimated for two cores; the choice does
    /// not depend on the machine
    #[arg(long, default_value = "3m", value_name = "TIME", value_parser = seconds)]
    budget: f64,
    /// A TOML file with settings that replace the preset's
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// One setting that replaces the preset's, as width=128; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// What the number of steps is chosen on: links between known nodes, or nodes held back as if they were new
    /// [default: the preset's]
    #[arg(long, value_name = "RULE")]
    validation: Option<Rule>,
}

/// The rules by name.
#[derive(Clone, Copy, ValueEnum)]
pub enum Rule {
    /// A tenth of the links
    Edges,
    /// A tenth of the nodes with all their links
    Nodes,
}

impl From<Rule> for Validation {
    fn from(rule: Rule) -> Self {
        match rule {
            Rule::Edges => Validation::Edges,
            Rule::Nodes => Validation::Nodes,
        }
    }
}

/// A configuration and where it came from.
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

impl SettingsArgs {
    /// All of it together.
    pub fn resolve(&self) -> anyhow::Result<Settings> {
        let (preset, mut config) = start(&self.preset)?;
        let mut asked = false;
        let mut fixed = Vec::new();
        if let Some(path) = &self.config {
            let text = read(path)?;
            config = config.merged(&text).with_context(|| format!("cannot use `{}`", path.display()))?;
            let table = text.parse::<toml::Table>().unwrap_or_default();
            asked = table.contains_key("validation");
            fixed.extend(table.keys().cloned());
        }
        for assignment in &self.set {
            config = config.set(assignment)?;
            let key = assignment.split('=').next().unwrap_or_default().trim();
            asked |= key == "validation";
            fixed.push(key.to_owned());
        }
        if let Some(rule) = self.validation {
            config.validation = rule.into();
            asked = true;
        }
        let auto = (preset == AUTO).then(|| Auto { budget: self.budget, fixed: fixed.clone() });
        Ok(Settings { preset, asked: asked.then_some(config.validation), config, auto, fixed })
    }
}

impl Settings {
    /// The same for a protocol: its rule of validation holds, unless someone asked for another.
    pub fn under(mut self, protocol: &Protocol) -> anyhow::Result<Self> {
        self.config.validation = match self.asked {
            Some(rule) => rule,
            None => protocol.validation(self.config.validation)?,
        };
        Ok(self)
    }
}

fn start(preset: &str) -> anyhow::Result<(String, Config)> {
    let is_name = preset == AUTO || Preset::find(preset).is_ok() || !Path::new(preset).is_file();
    if is_name && !preset.ends_with(".toml") && !preset.contains(std::path::MAIN_SEPARATOR) {
        let config = if preset == AUTO { Config::default() } else { Preset::find(preset)?.config() };
        return Ok((preset.to_owned(), config));
    }
    let path = Path::new(preset);
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let config = Config::default().merged(&read(path)?).with_context(|| format!("cannot use `{preset}`"))?;
    Ok((name, config))
}

/// A time as 90, 90s, 3m or 1h, in seconds.
fn seconds(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.char_indices().last() {
        Some((end, 's')) => (&text[..end], 1.0),
        Some((end, 'm')) => (&text[..end], 60.0),
        Some((end, 'h')) => (&text[..end], 3600.0),
        _ => (text, 1.0),
    };
    let value = number.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    value.map(|number| number * unit).ok_or_else(|| "must be a time as 90s, 3m or 1h".to_owned())
}

fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))
}

/// The protocol of that name, or a split at that path.
pub fn protocol(text: &str, time: Option<&str>) -> anyhow::Result<Protocol> {
    Ok(match text {
        "deal2020" => Protocol::Deal2020,
        "strict" => Protocol::Strict,
        "temporal" => Protocol::Temporal { column: time.map(str::to_owned) },
        "transductive" => Protocol::Transductive,
        path if Path::new(path).exists() => Protocol::Files(path.into()),
        other => {
            let failure = Failure::new(format!("there is no protocol and no split `{other}`"));
            let hint = "protocols are `strict`, `temporal`, `deal2020` and `transductive`; or give the path of a split";
            return Err(failure.hint(hint).into());
        }
    })
}
