//! `cargo xtask scale`: whole commands on made graphs of rising size, with their time, their memory and their quality beside the best
//! possible, into `results/`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use coldlink_chart::{Line, LineChart, lines};
use serde_json::{Value, json};

use crate::quality::{append, machine, read, today};
use crate::steps::{Misuse, Steps, cargo, in_root, root};

/// Nodes of the graphs, unless told.
const SIZES: [u64; 3] = [10_000, 100_000, 1_000_000];
/// Time between two looks at a command.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
/// Parts of a second in which Linux counts a process's time.
const TICKS: f64 = 100.0;

/// What a command took.
struct Used {
    seconds: f64,
    processor: f64,
    megabytes: f64,
}

/// Measures what has no row yet, then writes the summary and the chart.
pub fn run(arguments: &[String]) -> Result<()> {
    let sizes = sizes(arguments)?;
    let folder = root().join("results").join(format!("{}-scale", today()?));
    let made = root().join("target/scale");
    fs::create_dir_all(&folder)?;
    fs::create_dir_all(&made)?;
    let rows = folder.join("rows.jsonl");
    let mut steps = Steps::default();
    steps.run("build", cargo(["build", "--release", "--package", "coldlink-cli"]))?;
    let example = ["build", "--release", "--package", "coldlink", "--example", "made_graph"];
    steps.run("build the example", cargo(example))?;
    for nodes in sizes {
        if read(&rows)?.iter().all(|row| row["nodes"] != nodes) {
            steps.check(&format!("{nodes} nodes"), || append(&rows, &measured(nodes, &made)?))?;
        }
    }
    let mut all = read(&rows)?;
    all.sort_by_key(|row| row["nodes"].as_u64());
    fs::write(folder.join("summary.md"), summary(&all))?;
    fs::write(folder.join("curve.svg"), curve(&all))?;
    steps.finish();
    Ok(())
}

fn sizes(arguments: &[String]) -> Result<Vec<u64>> {
    let size = |text: &String| {
        let nodes = text.parse::<u64>().ok().filter(|nodes| (1_000..=100_000_000).contains(nodes));
        nodes.ok_or_else(|| Misuse(format!("`{text}` is no number of nodes from 1000 to 100000000")).into())
    };
    if arguments.is_empty() { Ok(SIZES.to_vec()) } else { arguments.iter().map(size).collect() }
}

/// The row of a graph.
fn measured(nodes: u64, made: &Path) -> Result<Value> {
    let (graph, model) = (made.join(format!("{nodes}.graph")), made.join(format!("{nodes}.model")));
    let size = nodes.to_string();
    if !graph.exists() {
        output(example().arg(&size).arg(&graph))?;
    }
    let best: Value = serde_json::from_str(&output(example().arg(&size))?)?;
    let mut train = coldlink();
    train.arg("train").arg(&graph).arg("-o").arg(&model);
    let trained = watched(train.stdout(Stdio::null()))?;
    let mut predict = coldlink();
    predict.args(["index"]).arg(&model);
    let indexed = if index_of(&model).exists() { Some(watched(predict.stdout(Stdio::null()))?) } else { None };
    let mut evaluate = coldlink();
    evaluate.arg("evaluate").arg(&graph).arg("--json");
    let report = made.join(format!("{nodes}.json"));
    let evaluated = watched(evaluate.stdout(fs::File::create(&report)?))?;
    let report: Value = serde_json::from_slice(&fs::read(&report)?)?;
    let used = |used: &Used| json!({"seconds": used.seconds, "processor": used.processor, "megabytes": used.megabytes});
    Ok(json!({
        "nodes": nodes,
        "links": report["edges"],
        "train": used(&trained),
        "index": indexed.as_ref().map(used),
        "evaluate": used(&evaluated),
        "steps": report["seeds"][0]["steps"],
        "sample": report["seeds"][0]["sample"],
        "auc": report["mean"]["auc"],
        "mrr": report["mean"]["mrr"],
        "knn_mrr": report["baselines"]["knn"]["mrr"],
        "best_auc": best["auc"],
        "best_mrr": best["mrr"],
    }))
}

fn index_of(model: &Path) -> PathBuf {
    let mut path = model.as_os_str().to_owned();
    path.push(".index");
    path.into()
}

fn coldlink() -> Command {
    in_root(root().join("target/release/coldlink"))
}

fn example() -> Command {
    in_root(root().join("target/release/examples/made_graph"))
}

fn output(command: &mut Command) -> Result<String> {
    let output = command.stderr(Stdio::inherit()).output().with_context(|| format!("cannot run {command:?}"))?;
    ensure!(output.status.success(), "{command:?} failed ({})", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

/// Runs a command and looks at what it uses.
fn watched(command: &mut Command) -> Result<Used> {
    let started = Instant::now();
    let mut child = command.spawn().with_context(|| format!("cannot run {command:?}"))?;
    let mut used = Used { seconds: 0.0, processor: f64::NAN, megabytes: f64::NAN };
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if let Some((processor, megabytes)) = look_at(&child) {
            (used.processor, used.megabytes) = (processor, megabytes);
        }
        thread::sleep(BETWEEN_LOOKS);
    };
    ensure!(status.success(), "{command:?} failed ({status})");
    used.seconds = started.elapsed().as_secs_f64();
    println!("    {:.1} s, {:.1} s of the processor, {:.0} MB", used.seconds, used.processor, used.megabytes);
    Ok(used)
}

/// Seconds of the processor so far, and the most memory; nothing where the system does not say.
fn look_at(child: &Child) -> Option<(f64, f64)> {
    let read = |name: &str| fs::read_to_string(format!("/proc/{}/{name}", child.id())).ok();
    let (stat, status) = (read("stat")?, read("status")?);
    // The name of the program, which may hold anything, ends with the last bracket; then come 11 fields before the two times.
    let mut times = stat.rsplit_once(')')?.1.split_whitespace().skip(11).take(2);
    let mut ticks = || times.next()?.parse::<f64>().ok();
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    let kilobytes = line.split_whitespace().nth(1)?.parse::<f64>().ok()?;
    Some(((ticks()? + ticks()?) / TICKS, kilobytes * 1.024e-3))
}

fn summary(rows: &[Value]) -> String {
    let heading =
        "| nodes | links | train, s | of the processor, s | peak memory, MB | AUC | the best | MRR | the best | kNN |";
    let number =
        |value: &Value, digits: usize| value.as_f64().map_or("–".to_owned(), |value| format!("{value:.digits$}"));
    let row = |row: &Value| {
        let train = &row["train"];
        format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            row["nodes"],
            row["links"],
            number(&train["seconds"], 0),
            number(&train["processor"], 0),
            number(&train["megabytes"], 0),
            number(&row["auc"], 3),
            number(&row["best_auc"], 3),
            number(&row["mrr"], 3),
            number(&row["best_mrr"], 3),
            number(&row["knn_mrr"], 3),
        )
    };
    let table: Vec<String> = rows.iter().map(row).collect();
    format!(
        "# Whole commands on made graphs\n\n    cargo xtask scale\n\n{}\n- `coldlink train`, the index included from 50,000 nodes on; ten \
         links and twenty attributes a node\n- quality: protocol strict; *the best* knows how the graph was made, and is measured on the \
         same sample of a large test set\n\n{heading}\n|---|---|---|---|---|---|---|---|---|---|\n{}\n",
        machine(),
        table.join("\n")
    )
}

fn curve(rows: &[Value]) -> String {
    let log = |value: &Value| value.as_f64().unwrap_or(f64::NAN).log10();
    let line = |label: &str, of: &dyn Fn(&Value) -> f64| Line {
        label: label.to_owned(),
        points: rows.iter().map(|row| (log(&row["nodes"]), of(row))).collect(),
    };
    lines(&LineChart {
        title: "coldlink train on made graphs".to_owned(),
        x_label: "nodes, power of ten".to_owned(),
        y_label: "power of ten".to_owned(),
        lines: vec![
            line("seconds", &|row| log(&row["train"]["seconds"])),
            line("seconds of the processor", &|row| log(&row["train"]["processor"])),
            line("megabytes", &|row| log(&row["train"]["megabytes"])),
        ],
    })
}
