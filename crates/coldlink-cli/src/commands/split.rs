//! `coldlink split`: what is trained on, selected on and tested on, as files.

use std::path::PathBuf;

use clap::Args;
use coldlink::config::Validation;
use coldlink::split::{self, Pair, PairClass, Protocol};

use super::{Common, seeds};
use crate::files::Files;
use crate::input::GraphArgs;
use crate::output::print;
use crate::settings::Rule;
use crate::tables::{Columns, count, percent, whole};

/// Split a graph into training, validation and test files
#[derive(Args)]
#[command(after_help = "\
Examples:
  coldlink split papers/ -o papers-split
  coldlink evaluate papers/ --protocol papers-split")]
pub struct Split {
    /// Folder to write, with train.csv, validation.csv, test.csv, hidden.csv, split.toml and perhaps given.csv
    #[arg(long, short, value_name = "FOLDER")]
    output: PathBuf,
    /// Which test set: strict, temporal, temporal:links, few:K, deal2020, transductive, or the path of a split
    #[arg(long, default_value = "strict", value_name = "NAME|PATH")]
    protocol: String,
    /// What the number of steps is selected on [default: what suits the protocol]
    #[arg(long, value_name = "RULE")]
    validation: Option<Rule>,
    /// Random seed
    #[arg(long, default_value_t = 0, value_parser = seeds())]
    seed: u64,
    #[command(flatten)]
    graph: GraphArgs,
}

impl Split {
    /// What it reads and writes.
    pub fn files(&self) -> Files {
        let files = self.graph.files(Files::default()).reads_protocol(&self.protocol);
        // In a folder that is not there yet, nothing can be harmed.
        let written = if self.output.is_dir() { split::files_of(&self.output) } else { Vec::new() };
        files.writes_any(&written)
    }
}

/// Runs the command.
pub fn run(args: &Split, common: &Common) -> anyhow::Result<()> {
    let protocol = args.protocol.parse::<Protocol>()?;
    let dataset = args.graph.load(common)?;
    let split = split::Split::make(&dataset, &protocol, args.validation.map(Validation::from), args.seed)?;
    split.write(&args.output, &dataset.names)?;
    if common.quiet {
        return Ok(());
    }
    let (search, fit) = (split.search(), split.final_view());
    let test = split.test();
    let columns = if test.is_inductive() { 5 } else { 3 };
    let mut sets = Columns::new(["", "pairs", "linked", "cold-warm", "cold-cold"].into_iter().take(columns));
    for (name, pairs, view) in [("validation", split.validation(), &search), ("test", test.pairs(), &fit)] {
        let linked = pairs.iter().filter(|pair| pair.linked).count();
        let of_class = |class| whole(pairs.iter().filter(|pair: &&Pair| view.class(**pair) == class).count());
        let share = percent(linked as f64 / pairs.len().max(1) as f64);
        let row =
            [name.to_owned(), whole(pairs.len()), share, of_class(PairClass::ColdWarm), of_class(PairClass::ColdCold)];
        sets.row(row.into_iter().take(columns));
    }
    let selected = split.validation_rule();
    let links = |links: usize| count(links, "link");
    print(format!(
        "{}: protocol {}, seed {}, selected on {selected}\n\
         {} hidden for the test\n\
         {} to search on, {} for the final fit\n\
         {sets}audit: {}\n",
        args.output.display(),
        split.protocol(),
        split.seed(),
        count(test.hidden().len(), "node"),
        links(search.graph().links()),
        links(fit.graph().links()),
        split.audit(),
    ))
}
