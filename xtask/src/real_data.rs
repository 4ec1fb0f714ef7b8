//! `cargo xtask real-data`: the binary, end to end, on the graphs of the paper, against floors of quality.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::steps::{Steps, cargo, root};

/// An evaluation, and what it must reach.
pub struct Floor {
    pub name: &'static str,
    graph: &'static str,
    protocol: Protocol,
    pub preset: &'static str,
    pub auc: f64,
    pub ap: f64,
}

enum Protocol {
    Named(&'static str),
    /// A file beside the graphs.
    File(&'static str),
}

const fn inductive(name: &'static str, graph: &'static str, auc: f64, ap: f64) -> Floor {
    Floor { name, graph, protocol: Protocol::Named("deal2020"), preset: "default", auc, ap }
}

/// All of them; the first few take seconds each.
pub const FLOORS: [Floor; 6] = [
    Floor {
        name: "CiteSeer, the authors' split",
        graph: "citeseer.npz",
        protocol: Protocol::File("citeseer-authors-split/inductive.npz"),
        preset: "authors-code",
        auc: 0.92,
        ap: 0.865,
    },
    inductive("Cora", "cora.npz", 0.89, 0.82),
    inductive("CiteSeer", "citeseer.npz", 0.935, 0.875),
    inductive("CS", "cs.npz", 0.955, 0.91),
    inductive("Photo", "photo.npz", 0.93, 0.85),
    inductive("Computers", "computers.npz", 0.91, 0.82),
];

/// The floors hold for means over so many splits: a single split of Cora moves AP by 0.02.
const SEEDS: u32 = 5;

/// How many of [`FLOORS`] are checked with every change.
const QUICK: usize = 3;

/// Evaluates on the quick graphs and compares.
pub fn run() -> Result<()> {
    let data = data()?;
    let mut steps = Steps::default();
    steps.run("build", cargo(["build", "--release", "--package", "coldlink-cli"]))?;
    for floor in &FLOORS[..QUICK] {
        steps.check(floor.name, || floor.check(&report(floor.command(&data, SEEDS))?))?;
    }
    steps.finish();
    Ok(())
}

/// The folder of the graphs; a relative path, where it is beside the repository, so that reports name no machine's.
pub fn data() -> Result<PathBuf> {
    let folder = std::env::var_os("DEAL_DATA").map_or_else(|| PathBuf::from("../shared/data"), PathBuf::from);
    ensure!(
        root().join(&folder).is_dir(),
        "no data in `{}`\nhint: set DEAL_DATA to the folder with cora.npz",
        folder.display()
    );
    Ok(folder)
}

impl Floor {
    /// Compares a report with the floor.
    pub fn check(&self, report: &Value) -> Result<()> {
        let mean = |metric: &str| {
            let value = report["mean"][metric].as_f64();
            value.with_context(|| format!("the report has no number at `mean.{metric}`:\n{report:#}"))
        };
        let (auc, ap) = (mean("auc")?, mean("ap")?);
        println!("    AUC {auc:.4} (at least {}), AP {ap:.4} (at least {})", self.auc, self.ap);
        // Written so that a NaN fails.
        if auc >= self.auc && ap >= self.ap {
            return Ok(());
        }
        bail!("AUC {auc:.4} and AP {ap:.4}, where {} and {} are the least", self.auc, self.ap)
    }

    /// The evaluation.
    pub fn command(&self, data: &Path, seeds: u32) -> Command {
        let mut command = cargo(["run", "--quiet", "--release", "--package", "coldlink-cli", "--", "evaluate"]);
        command.arg(data.join(self.graph)).arg("--protocol");
        match self.protocol {
            Protocol::Named(name) => command.arg(name),
            Protocol::File(path) => command.arg(data.join(path)),
        };
        command.args(["--preset", self.preset, "--seeds", &seeds.to_string(), "--json"]);
        command
    }
}

/// The JSON object that a command prints.
pub fn report(mut command: Command) -> Result<Value> {
    let output = command.stderr(Stdio::inherit()).output().context("cannot run `coldlink evaluate`")?;
    if !output.status.success() {
        bail!("`coldlink evaluate` failed ({})", output.status);
    }
    serde_json::from_slice(&output.stdout).context("`coldlink evaluate --json` printed no JSON object")
}
