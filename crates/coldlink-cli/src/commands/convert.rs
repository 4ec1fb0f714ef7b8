//! `coldlink convert`: a graph as one file that opens at once.

use std::path::PathBuf;

use clap::Args;
use coldlink::load::write_packed;

use super::Common;
use crate::files::Files;
use crate::input::GraphArgs;
use crate::output::print;
use crate::tables::count;

/// Pack a graph into one file that opens at once
#[derive(Args)]
#[command(after_help = "\
Examples:
  coldlink convert papers/ -o papers.coldlink
  coldlink convert --nodes papers.csv.gz --edges citations.tsv -o papers.coldlink")]
pub struct Convert {
    /// File to write
    #[arg(long, short, value_name = "FILE.coldlink")]
    output: PathBuf,
    #[command(flatten)]
    graph: GraphArgs,
}

impl Convert {
    /// What it reads and writes.
    pub fn files(&self) -> Files {
        self.graph.files(Files::default()).writes(&self.output)
    }
}

/// Runs the command.
pub fn run(args: &Convert, common: &Common) -> anyhow::Result<()> {
    let dataset = args.graph.load(common)?;
    write_packed(&dataset, &args.output)?;
    if common.quiet {
        return Ok(());
    }
    let (nodes, links) = (count(dataset.graph.nodes(), "node"), count(dataset.graph.links(), "link"));
    let attributes = count(dataset.attributes.width(), "attribute");
    print(format!("{}: {nodes}, {links}, {attributes}\n", args.output.display()))
}
