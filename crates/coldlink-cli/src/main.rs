//! `coldlink`: links for nodes that a graph has never seen, on the command line.

mod commands;
mod demo;
mod export;
mod failure;
mod files;
mod input;
mod interrupt;
mod job;
mod links;
mod output;
mod progress;
mod settings;
mod tables;

use std::process::ExitCode;

use clap::Parser;

use commands::{Cli, Command};

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error),
    }
}

fn run(Cli { common, command }: Cli) -> anyhow::Result<()> {
    if let Command::Completions(args) = &command {
        return commands::completions::run(args);
    }
    if let Some(cpu) = common.cpu {
        cpu.force()?;
    }
    // No number of threads means one per core.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(common.threads.unwrap_or(0)).build()?;
    pool.install(|| command.run(&common))
}
