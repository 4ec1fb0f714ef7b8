//! The commands, a file each.

mod add;
pub mod completions;
mod convert;
mod demo;
mod embed;
mod evaluate;
mod held_out;
mod index;
mod inspect;
mod licenses;
mod predict;
mod referee;
mod serve;
mod split;
mod train;
mod tune;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use coldlink::kernel::Cpu;

use crate::files::Files;

/// The seeds that files can hold.
const SEEDS: std::ops::RangeInclusive<u64> = 0..=i64::MAX as u64;

/// Predicts the links of nodes that a graph has never seen, from their attributes alone
#[derive(Parser)]
#[command(name = "coldlink", version, about = ABOUT, after_help = FIRST_STEPS, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub common: Common,
}

const ABOUT: &str = "Predicts the links of nodes that a graph has never seen, from their attributes alone";

const FIRST_STEPS: &str = "\
First steps:
  coldlink demo                                       see it work on a synthetic graph
  coldlink inspect papers/                            look at nodes.csv and edges.csv in papers/
  coldlink evaluate papers/                           how accurate would it be?
  coldlink train papers/ -o papers.model              train
  coldlink predict papers.model --new new.csv         rank links of new nodes
  coldlink serve papers.model                         the same over HTTP, with a page

GRAPH is a folder with nodes.csv and edges.csv (or .tsv or .jsonl, or with .gz or .zst), an .npz
file with the CSR arrays adj_* and attr_* (weights of links in adj_data, times in adj_time), a
folder in the PPI layout of GraphSAGE, or a .coldlink file that `coldlink convert` wrote.

Exit codes: 0 done, 1 finished but a threshold was not met, 2 could not run, 130 stopped by Ctrl-C.";

/// What every command understands.
#[derive(Args)]
#[command(next_help_heading = "Everywhere")]
pub struct Common {
    /// Print only results and errors
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Number of threads [default: one per core]; results do not depend on it
    #[arg(long, global = true, value_name = "N", value_parser = threads())]
    pub threads: Option<usize>,
    /// Instruction set [default: the best this machine has]
    #[arg(long, global = true, value_name = "CPU", value_parser = cpus())]
    pub cpu: Option<Cpu>,
}

fn threads() -> impl TypedValueParser<Value = usize> {
    clap::value_parser!(u16).range(1..=1024).map(usize::from)
}

fn cpus() -> impl TypedValueParser<Value = Cpu> {
    PossibleValuesParser::new(["portable", "avx2", "avx512"]).try_map(|name| name.parse::<Cpu>())
}

fn seeds() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(SEEDS)
}

/// A share from 0 to 1.
fn share(text: &str) -> Result<f32, String> {
    let value = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    value.ok_or_else(|| "must be a number from 0 to 1".to_owned())
}

/// A command with its arguments.
#[derive(Subcommand)]
pub enum Command {
    Demo(demo::Demo),
    Convert(convert::Convert),
    Inspect(inspect::Inspect),
    Split(split::Split),
    Train(train::Train),
    Tune(tune::Tune),
    Evaluate(evaluate::Evaluate),
    Index(index::Index),
    Predict(predict::Predict),
    Embed(embed::Embed),
    Add(add::Add),
    Serve(serve::Serve),
    Completions(completions::Completions),
    Licenses(licenses::Licenses),
}

impl Command {
    /// What it reads and writes.
    fn files(&self) -> Files {
        match self {
            Command::Convert(args) => args.files(),
            Command::Split(args) => args.files(),
            Command::Train(args) => args.files(),
            Command::Tune(args) => args.files(),
            Command::Evaluate(args) => args.files(),
            Command::Index(args) => args.files(),
            Command::Predict(args) => args.files(),
            Command::Embed(args) => args.files(),
            Command::Add(args) => args.files(),
            // These write nothing, or nothing but a new folder.
            Command::Demo(_)
            | Command::Inspect(_)
            | Command::Serve(_)
            | Command::Completions(_)
            | Command::Licenses(_) => Files::default(),
        }
    }

    /// Runs it.
    pub fn run(&self, common: &Common) -> anyhow::Result<()> {
        self.files().check()?;
        match self {
            Command::Demo(args) => demo::run(args, common),
            Command::Convert(args) => convert::run(args, common),
            Command::Inspect(args) => inspect::run(args, common),
            Command::Split(args) => split::run(args, common),
            Command::Train(args) => train::run(args, common),
            Command::Tune(args) => tune::run(args, common),
            Command::Evaluate(args) => evaluate::run(args, common),
            Command::Index(args) => index::run(args, common),
            Command::Predict(args) => predict::run(args, common),
            Command::Embed(args) => embed::run(args, common),
            Command::Add(args) => add::run(args, common),
            Command::Serve(args) => serve::run(args, common),
            Command::Completions(args) => completions::run(args),
            Command::Licenses(_) => licenses::run(),
        }
    }
}
