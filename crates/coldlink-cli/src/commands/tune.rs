//! `coldlink tune`: the best settings for a graph, as a preset of its own.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use clap::Args;
use coldlink::Config;
use coldlink::pipeline::Tuning;
use coldlink::storage::{read_short, write_atomically};
use coldlink::train::{Control, Event, Observer, TrainError};
use coldlink::tune::{Chosen, Journal, Plan, Planned, Space, Tried, TuneError, Watcher};
use coldlink_chart::Trial;

use super::{Common, seeds};
use crate::failure::Failure;
use crate::files::Files;
use crate::input::GraphArgs;
use crate::interrupt;
use crate::output::print;
use crate::progress::{Progress, quality};
use crate::settings::SettingsArgs;
use crate::tables::{Columns, count, percent};

/// Trials that are shown while the search goes on.
const SHOWN: usize = 5;

/// Search for the best settings for a graph
#[derive(Args)]
#[command(after_help = EXAMPLES, after_long_help = long_help(), mut_arg("budget", |budget| budget.hide(true)))]
pub struct Tune {
    /// Preset to write, a TOML file for `--preset`
    #[arg(long, short, value_name = "PRESET.toml")]
    output: PathBuf,
    /// Number of candidates, each tried for a ninth of its steps; the best third is tried for a third, the best third of
    /// those in full
    #[arg(long, default_value_t = 27, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=10_000))]
    trials: u16,
    /// Search space, a TOML file with the values of each setting [default: see `--help`]
    #[arg(long, value_name = "FILE")]
    space: Option<PathBuf>,
    /// Folder for finished trials; the same command continues from there [default: PRESET.trials]
    #[arg(long, value_name = "FOLDER")]
    trials_folder: Option<PathBuf>,
    /// Write a picture (SVG) of the trials
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Random seed
    #[arg(long, default_value_t = 0, value_parser = seeds())]
    seed: u64,
    #[command(flatten)]
    settings: SettingsArgs,
    #[command(flatten)]
    graph: GraphArgs,
}

const EXAMPLES: &str = "\
Examples:
  coldlink tune papers/ -o papers.toml
  coldlink tune papers/ -o papers.toml --trials 81 --plot trials.svg
  coldlink train papers/ -o papers.model --preset papers.toml

coldlink compares settings on held-out nodes. Stop it at any moment; the same command continues.";

fn long_help() -> String {
    let space: String = Space::built_in_text().lines().map(|line| format!("  {line}\n")).collect();
    format!("{EXAMPLES}\n\nThe default search space:\n{space}")
}

impl Tune {
    /// What it reads and writes.
    pub fn files(&self) -> Files {
        let files = self.graph.files(self.settings.files(Files::default())).reads_any(&self.space);
        files.writes(&self.output).writes_any(&self.plot)
    }
}

/// Runs the command.
pub fn run(args: &Tune, common: &Common) -> anyhow::Result<()> {
    let settings = args.settings.resolve()?;
    let space = args.space()?;
    let dataset = args.graph.load(common)?;
    let journal = Journal::open(&args.folder())?;
    let tuning = Tuning {
        dataset: &dataset,
        settings: &settings,
        space: &space,
        trials: args.trials.into(),
        seed: args.seed,
        journal: Some(&journal),
    };
    interrupt::watch();
    let mut live = Live::new(common.quiet);
    let chosen = tuning.run(&mut live).map_err(stopped)?;
    write_preset(&args.output, &chosen)?;
    if let Some(path) = &args.plot {
        write_plot(path, &dataset.name, &live.points)?;
    }
    let table = best_table(&chosen.tried);
    let path = args.output.display();
    print(format!("{table}\n{path}: written; next: coldlink train GRAPH -o MODEL --preset {path}\n"))
}

impl Tune {
    fn space(&self) -> anyhow::Result<Space> {
        let Some(path) = &self.space else { return Ok(Space::built_in()) };
        let text = read_short(path).with_context(|| format!("cannot read `{}`", path.display()))?;
        Space::parse(&text).with_context(|| format!("cannot use `{}`", path.display()))
    }

    fn folder(&self) -> PathBuf {
        self.trials_folder.clone().unwrap_or_else(|| self.output.with_extension("trials"))
    }
}

fn stopped(error: coldlink::Error) -> anyhow::Error {
    if !matches!(error, coldlink::Error::Tune(TuneError::Train(TrainError::Stopped { .. }))) {
        return error.into();
    }
    let failure = Failure::stopped("stopped; finished trials are saved");
    failure.hint("run the same command again to continue").into()
}

/// Shows the trial at hand and the best so far.
struct Live {
    progress: Progress,
    tried: Vec<Tried>,
    points: Vec<Trial>,
    started: Instant,
    shows: bool,
}

impl Live {
    fn new(quiet: bool) -> Self {
        let progress = Progress::new(quiet);
        let shows = !quiet && std::io::stderr().is_terminal();
        Live { progress, tried: Vec::new(), points: Vec::new(), started: Instant::now(), shows }
    }
}

impl Observer for Live {
    fn on(&mut self, event: Event) -> Control {
        self.progress.on(event)
    }
}

impl Watcher for Live {
    fn planned(&mut self, plan: &Plan) {
        self.progress.planned(plan);
    }

    fn trial_started(&mut self, planned: &Planned<'_>) {
        self.progress.trial_started(planned);
    }

    fn trial_ended(&mut self, tried: &Tried) {
        self.progress.trial_ended(tried);
        self.points.push(Trial {
            seconds: self.points.last().map_or(0.0, |point| point.seconds) + tried.seconds,
            quality: tried.trial.best.quality(),
            label: tried.name.clone(),
            full: tried.share >= 1.0,
        });
        self.tried.push(tried.clone());
        if self.shows {
            let elapsed = self.started.elapsed().as_secs_f64();
            eprintln!("best after {} in {elapsed:.0} s\n{}", count(self.tried.len(), "trial"), best_table(&self.tried));
        }
    }
}

/// The best trials, those with more steps first.
fn best_table(tried: &[Tried]) -> Columns {
    let mut ranked: Vec<&Tried> = tried.iter().collect();
    ranked.sort_by(|a, b| b.share.total_cmp(&a.share).then(b.trial.best.quality().total_cmp(&a.trial.best.quality())));
    let mut table = Columns::new(["on validation", "steps", "seconds", "settings"]);
    for tried in ranked.into_iter().take(SHOWN) {
        let steps = format!("{} ({})", tried.trial.best.step, percent(tried.share));
        table.row([quality(&tried.trial.best), steps, format!("{:.1}", tried.seconds), tried.name.clone()]);
    }
    table
}

fn write_preset(path: &Path, chosen: &Chosen) -> anyhow::Result<()> {
    let about = chosen.best().map_or_else(String::new, |best| {
        format!(
            "# {}, the best of {}: {}\n",
            best.name,
            count(chosen.candidates(), "candidate"),
            quality(&best.trial.best)
        )
    });
    let text = format!("# Found by `coldlink tune`.\n{about}{}", Config::to_toml(&chosen.config));
    write_atomically(path, |out| out.write_all(text.as_bytes()))
        .with_context(|| format!("cannot write `{}`", path.display()))
}

fn write_plot(path: &Path, name: &str, points: &[Trial]) -> anyhow::Result<()> {
    let picture = coldlink_chart::trials(&format!("{name}: settings that were tried"), points);
    write_atomically(path, |out| out.write_all(picture.as_bytes()))
        .with_context(|| format!("cannot write `{}`", path.display()))
}
