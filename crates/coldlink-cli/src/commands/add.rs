//! `coldlink add`: new nodes become candidates.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use coldlink::storage::Lock;

use super::Common;
use crate::files::Files;
use crate::input::{NewOptions, load_new_nodes, open_model};
use crate::output::{note, print};
use crate::tables::count;

/// Add new nodes as candidates, without retraining
#[derive(Args)]
#[command(after_help = "\
Examples:
  coldlink add papers.model --new new-papers.csv
  coldlink add papers.model --new new-papers.csv -o larger.model

`coldlink predict` then finds them like any known node. They have no links yet, so only their
attributes count; train again when there are many of them, or when their links are known. They are
written behind what the model file holds, which costs what they are: a crash leaves the file as it
was, and a running `coldlink serve` switches to the new one.")]
pub struct Add {
    /// Model file
    model: PathBuf,
    /// New nodes: a table or an .npz file
    #[arg(long, value_name = "FILE")]
    new: PathBuf,
    #[command(flatten)]
    reading: NewOptions,
    /// Model file to write [default: the same file]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Add {
    /// What it reads and writes.
    pub fn files(&self) -> Files {
        Files::default().reads(&self.new).writes(self.output.as_ref().unwrap_or(&self.model))
    }
}

/// Runs the command.
pub fn run(args: &Add, common: &Common) -> anyhow::Result<()> {
    let output = args.output.as_ref().unwrap_or(&args.model);
    // Held from the reading to the writing: nobody else's nodes are lost.
    let lock = lock(output, common)?;
    let model = open_model(&args.model)?;
    let new = load_new_nodes(&args.new, &model, &args.reading, common)?;
    let mut larger = model.add(&new)?;
    larger.save_locked(&lock)?;
    if common.quiet {
        return Ok(());
    }
    let (added, nodes) = (count(new.names.len(), "node"), count(larger.summary().nodes, "node"));
    print(format!("{}: added {added}, now {nodes}\n", output.display()))
}

/// Waits, and says so, for whoever else is changing the file.
fn lock(path: &Path, common: &Common) -> anyhow::Result<Lock> {
    let cannot_lock = || format!("cannot lock `{}`", path.display());
    if let Some(lock) = Lock::try_of(path).with_context(cannot_lock)? {
        return Ok(lock);
    }
    if !common.quiet {
        note(format!("waiting for another program that changes `{}`", path.display()));
    }
    Lock::of(path).with_context(cannot_lock)
}
