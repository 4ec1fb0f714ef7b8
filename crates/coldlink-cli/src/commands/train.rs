//! `coldlink train`: from a graph to a model.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use coldlink::Error;
use coldlink::config::Preset;
use coldlink::index::LinkIndex;
use coldlink::model::Model;
use coldlink::pipeline::Training;
use coldlink::train::{Checkpoints, TrainError};
use coldlink::tune::{Journal, TuneError};

use super::{Common, index, seeds};
use crate::failure::Failure;
use crate::files::Files;
use crate::input::GraphArgs;
use crate::interrupt;
use crate::output::print;
use crate::progress::{Progress, quality};
use crate::settings::SettingsArgs;
use crate::tables::count;

/// Train a model on a graph
#[derive(Args)]
#[command(after_help = EXAMPLES, after_long_help = long_help())]
pub struct Train {
    /// Model file to write
    #[arg(long, short, value_name = "MODEL")]
    output: PathBuf,
    /// Random seed; the same seed gives the same model, bit for bit
    #[arg(long, default_value_t = 0, value_parser = seeds())]
    seed: u64,
    /// Folder for checkpoints; `--resume` continues from there after Ctrl-C or a crash. One training at a time uses it
    #[arg(long, value_name = "FOLDER")]
    checkpoint: Option<PathBuf>,
    /// Steps between checkpoints
    #[arg(long, value_name = "N", default_value_t = 500, requires = "checkpoint",
          value_parser = clap::value_parser!(u64).range(1..))]
    every: u64,
    /// Continue from the checkpoint, or start from the beginning if there is none; the model is bit-identical to that of an
    /// uninterrupted run
    #[arg(long, requires = "checkpoint")]
    resume: bool,
    /// Do not build an index; by default, one is built from 50,000 nodes on, or if there was one
    #[arg(long)]
    no_index: bool,
    #[command(flatten)]
    settings: SettingsArgs,
    #[command(flatten)]
    graph: GraphArgs,
}

const EXAMPLES: &str = "\
Examples:
  coldlink train papers/ -o papers.model
  coldlink train papers/ -o papers.model --budget 10m
  coldlink train papers/ -o papers.model --preset default --set width=128 --set steps=5000
  coldlink train papers/ -o papers.model --checkpoint papers-checkpoint --resume

The last example is the same before and after a kill, so a supervisor can repeat it until it ends.";

fn long_help() -> String {
    let settings: String = Preset::Default.text().lines().map(|line| format!("  {line}\n")).collect();
    format!("{EXAMPLES}\n\nAll settings, as the preset `default` has them:\n{settings}")
}

impl Train {
    /// What it reads and writes.
    pub fn files(&self) -> Files {
        self.graph
            .files(self.settings.files(Files::default()))
            .writes(&self.output)
            .writes(LinkIndex::path_of(&self.output))
    }
}

/// Runs the command.
pub fn run(args: &Train, common: &Common) -> anyhow::Result<()> {
    let settings = args.settings.resolve()?;
    let dataset = args.graph.load(common)?;
    let checkpoints = args.checkpoints()?;
    let journal = args.journal(settings.auto.is_some())?;
    if args.resume && !common.quiet {
        note_beginning(checkpoints.as_ref(), journal.as_ref());
    }
    if checkpoints.is_some() {
        interrupt::watch_saving()
    } else {
        interrupt::watch()
    }
    let started = Instant::now();
    let mut progress = Progress::new(common.quiet);
    let training = Training {
        dataset: &dataset,
        settings: &settings,
        seed: args.seed,
        journal: journal.as_ref().filter(|_| settings.auto.is_some()),
        checkpoints: checkpoints.as_ref(),
    };
    let model = training.run(&mut progress).map_err(|error| match (error, &journal) {
        (Error::Tune(TuneError::Train(TrainError::Stopped { .. })), Some(_)) => stopped_in_search(),
        (Error::Tune(TuneError::Train(error)) | Error::Train(error), _) => stopped(error),
        (error, _) => error.into(),
    })?;
    model.save(&args.output)?;
    checkpoints.map_or(Ok(()), Checkpoints::remove)?;
    journal.map_or(Ok(()), Journal::remove)?;
    if !common.quiet {
        print(done(&model, &args.output, started))?;
    }
    args.make_index(&model, common)
}

impl Train {
    /// Makes the index where it is worth it. One of the model that was here before would be of no use any more.
    fn make_index(&self, model: &Model, common: &Common) -> anyhow::Result<()> {
        let needed = !self.no_index && model.needs_index_at(&self.output);
        if needed { index::make(model, &self.output, common) } else { Ok(()) }
    }

    /// Where checkpoints go. What cannot be gone on with is refused here, before a search for settings begins.
    fn checkpoints(&self) -> Result<Option<Checkpoints>, TrainError> {
        let open = |folder: &PathBuf| Checkpoints::open(folder, self.every, self.resume);
        self.checkpoint.as_ref().map(open).transpose()
    }

    /// Where the trials of a search are kept beside checkpoints. Those of a search that is not wanted any more go in the end.
    fn journal(&self, searches: bool) -> Result<Option<Journal>, TuneError> {
        let folder = self.checkpoint.as_ref().map(|folder| folder.join("trials"));
        let folder = folder.filter(|folder| searches || folder.is_dir());
        folder.map(|folder| Journal::open(&folder)).transpose()
    }
}

/// Whoever mistypes the folder learns that nothing is continued.
fn note_beginning(checkpoints: Option<&Checkpoints>, journal: Option<&Journal>) {
    let Some(checkpoints) = checkpoints.filter(|checkpoints| !checkpoints.is_there()) else { return };
    if journal.is_none_or(Journal::is_empty) {
        let folder = checkpoints.folder().display();
        eprintln!("note: there is nothing to continue in `{folder}`; training starts from the beginning");
    }
}

fn stopped_in_search() -> anyhow::Error {
    let failure = Failure::stopped("stopped in the search for settings; finished trials are saved");
    failure.hint("run the same command with `--resume` to continue").into()
}

/// A stop that the user asked for is not reported as an error.
pub fn stopped(error: TrainError) -> anyhow::Error {
    let TrainError::Stopped { step, checkpoint } = &error else { return error.into() };
    let steps = format!("stopped after {}", count(*step as usize, "step"));
    let failure = match checkpoint {
        Some(path) => Failure::stopped(format!("{steps}; progress is saved in `{}`", path.display()))
            .hint("run the same command with `--resume` to continue"),
        None => Failure::stopped(format!("{steps}; nothing was saved"))
            .hint("use `--checkpoint FOLDER` to be able to continue after a stop"),
    };
    failure.into()
}

fn done(model: &Model, path: &Path, started: Instant) -> String {
    let steps = count(model.summary().steps as usize, "step");
    let seconds = started.elapsed().as_secs_f64();
    let chosen = model.summary().validation.map_or_else(String::new, |validated| {
        format!("validation on held-out {}: {}\n", model.config().validation, quality(&validated))
    });
    let new = if model.schema().is_some() { "new.csv" } else { "new.npz" };
    let path = path.display();
    format!("{path}: trained for {steps}, {seconds:.1} s in all\n{chosen}next: coldlink predict {path} --new {new}\n")
}
