//! `coldlink add`: new nodes become candidates.

use std::path::PathBuf;

use clap::Args;

use super::Common;
use crate::input::{load_new_nodes, open_model};
use crate::output::{check_writable, print};
use crate::tables::count;

/// Add new nodes as candidates, without retraining
#[derive(Args)]
#[command(after_help = "\
Examples:
  coldlink add papers.model --new new-papers.csv
  coldlink add papers.model --new new-papers.csv -o larger.model

`coldlink predict` then finds them like any known node. They have no links yet, so only their
attributes count; train again when there are many of them, or when their links are known. coldlink
replaces the model file as a whole: a crash leaves the old one, and a running `coldlink serve`
switches to the new one.")]
pub struct Add {
    /// Model file
    model: PathBuf,
    /// New nodes: a table or an .npz file
    #[arg(long, value_name = "FILE")]
    new: PathBuf,
    /// Refuse rows with other columns, unknown values or unreadable cells instead of counting them
    #[arg(long)]
    strict_input: bool,
    /// Model file to write [default: the same file]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &Add, common: &Common) -> anyhow::Result<()> {
    let output = args.output.as_ref().unwrap_or(&args.model);
    check_writable(output, &[&args.new])?;
    let model = open_model(&args.model)?;
    let new = load_new_nodes(&args.new, &model, args.strict_input, common)?;
    let larger = model.add(&new)?;
    larger.save(output)?;
    if common.quiet {
        return Ok(());
    }
    let (added, nodes) = (count(new.names.len(), "node"), count(larger.summary().nodes, "node"));
    print(format!("{}: added {added}, now {nodes}\n", output.display()))
}
