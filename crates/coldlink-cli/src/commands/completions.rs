//! `coldlink completions`: what a shell needs to complete our words.

use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};

use super::Cli;
use crate::output::print_exact;

/// Print a completion script for a shell
#[derive(Args)]
#[command(after_help = "Example:\n  coldlink completions bash > ~/.local/share/bash-completion/completions/coldlink")]
pub struct Completions {
    /// The shell
    shell: Shell,
}

/// Runs the command.
pub fn run(args: &Completions) -> anyhow::Result<()> {
    let mut script = Vec::new();
    generate(args.shell, &mut Cli::command(), "coldlink", &mut script);
    print_exact(String::from_utf8_lossy(&script))
}
