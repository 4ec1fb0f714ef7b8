//! `cargo xtask lists`: how high true links of new nodes stand in lists, beside votes of similar nodes, into `results/`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::quality::{append, machine, newest, read, today};
use crate::real_data::{data, mean, report};
use crate::steps::{Steps, cargo, root};

/// A graph, and for how many seeds it is split.
struct Graph {
    name: &'static str,
    path: &'static str,
    seeds: u64,
    /// Quick enough to be checked with every change: the least MRR of seed 0, and how much more than that of the votes.
    floor: Option<(f64, f64)>,
}

const fn graph(name: &'static str, path: &'static str, seeds: u64) -> Graph {
    Graph { name, path, seeds, floor: None }
}

const GRAPHS: [Graph; 8] = [
    Graph { floor: Some((0.21, 1.05)), ..graph("Cora", "cora.npz", 5) },
    Graph { floor: Some((0.31, 1.0)), ..graph("CiteSeer", "citeseer.npz", 5) },
    graph("PubMed", "pubmed.npz", 5),
    graph("CS", "cs.npz", 5),
    graph("Photo", "photo.npz", 5),
    graph("Computers", "computers.npz", 5),
    graph("Debian", "debian", 3),
    graph("citeulike", "citeulike", 3),
];

/// The reports of an earlier version, seed by seed, that a folder may have for comparison.
const BEFORE: &str = "before";

/// Evaluates what has no report yet, then writes the summary; or that alone.
pub fn run(arguments: &[String]) -> Result<()> {
    let only = arguments.first();
    if only.is_some_and(|only| only == "summary") {
        return write_summary(&newest("-lists")?);
    }
    let data = data()?;
    let folder = root().join("results").join(format!("{}-lists", today()?));
    fs::create_dir_all(&folder)?;
    let mut steps = Steps::default();
    steps.run("build", cargo(["build", "--release", "--package", "coldlink-cli"]))?;
    for graph in GRAPHS.iter().filter(|graph| only.is_none_or(|only| *only == graph.name)) {
        let path = folder.join(format!("{}.jsonl", graph.name));
        for seed in 0..graph.seeds {
            if read(&path)?.iter().all(|report| report["seeds"][0]["seed"] != seed) {
                steps.check(&format!("{}, seed {seed}", graph.name), || append(&path, &graph.report(&data, seed)?))?;
            }
        }
    }
    write_summary(&folder)?;
    steps.finish();
    Ok(())
}

fn write_summary(folder: &Path) -> Result<()> {
    Ok(fs::write(folder.join("summary.md"), summary(folder)?)?)
}

/// The quick graphs against their floors.
pub fn check(steps: &mut Steps, data: &Path) -> Result<()> {
    for graph in &GRAPHS {
        let Some((least, times)) = graph.floor else { continue };
        steps.check(&format!("{}, lists", graph.name), || {
            let report = graph.report(data, 0)?;
            let (mrr, votes) = (number(&report["mean"]["mrr"]), number(&report["baselines"]["knn"]["mrr"]));
            println!("    MRR {mrr:.4} (at least {least}), {:.2} of that of the votes (at least {times})", mrr / votes);
            // Written so that a NaN fails.
            ensure!(mrr >= least && mrr >= times * votes, "MRR {mrr:.4}, where the votes have {votes:.4}");
            Ok(())
        })?;
    }
    Ok(())
}

impl Graph {
    fn report(&self, data: &Path, seed: u64) -> Result<Value> {
        let mut command = cargo(["run", "--quiet", "--release", "--package", "coldlink-cli", "--", "evaluate"]);
        command.arg(data.join(self.path)).args(["--protocol", "strict", "--preset", "auto"]);
        command.args(["--first-seed", &seed.to_string(), "--json"]);
        report(command)
    }
}

fn summary(folder: &Path) -> Result<String> {
    let mut lists = vec![
        "| graph | MRR before | MRR | change | kNN | recall@10 | kNN | AUC | AP | linked | ECE | seeds |".to_owned(),
        "|---|---|---|---|---|---|---|---|---|---|---|---|".to_owned(),
    ];
    let mut roles = vec![
        "| graph | relation | direction | links | MRR | kNN | change | recall@10 | kNN | change | first hit | kNN | ECE |".to_owned(),
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|".to_owned(),
    ];
    for graph in &GRAPHS {
        let reports = read(&folder.join(format!("{}.jsonl", graph.name)))?;
        if reports.is_empty() {
            continue;
        }
        let before = read(&folder.join(BEFORE).join(format!("{}.jsonl", graph.name)))?;
        let seed = |report: &Value| report["seeds"][0]["seed"].clone();
        let same: Vec<Value> =
            before.into_iter().filter(|old| reports.iter().any(|report| seed(report) == seed(old))).collect();
        let (mrr, old) = (mean(&reports, "mrr"), mean(&same, "mrr"));
        let votes = |metric: &str| {
            reports.iter().map(|report| number(&report["baselines"]["knn"][metric])).sum::<f64>() / reports.len() as f64
        };
        lists.push(format!(
            "| {} | {} | {mrr:.3} | {} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} | {:.1} % | {:.3} | {} |",
            graph.name,
            shown(old),
            change(mrr, old),
            votes("mrr"),
            mean(&reports, "recall@10"),
            votes("recall@10"),
            mean(&reports, "auc"),
            mean(&reports, "ap"),
            100.0 * mean(&reports, "prevalence"),
            mean(&reports, "ece"),
            reports.len(),
        ));
        let all = reports[0]["roles"].as_array().cloned().unwrap_or_default();
        for role in &all {
            let of = |report: &Value| {
                let roles = report["roles"].as_array().cloned().unwrap_or_default();
                let same =
                    |other: &Value| other["relation"] == role["relation"] && other["direction"] == role["direction"];
                roles.into_iter().find(same).unwrap_or_default()
            };
            let mean = |value: fn(&Value) -> f64| {
                let values = reports.iter().map(|report| value(&of(report)));
                values.sum::<f64>() / reports.len() as f64
            };
            let [mrr, votes] = [mean(|role| number(&role["mrr"])), mean(|role| number(&role["knn"]["mrr"]))];
            let recall = [mean(|role| number(&role["recall@10"])), mean(|role| number(&role["knn"]["recall@10"]))];
            let first = [mean(|role| number(&role["first_hit"])), mean(|role| number(&role["knn"]["first_hit"]))];
            roles.push(format!(
                "| {} | {} | {} | {:.0} | {mrr:.3} | {votes:.3} | {} | {:.3} | {:.3} | {} | {:.3} | {:.3} | {:.3} |",
                graph.name,
                role["relation"].as_str().filter(|name| !name.is_empty()).unwrap_or("links"),
                role["direction"].as_str().context("a direction is a text")?,
                mean(|role| number(&role["links"])),
                change(mrr, votes),
                recall[0],
                recall[1],
                change(recall[0], recall[1]),
                first[0],
                first[1],
                mean(|role| number(&role["ece"])),
            ));
        }
    }
    let (machine, lists, roles) = (machine(), lists.join("\n"), roles.join("\n"));
    let made = if folder.join("made.md").exists() { "- [which version made which rows](made.md)\n" } else { "" };
    Ok(format!(
        "# Lists of links of new nodes\n\n    cargo xtask lists\n\n{machine}\n- protocol strict, preset auto; *before* are the \
         reports in `before/`, made by the version that `before/made.md` names\n- kNN: the 50 nodes with the most similar words vote\n\
         - *change* in MRR is against before in the first table and against kNN in the second\n{made}\n{lists}\n\n{roles}\n"
    ))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

fn change(new: f64, old: f64) -> String {
    if old.is_finite() { format!("{:+.1} %", 100.0 * (new / old - 1.0)) } else { "–".to_owned() }
}

fn shown(value: f64) -> String {
    if value.is_finite() { format!("{value:.3}") } else { "–".to_owned() }
}
