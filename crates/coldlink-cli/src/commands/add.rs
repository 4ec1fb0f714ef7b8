//! `coldlink add`: new nodes join those that links are looked for among.

use std::path::PathBuf;

use clap::Args;

use super::Common;
use crate::input::{load_new_nodes, open_model};
use crate::output::{check_writable, print};
use crate::tables::count;

/// Let new nodes join those that links are found among, without training
#[derive(Args)]
#[command(after_help = "\
Examples:
  coldlink add papers.model --new new-papers.csv
  coldlink add papers.model --new new-papers.csv -o larger.model

From then on `coldlink predict` finds them as it finds nodes of the graph. They have no links yet, so
only their attributes speak for them; train again when there are many, or when links are known. The
model file is replaced as a whole: a crash leaves the old one, and a running `coldlink serve` takes
the new one over.")]
pub struct Add {
    /// The model
    model: PathBuf,
    /// The new nodes: a table or an .npz file
    #[arg(long, value_name = "FILE")]
    new: PathBuf,
    /// Refuse rows with other columns, unknown values or cells that cannot be read, instead of telling how many there are
    #[arg(long)]
    strict_input: bool,
    /// The model to write [default: the same file]
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
    let (added, nodes) = (count(new.names.len(), "node"), count(larger.summary.nodes, "node"));
    print(format!("{}: added {added}, now {nodes}\n", output.display()))
}
