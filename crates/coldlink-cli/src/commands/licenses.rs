//! `coldlink licenses`: the notices of everything that this binary is made from.

use clap::Args;

use crate::output::print;

/// What `cargo xtask licenses` writes.
const NOTICES: &str = include_str!("../../THIRD-PARTY.md");

/// Print the licences of the packages that coldlink is made from
#[derive(Args)]
#[command(after_help = "Example:\n  coldlink licenses | less")]
pub struct Licenses {}

/// Runs the command.
pub fn run() -> anyhow::Result<()> {
    print(NOTICES)
}
