//! The commands.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, Parser, Subcommand};
use coldlink_bench::experiment::{Experiment, Folder, Run, Wanted, Workers, tune, write_reports};
use coldlink_bench::method::METHODS;

use crate::progress::Progress;

/// The paper's tables, with every method in them
#[derive(Parser)]
#[command(name = "coldlink-bench", version, after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  coldlink-bench run experiments/table2-inductive.toml --seeds 3
  coldlink-bench run experiments/table3-transductive.toml --methods gcn,gat --sets cora --resume
  coldlink-bench tune experiments/table2-inductive.toml --methods mlp
  coldlink-bench report experiments/table2-inductive.toml results/2026-11-15-table2-inductive

Data sets are looked for in the folder that --data or DEAL_DATA names, else in ../shared/data.
One that is not there is a visible empty column; it fills once its file is there and the run is resumed.";

#[derive(Subcommand)]
enum Command {
    /// Runs the cells of an experiment that are not finished yet, then writes its reports
    Run(RunArguments),
    /// Searches settings on validation pairs of the first split and keeps the winners in experiments/tuned
    Tune(CellArguments),
    /// Writes summary, figures and page of a results folder anew
    Report {
        /// The experiment's file
        experiment: PathBuf,
        /// The folder of its results
        folder: PathBuf,
        #[command(flatten)]
        data: DataArguments,
    },
    /// Lists the methods
    Methods,
}

#[derive(Args)]
struct DataArguments {
    /// The folder of the data sets
    #[arg(long, env = "DEAL_DATA", default_value = "../shared/data", value_name = "FOLDER")]
    data: PathBuf,
}

#[derive(Args)]
struct CellArguments {
    /// The experiment's file
    experiment: PathBuf,
    /// Only these rows
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    methods: Vec<String>,
    /// Only these data sets
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    sets: Vec<String>,
    /// Only these blocks
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    blocks: Vec<String>,
    /// Cells at a time, which share the threads
    #[arg(long, default_value_t = 1, value_name = "N")]
    jobs: usize,
    /// Threads; all cores unless said
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// No bar, a line for each finished piece
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    data: DataArguments,
}

#[derive(Args)]
struct RunArguments {
    #[command(flatten)]
    cells: CellArguments,
    /// Splits; the experiment says how many unless said here
    #[arg(long, value_name = "N")]
    seeds: Option<u64>,
    /// The first split
    #[arg(long, default_value_t = 0, value_name = "SEED")]
    first_seed: u64,
    /// Goes on in the newest folder of this experiment, or in --out
    #[arg(long)]
    resume: bool,
    /// The folder of the results [default: results/DATE-NAME]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Runs cells only; `report` writes the rest
    #[arg(long)]
    no_report: bool,
}

impl CellArguments {
    fn wanted(&self) -> Wanted {
        Wanted { rows: self.methods.clone(), sets: self.sets.clone(), blocks: self.blocks.clone(), ..Wanted::default() }
    }

    fn workers(&self) -> Workers {
        Workers::new(self.jobs, self.threads)
    }
}

/// Runs a command.
pub fn run(arguments: Arguments) -> Result<()> {
    match arguments.command {
        Command::Run(arguments) => run_experiment(&arguments),
        Command::Tune(arguments) => tune_experiment(&arguments),
        Command::Report { experiment, folder, data } => {
            let experiment = Experiment::read(&experiment)?;
            let folder = Folder::existing(folder, &experiment)?;
            Ok(write_reports(&experiment, &folder, &data.data)?)
        }
        Command::Methods => {
            for method in METHODS {
                let tasks = if method.inductive { "inductive, transductive" } else { "transductive" };
                println!("{:18} {:20} {tasks:24} {}", method.name, method.label, method.about);
            }
            Ok(())
        }
    }
}

fn run_experiment(arguments: &RunArguments) -> Result<()> {
    let experiment = Experiment::read(&arguments.cells.experiment)?;
    let wanted = Wanted { seeds: arguments.seeds, first_seed: arguments.first_seed, ..arguments.cells.wanted() };
    let (data, workers) = (arguments.cells.data.data.as_path(), arguments.cells.workers());
    // Before there is a folder: what is refused leaves none.
    wanted.check(&experiment, data)?;
    let path = match &arguments.out {
        Some(path) => path.clone(),
        None => Folder::choose(Path::new("results"), &experiment, arguments.resume)?,
    };
    let folder = Folder::open(path, &experiment, arguments.resume)?;
    let mut progress = Progress::new(arguments.cells.quiet);
    let run = Run { experiment: &experiment, folder: &folder, data, workers };
    match &experiment.similarity {
        Some(similarity) => run.similarities(&wanted, similarity, &mut |what| progress.say(what))?,
        None => run.cells(&wanted, &mut |event| progress.on_run(event))?,
    }
    progress.end();
    if !arguments.no_report {
        write_reports(&experiment, &folder, data)?;
    }
    println!("results are in {}", folder.path.display());
    Ok(())
}

fn tune_experiment(arguments: &CellArguments) -> Result<()> {
    let experiment = Experiment::read(&arguments.experiment)?;
    let mut progress = Progress::new(arguments.quiet);
    let data = arguments.data.data.as_path();
    tune(&experiment, data, &arguments.wanted(), arguments.workers(), &mut |event| progress.on_tune(event))?;
    progress.end();
    println!("winners are in {}", experiment.folder.join("tuned").join(&experiment.name).display());
    Ok(())
}
