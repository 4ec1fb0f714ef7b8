//! `coldlink demo`: the whole path on a made-up world of papers.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use coldlink::dataset::Dataset;
use coldlink::load::{LoadOptions, load};
use coldlink::model::{Model, Query};
use coldlink::pipeline::{AUTO, Evaluation, Settings, Training};
use coldlink::split::Protocol;
use coldlink::train::TrainError;

use super::evaluate::report_text;
use super::train::stopped;
use super::{Common, seeds};
use crate::demo::world::World;
use crate::failure::Failure;
use crate::input::{NewOptions, load_new_nodes};
use crate::interrupt;
use crate::links::{Format, LinkWriter, Shape};
use crate::output::{print, write_to};
use crate::progress::Progress;
use crate::settings::seconds;

/// Links of each new paper that are shown.
const LINKS: usize = 5;
/// By this file a folder is known to be an earlier demo's, which may be written over.
const README: &str = "README.txt";

/// See it work on a synthetic citation graph
#[derive(Args)]
#[command(after_help = "\
Examples:
  coldlink demo
  coldlink demo --papers 10000 --seed 7 -o another-world
  coldlink demo --tables-only      write only the tables, to try other commands")]
pub struct Demo {
    /// Number of papers
    #[arg(long, default_value_t = 3000, value_name = "N", value_parser = clap::value_parser!(u32).range(200..=200_000))]
    papers: u32,
    /// Random seed
    #[arg(long, default_value_t = 0, value_parser = seeds())]
    seed: u64,
    /// Work that each search for settings may take, as 30s or 3m: the seconds it would take two ordinary cores
    #[arg(long, default_value = "60s", value_name = "TIME", value_parser = seconds)]
    budget: f64,
    /// Folder for the graph and the model
    #[arg(long, short, default_value = "coldlink-demo", value_name = "FOLDER")]
    output: PathBuf,
    /// Write the tables and stop
    #[arg(long)]
    tables_only: bool,
}

/// Runs the command.
pub fn run(args: &Demo, common: &Common) -> anyhow::Result<()> {
    let folder = &args.output;
    let shown = folder.display();
    let tell = |text: String| if common.quiet { Ok(()) } else { print(text) };
    check_free(folder)?;
    let world = World::generate(args.papers as usize, args.seed);
    world.export(folder).with_context(|| format!("cannot write `{shown}`"))?;
    tell(format!("A made-up world of papers is in {shown}/: nodes.csv, edges.csv, new-papers.csv\n"))?;
    if args.tables_only {
        return Ok(());
    }
    let dataset = load(folder, &LoadOptions::default()).with_context(|| format!("cannot load `{shown}`"))?;

    interrupt::watch();
    let settings = Settings::of_preset(AUTO, args.budget)?;
    let (budget, path) = (format!("--budget {}s", args.budget), folder.join("papers.model"));
    let seed = |option: &str| if args.seed == 0 { String::new() } else { format!(" {option} {}", args.seed) };
    let line = format!("coldlink evaluate {shown} --rank-baselines {budget}{}", seed("--first-seed"));
    tell(format!("\nHow good is it on papers it has not seen?\n  {line}\n"))?;
    print(format!("\n{}", evaluate(&dataset, &settings, args.seed, common)?))?;

    let line = format!("coldlink train {shown} -o {} {budget}{}", path.display(), seed("--seed"));
    tell(format!("\nNow with all papers\n  {line}\n"))?;
    let model = train(&dataset, &settings, args.seed, common)?;
    model.save(&path)?;

    let new = folder.join("new-papers.csv");
    let line = format!("coldlink predict {} --new {} --top {LINKS}", path.display(), new.display());
    tell(format!("\nWhat will papers cite that have just been written?\n  {line}\n\n"))?;
    print_links(&model, &new, common)
}

/// Nothing but an earlier demo is written over.
fn check_free(folder: &Path) -> anyhow::Result<()> {
    let is_empty = || folder.read_dir().is_ok_and(|mut entries| entries.next().is_none());
    if !folder.exists() || folder.join(README).is_file() && folder.join("new-papers.csv").is_file() || is_empty() {
        return Ok(());
    }
    let failure = Failure::new(format!("`{}` already exists and is not a demo", folder.display()));
    Err(failure.hint("choose another folder with `-o FOLDER`").into())
}

fn evaluate(dataset: &Dataset, settings: &Settings, seed: u64, common: &Common) -> anyhow::Result<String> {
    let evaluation = Evaluation::new(dataset, &Protocol::Strict, settings);
    let evaluation = Evaluation { first_seed: seed, rank_baselines: true, ..evaluation };
    let evaluated = evaluation.run(&mut Progress::new(common.quiet)).map_err(stopped_or_failed)?;
    Ok(report_text(&evaluated.record.report, &evaluated.audit))
}

fn train(dataset: &Dataset, settings: &Settings, seed: u64, common: &Common) -> anyhow::Result<Model> {
    Training::new(dataset, settings, seed).run(&mut Progress::new(common.quiet)).map_err(stopped_or_failed)
}

fn stopped_or_failed(error: coldlink::Error) -> anyhow::Error {
    match error {
        coldlink::Error::Train(error @ TrainError::Stopped { .. }) => stopped(error),
        other => other.into(),
    }
}

/// What `predict` prints of them.
fn print_links(model: &Model, new: &Path, common: &Common) -> anyhow::Result<()> {
    let asked = model.ask(load_new_nodes(new, model, &NewOptions::default(), common)?)?;
    let shape = Shape { ranked: true, ..Shape::of(model) };
    let query = model.resolve(&asked, &Query { count: LINKS, show: shape.titled, ..Query::default() })?;
    write_to(None, |out| {
        let mut writer = LinkWriter::new(Format::Table, shape, out)?;
        model.links(&asked, &query, 0..asked.len()).iter().try_for_each(|links| writer.write(links))?;
        writer.finish()
    })
}
