//! `cargo xtask attack`: what an attacker or a bad day does to coldlink, seeded and within a time limit, on this machine alone,
//! written into `results/`.

mod kills;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::load::{load, number, output};
use crate::quality::{machine, today};
use crate::served::{Serving, build, demo_model};
use crate::steps::{Misuse, Steps, cargo, in_root, root};

/// Seconds for all of it, builds aside.
const SECONDS: u64 = 900;
const CONNECTIONS: &str = "2000";
const CLIENTS: &str = "500";
const DAMAGED: u64 = 10_000;
const KILLS: usize = 1_000;
/// Memory that a server may keep after an attack, in megabytes: buffers, and what the allocator does not give back.
const MOST_GROWTH: f64 = 20.0;

/// What was looked at: what it is, what it should be, what was found, and whether that is well.
pub struct Row {
    what: String,
    aim: &'static str,
    found: String,
    is_well: bool,
}

/// Attacks and writes the summary; fails where something gave way.
pub fn run(arguments: &[String]) -> Result<()> {
    let seconds = match arguments.first().map(|seconds| seconds.parse::<u64>()) {
        None => SECONDS,
        Some(Ok(seconds)) if seconds >= 30 => seconds,
        Some(_) => return Err(Misuse("the time must be a whole number of seconds, 30 or more".to_owned()).into()),
    };
    let folder = root().join("results").join(format!("{}-attack", today()?));
    fs::create_dir_all(&folder)?;
    let mut steps = Steps::default();
    build(&mut steps)?;
    steps.run("build load", cargo(["build", "--release", "--package", "coldlink-server", "--example", "load"]))?;
    steps.run("build damaged", cargo(["build", "--release", "--package", "coldlink", "--example", "damaged"]))?;
    let model = demo_model(&mut steps)?;
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut rows = Vec::new();
    steps.check("connections", || connections(&model, (seconds / 10).min(60), &folder, &mut rows))?;
    steps.check("crowd", || crowd(&model, (seconds / 10).min(60), &folder, &mut rows))?;
    steps.check("crowd without adds", || crowd_without_adds(&model, (seconds / 20).min(30), &folder, &mut rows))?;
    steps.check("damaged files", || damaged(&folder, &mut rows))?;
    steps.check("kills", || kills::kill(KILLS, end, &folder, &mut rows))?;
    fs::write(folder.join("summary.md"), summary(seconds, &rows))?;
    let given_way: Vec<&str> = rows.iter().filter(|row| !row.is_well).map(|row| row.what.as_str()).collect();
    ensure!(given_way.is_empty(), "gave way: {}", given_way.join(", "));
    steps.finish();
    Ok(())
}

impl Row {
    /// A count that should be 0.
    fn none(what: impl Into<String>, found: f64) -> Self {
        Row { what: what.into(), aim: "0", found: found.to_string(), is_well: found == 0.0 }
    }

    /// Something to know.
    fn told(what: impl Into<String>, found: impl ToString) -> Self {
        Row { what: what.into(), aim: "", found: found.to_string(), is_well: true }
    }

    /// Memory of the server before and after.
    fn memory(what: &str, text: &str) -> Result<Self> {
        let (before, after) = (number(text, "memory_before")?, number(text, "memory_after")?);
        Ok(Row {
            what: format!("memory of the server before and after {what}, MB"),
            aim: "20 more at most",
            found: format!("{before} and {after}"),
            is_well: after - before <= MOST_GROWTH,
        })
    }

    /// The same where nodes were added, whose own memory is no loss: the sizes of the arrays that a server keeps of a model.
    fn memory_beside_nodes(what: &str, text: &str) -> Result<Self> {
        let (before, after) = (number(text, "memory_before")?, number(text, "memory_after")?);
        let of_nodes = number(text, "memory_of_nodes")?;
        Ok(Row {
            what: format!("memory of the server before and after {what}, and what its new nodes take of that, MB"),
            aim: "20 more at most, beside the nodes",
            found: format!("{before} and {after}, {of_nodes}"),
            is_well: after - before - of_nodes <= MOST_GROWTH,
        })
    }
}

fn summary(seconds: u64, rows: &[Row]) -> String {
    let table: String =
        rows.iter().map(|Row { what, aim, found, .. }| format!("| {what} | {aim} | {found} |\n")).collect();
    format!(
        "# coldlink under attack\n\n    cargo xtask attack {seconds}\n\n{CONNECTIONS} connections that are silent, send slowly or never take their answer; \
         {CLIENTS} clients that ask and add at once; damaged files of every format; processes that are killed (SIGKILL) at any moment. All of it is \
         seeded. Memory is compared after a shorter attack of the same kind, from which a server keeps buffers; what it holds of the nodes that were added meanwhile \
         is the size of its arrays of them, and does not count as kept. Kills may go on from an \
         earlier run. Server and attackers share the machine.\n\n{}\n\n| | aim | found |\n|---|---|---|\n{table}",
        machine()
    )
}

/// Keeps what an attacker printed beside the summary.
fn kept(folder: &Path, name: &str, command: &mut Command) -> Result<String> {
    let text = output(command)?;
    print!("{text}");
    fs::write(folder.join(format!("{name}.txt")), &text)?;
    Ok(text)
}

fn panics(log: &str) -> Result<f64> {
    Ok(fs::read_to_string(root().join("target/served").join(log))?.matches("panicked").count() as f64)
}

fn connections(model: &Path, seconds: u64, folder: &Path, rows: &mut Vec<Row>) -> Result<()> {
    let serving = Serving::start(model, "connections.model", &["--quiet"])?;
    let (seconds, process) = (seconds.to_string(), serving.process().to_string());
    let words = ["connections", &serving.address, CONNECTIONS, &seconds, &process];
    let text = kept(folder, "connections", load().args(words))?;
    drop(serving);
    rows.push(Row::told(format!("connections that ask nothing, over {seconds} s"), number(&text, "opened")?));
    rows.push(Row::told("of them ended by the server", number(&text, "ended")?));
    rows.push(Row::told("requests beside them", number(&text, "asked")?));
    rows.push(Row::none("of them without an answer", number(&text, "unanswered")?));
    rows.push(Row::none("of them answered that there is too much to do", number(&text, "busy")?));
    rows.push(Row::told("slowest of them, ms", number(&text, "slowest")?));
    rows.push(Row::memory("the connections", &text)?);
    rows.push(Row::none("panics of the server", panics("connections.model.log")?));
    Ok(())
}

fn crowd(model: &Path, seconds: u64, folder: &Path, rows: &mut Vec<Row>) -> Result<()> {
    let serving = Serving::start(model, "crowd.model", &["--quiet"])?;
    let (seconds, process) = (seconds.to_string(), serving.process().to_string());
    let served = root().join("target/served/crowd.model");
    let mut attacker = load();
    attacker.args(["crowd", &serving.address, CLIENTS, &seconds, &process]).arg(&served);
    let text = kept(folder, "crowd", &mut attacker)?;
    drop(serving);
    rows.push(Row::told(
        format!("requests of {CLIENTS} clients in {seconds} s and a third of that to warm up"),
        number(&text, "requests")?,
    ));
    rows.push(Row::none("of them answered 5xx other than 503", number(&text, "faults")?));
    rows.push(Row::none("scores that are not what they were", number(&text, "untrue")?));
    rows.push(Row::told("nodes that the server said it has added", number(&text, "added")?));
    rows.push(Row::none("of them not in the file", number(&text, "lost")?));
    rows.push(Row::told("adds that the server refused", number(&text, "refused")?));
    rows.push(Row::none("of them in the file", number(&text, "refused_but_there")?));
    rows.push(Row::memory_beside_nodes("the crowd", &text)?);
    rows.push(Row::none("panics of the server under the crowd", panics("crowd.model.log")?));
    Ok(())
}

/// The same crowd at a server that adds nothing: what is kept here has nothing to do with nodes.
fn crowd_without_adds(model: &Path, seconds: u64, folder: &Path, rows: &mut Vec<Row>) -> Result<()> {
    let serving = Serving::start(model, "read-only.model", &["--quiet", "--read-only"])?;
    let (seconds, process) = (seconds.to_string(), serving.process().to_string());
    let mut attacker = load();
    attacker
        .args(["crowd", &serving.address, CLIENTS, &seconds, &process])
        .arg(root().join("target/served/read-only.model"));
    let text = kept(folder, "crowd-without-adds", &mut attacker)?;
    drop(serving);
    rows.push(Row::none("nodes that a server has added that may not", number(&text, "added")?));
    rows.push(Row::memory("a crowd whose adds it refuses", &text)?);
    Ok(())
}

fn damaged(folder: &Path, rows: &mut Vec<Row>) -> Result<()> {
    let program: PathBuf = root().join("target/release/examples/damaged");
    let text = kept(folder, "damaged", in_root(program).args([DAMAGED.to_string(), "1".to_owned()]))?;
    rows.push(Row::told("damaged files of eight formats", number(&text, "files")?));
    rows.push(Row::none(
        "of them that panicked, went unnoticed or were refused without a text",
        number(&text, "faults")?,
    ));
    Ok(())
}
