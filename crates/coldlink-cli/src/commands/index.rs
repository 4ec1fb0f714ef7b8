//! `coldlink index`: a file beside a model, through which links are found without scoring every node.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use coldlink::index::{AboutIndex, LinkIndex};
use coldlink::model::Model;

use super::Common;
use crate::files::Files;
use crate::input::open_model;
use crate::output::{note, print};
use crate::tables::{count, percent};

/// What an index should find of the ten best links.
const PROMISED: f64 = 0.98;

/// Build an index beside a model, to find links without scoring every node
#[derive(Args)]
#[command(after_help = "\
Examples:
  coldlink index papers.model

Writes papers.model.index. `coldlink predict` and `coldlink serve` use it if it belongs to the model;
`coldlink train` builds it from 50,000 nodes on. coldlink measures how many of the ten best links the
index finds, on known nodes treated as new; `coldlink inspect` shows the result.")]
pub struct Index {
    /// Model file
    model: PathBuf,
}

impl Index {
    /// What it reads and writes.
    pub fn files(&self) -> Files {
        Files::default().reads(&self.model).writes(LinkIndex::path_of(&self.model))
    }
}

/// Runs the command.
pub fn run(args: &Index, common: &Common) -> anyhow::Result<()> {
    make(&open_model(&args.model)?, &args.model, common)
}

/// Makes the index of a model beside its file.
pub fn make(model: &Model, path: &Path, common: &Common) -> anyhow::Result<()> {
    let (started, beside) = (Instant::now(), LinkIndex::path_of(path));
    if !common.quiet && model.is_worth_an_index() {
        eprintln!("index: {} to be linked with the most similar ones", count(model.summary().nodes, "node"));
    }
    let index = model.build_index();
    index.save(&beside)?;
    if common.quiet {
        return Ok(());
    }
    let AboutIndex { nodes, recall, sample, .. } = &index.about;
    if *recall < PROMISED {
        note(format!("the index finds {}; `predict --exact` scores every node", found(&index.about)));
    }
    let (nodes, seconds) = (count(*nodes, "node"), started.elapsed().as_secs_f64());
    let about = format!("{}, measured on {} held as if new", found(&index.about), count(*sample, "node"));
    print(format!("{}: {nodes}, made in {seconds:.1} s\nfinds {about}\n", beside.display()))
}

/// What an index finds, in words.
pub fn found(about: &AboutIndex) -> String {
    let off = |difference: f64| format!(" with scores {difference:.3} off on average");
    format!("{} of the ten best links{}", percent(about.recall), about.score_difference.map(off).unwrap_or_default())
}
