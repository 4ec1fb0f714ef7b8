//! `cargo xtask real-data`: the binary, end to end, on the graphs of the paper, against floors of quality.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::lists;
use crate::steps::{Steps, cargo, root};

/// An evaluation, and what it must reach, if anything.
pub struct Row {
    pub name: &'static str,
    graph: &'static str,
    protocol: Protocol,
    pub preset: &'static str,
    /// AUC and AP.
    pub floor: Option<[f64; 2]>,
    /// AUC and AP of DEAL in the paper, where it has them.
    pub paper: Option<[f64; 2]>,
}

#[derive(Clone, Copy)]
enum Protocol {
    Named(&'static str),
    /// A file beside the graphs.
    File(&'static str),
}

const INDUCTIVE: Protocol = Protocol::Named("deal2020");
const TRANSDUCTIVE: Protocol = Protocol::Named("transductive");

const fn row(name: &'static str, graph: &'static str, protocol: Protocol, preset: &'static str) -> Row {
    Row { name, graph, protocol, preset, floor: None, paper: None }
}

impl Row {
    const fn at_least(self, auc: f64, ap: f64) -> Row {
        Row { floor: Some([auc, ap]), ..self }
    }

    const fn against(self, auc: f64, ap: f64) -> Row {
        Row { paper: Some([auc, ap]), ..self }
    }
}

/// All of them; the first few take seconds each.
pub const ROWS: [Row; 26] = [
    row(
        "CiteSeer, the authors' split",
        "citeseer.npz",
        Protocol::File("citeseer-authors-split/inductive.npz"),
        "authors-code",
    )
    .at_least(0.92, 0.865),
    row("Cora", "cora.npz", INDUCTIVE, "default").at_least(0.89, 0.82),
    row("CiteSeer", "citeseer.npz", INDUCTIVE, "default").at_least(0.935, 0.875),
    row("CS", "cs.npz", INDUCTIVE, "default").at_least(0.955, 0.91),
    row("Photo", "photo.npz", INDUCTIVE, "default").at_least(0.93, 0.85),
    row("Computers", "computers.npz", INDUCTIVE, "default").at_least(0.91, 0.82),
    row("Cora", "cora.npz", INDUCTIVE, "auto").at_least(0.915, 0.855).against(0.864, 0.804),
    row("CiteSeer", "citeseer.npz", INDUCTIVE, "auto").at_least(0.952, 0.912).against(0.937, 0.907),
    row("CS", "cs.npz", INDUCTIVE, "auto").at_least(0.982, 0.967).against(0.977, 0.959),
    row("Photo", "photo.npz", INDUCTIVE, "auto").at_least(0.958, 0.912).against(0.965, 0.922),
    row("Computers", "computers.npz", INDUCTIVE, "auto").at_least(0.950, 0.899).against(0.953, 0.899),
    row("cora_ml", "cora_ml.npz", INDUCTIVE, "auto"),
    row("cora_ml", "cora_ml.npz", INDUCTIVE, "paper"),
    row("cora_ml", "cora_ml.npz", INDUCTIVE, "authors-code"),
    row("ppi_3480", "ppi_3480.npz", INDUCTIVE, "auto"),
    row("ppi_3480", "ppi_3480.npz", INDUCTIVE, "paper"),
    row("ppi_3480", "ppi_3480.npz", INDUCTIVE, "authors-code"),
    row("Cora", "cora.npz", TRANSDUCTIVE, "auto").at_least(0.950, 0.953).against(0.9455, 0.9501),
    row("CiteSeer", "citeseer.npz", TRANSDUCTIVE, "auto").at_least(0.975, 0.977).against(0.9519, 0.9591),
    row("CS", "cs.npz", TRANSDUCTIVE, "auto").at_least(0.987, 0.987).against(0.9827, 0.9841),
    row("cora_ml", "cora_ml.npz", TRANSDUCTIVE, "auto"),
    row("cora_ml", "cora_ml.npz", TRANSDUCTIVE, "paper"),
    row("cora_ml", "cora_ml.npz", TRANSDUCTIVE, "authors-code"),
    row("ppi_3480", "ppi_3480.npz", TRANSDUCTIVE, "auto"),
    row("ppi_3480", "ppi_3480.npz", TRANSDUCTIVE, "paper"),
    row("ppi_3480", "ppi_3480.npz", TRANSDUCTIVE, "authors-code"),
];

/// The floors hold for means over so many splits: a single split of Cora moves AP by 0.02.
const SEEDS: u64 = 5;

/// How many of [`ROWS`] are checked with every change.
const QUICK: usize = 3;

/// Evaluates on the quick graphs and compares.
pub fn run() -> Result<()> {
    let data = data()?;
    let mut steps = Steps::default();
    steps.run("build", cargo(["build", "--release", "--package", "coldlink-cli"]))?;
    for row in &ROWS[..QUICK] {
        steps.check(row.name, || {
            let reports: Result<Vec<Value>> = (0..SEEDS).map(|seed| report(row.command(&data, seed))).collect();
            row.check(&reports?)
        })?;
    }
    lists::check(&mut steps, &data)?;
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

/// The mean of a metric over reports of a seed each.
pub fn mean(reports: &[Value], metric: &str) -> f64 {
    let values = reports.iter().map(|report| report["seeds"][0][metric].as_f64().unwrap_or(f64::NAN));
    values.sum::<f64>() / reports.len() as f64
}

impl Row {
    /// Compares reports of a seed each with the floor.
    pub fn check(&self, reports: &[Value]) -> Result<()> {
        let Some([least_auc, least_ap]) = self.floor else { return Ok(()) };
        let (auc, ap) = (mean(reports, "auc"), mean(reports, "ap"));
        println!("    AUC {auc:.4} (at least {least_auc}), AP {ap:.4} (at least {least_ap})");
        // Written so that a NaN fails.
        if auc >= least_auc && ap >= least_ap {
            return Ok(());
        }
        bail!("AUC {auc:.4} and AP {ap:.4}, where {least_auc} and {least_ap} are the least")
    }

    /// The protocol as the table has it.
    pub fn protocol(&self) -> &'static str {
        match self.protocol {
            Protocol::Named(name) => name,
            Protocol::File(_) => "as given",
        }
    }

    /// The evaluation of a seed.
    pub fn command(&self, data: &Path, seed: u64) -> Command {
        let mut command = cargo(["run", "--quiet", "--release", "--package", "coldlink-cli", "--", "evaluate"]);
        command.arg(data.join(self.graph)).arg("--protocol");
        match self.protocol {
            Protocol::Named(name) => command.arg(name),
            Protocol::File(path) => command.arg(data.join(path)),
        };
        command.args(["--preset", self.preset, "--first-seed", &seed.to_string(), "--json"]);
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
