//! From `--preset`, `--config`, `--set`, `--validation` and `--objective` to a configuration.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use coldlink::config::{ConfigError, Validation};
use coldlink::pipeline::{AUTO, Settings};

use crate::files::Files;

/// The settings of a model.
#[derive(Args)]
#[command(next_help_heading = "Settings")]
pub struct SettingsArgs {
    /// Settings to start from: auto (searches for the best first), default, pairs, paper, authors-code, or a TOML file
    #[arg(long, default_value = AUTO, value_name = "NAME|FILE")]
    preset: String,
    /// Work that the `auto` search may take, as 90s or 3m: the seconds it would take two ordinary cores, so that the result does
    /// not depend on the machine. The final training comes on top; the plan that is printed first counts both
    #[arg(long, default_value = "3m", value_name = "TIME", value_parser = seconds)]
    budget: f64,
    /// End the `auto` search after this time on the clock, as 90s or 3m. What it has found by then depends on the machine, so
    /// another run may choose other settings. The final training comes on top
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    time_limit: Option<f64>,
    /// TOML file with settings that replace the preset's
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// One setting that replaces the preset's, such as width=128; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// What the number of steps is selected on: held-out links, or held-out nodes [default: the preset's]
    #[arg(long, value_name = "RULE")]
    validation: Option<Rule>,
    /// What steps, settings and the score's weights are chosen for [default: lists, or pairs under deal2020 and transductive]
    #[arg(long, value_name = "WHAT")]
    objective: Option<Aim>,
}

/// The objectives by name.
#[derive(Clone, Copy, ValueEnum)]
pub enum Aim {
    /// True links at the top of lists: MRR + recall@10
    Lists,
    /// Linked pairs above unlinked ones: AUC + AP
    Pairs,
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

impl SettingsArgs {
    /// The files they are read from.
    pub fn files(&self, files: Files) -> Files {
        let preset = Some(PathBuf::from(&self.preset)).filter(|preset| preset.is_file());
        files.reads_any(preset.iter().chain(&self.config))
    }

    /// All of it together.
    pub fn resolve(&self) -> Result<Settings, ConfigError> {
        let mut settings = Settings::of_preset(&self.preset, self.budget)?.within(self.time_limit);
        if let Some(path) = &self.config {
            settings = settings.merged_file(path)?;
        }
        for assignment in &self.set {
            settings = settings.set(assignment)?;
        }
        settings = match self.objective {
            Some(Aim::Lists) => settings.set("objective=lists")?,
            Some(Aim::Pairs) => settings.set("objective=pairs")?,
            None => settings,
        };
        Ok(match self.validation {
            Some(rule) => settings.validated_on(rule.into()),
            None => settings,
        })
    }
}

/// A time as 90, 90s, 3m or 1h, in seconds.
pub fn seconds(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.char_indices().last() {
        Some((end, 's')) => (&text[..end], 1.0),
        Some((end, 'm')) => (&text[..end], 60.0),
        Some((end, 'h')) => (&text[..end], 3600.0),
        _ => (text, 1.0),
    };
    let value = number.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    value.map(|number| number * unit).ok_or_else(|| "must be a time such as 90s, 3m or 1h".to_owned())
}
