//! `cargo xtask load`: a server with 100,000 nodes under a steady load, then under hostile requests, written into `results/`.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::quality::{machine, today};
use crate::served::{Serving, binary, build};
use crate::steps::{Steps, cargo, root};

const NODES: &str = "100000";
const RATE: &str = "500";
const HOSTILE: &str = "10000";
/// Enough training that near embeddings mean likely links, as in any model that is of use; the index relies on it.
const SETTINGS: [&str; 2] = ["steps=1200", "validate_every=400"];

/// Measures and writes the summary; fails where an aim is missed.
pub fn run(arguments: &[String]) -> Result<()> {
    let seconds = arguments.first().map_or("60", String::as_str);
    let folder = root().join("results").join(format!("{}-serve", today()?));
    fs::create_dir_all(&folder)?;
    let mut steps = Steps::default();
    build(&mut steps)?;
    steps.run("build load", cargo(["build", "--release", "--package", "coldlink-server", "--example", "load"]))?;
    let model = large_model(&mut steps)?;

    let serving = Serving::start(&model, "load.model", &["--quiet"])?;
    let steady = output(load().args(["steady", &serving.address, RATE, seconds]))?;
    print!("{steady}");
    fs::write(folder.join("steady.txt"), &steady)?;
    let process = serving.process().to_string();
    let adding = beside(load().args(["adding", &serving.address, seconds, &process]))?;
    let with_adder = output(load().args(["steady", &serving.address, RATE, seconds]))?;
    let added = finished(adding)?;
    print!("{with_adder}{added}");
    fs::write(folder.join("adding.txt"), format!("{with_adder}{added}"))?;
    let hostile = output(load().args(["hostile", &serving.address, HOSTILE, &process]))?;
    print!("{hostile}");
    fs::write(folder.join("hostile.txt"), &hostile)?;
    drop(serving);

    let panics = fs::read_to_string(root().join("target/served/load.model.log"))?.matches("panicked").count();
    let growth = number(&hostile, "memory_after")? - number(&hostile, "memory_before")?;
    let slower = number(&with_adder, "p99")? / number(&steady, "p99")?;
    let rows = [
        ("requests a second", "500", number(&steady, "rate")?, number(&steady, "rate")? >= 495.0),
        ("p50, ms", "", number(&steady, "p50")?, true),
        ("p99, ms", "under 20", number(&steady, "p99")?, number(&steady, "p99")? < 20.0),
        ("errors under load", "0", number(&steady, "errors")?, number(&steady, "errors")? == 0.0),
        ("p99 while one client adds nodes, ms", "", number(&with_adder, "p99")?, true),
        ("times the p99 without it", "1.5 at most", slower, slower <= 1.5),
        ("errors while nodes are added", "0", number(&with_adder, "errors")?, number(&with_adder, "errors")? == 0.0),
        ("nodes added meanwhile", "", number(&added, "added")?, true),
        ("processor time of adding one, ms", "", number(&added, "processor_each")?, true),
        ("5xx among hostile requests", "0", number(&hostile, "faults")?, number(&hostile, "faults")? == 0.0),
        ("panics", "0", panics as f64, panics == 0),
        ("growth of memory over them, MB", "under 5", growth, growth < 5.0),
    ];
    let table: String = rows
        .iter()
        .map(|(what, aim, found, _)| format!("| {what} | {aim} | {} |\n", (100.0 * found).round() / 100.0))
        .collect();
    let summary = format!(
        "# A server under load\n\n`cargo xtask load {seconds}`: {NODES} nodes, {RATE} requests a second for {seconds} s, each for the ten best \
         links of one new node; times count from when a request was due. The same while one client adds a node, then the next. Then {HOSTILE} hostile requests. Server and generator share the machine.\n\n\
         {}\n\n| | aim | measured |\n|---|---|---|\n{table}",
        machine()
    );
    fs::write(folder.join("summary.md"), summary)?;
    let missed: Vec<&str> = rows.iter().filter(|row| !row.3).map(|row| row.0).collect();
    ensure!(missed.is_empty(), "missed: {}", missed.join(", "));
    steps.finish();
    Ok(())
}

/// A model of a generated graph, made once, with its index.
fn large_model(steps: &mut Steps) -> Result<PathBuf> {
    let model = root().join(format!("target/load/{}.model", SETTINGS.join("-")));
    if !model.exists() {
        let mut graph = load();
        graph.args(["graph", "target/load/graph", NODES]);
        steps.run("graph", graph)?;
        let mut train = binary();
        train.args(["train", "target/load/graph", "--preset", "default", "-o"]).arg(&model);
        train.args(SETTINGS.iter().flat_map(|setting| ["--set", setting]));
        steps.run("train", train)?;
    }
    let about = output(binary().arg("inspect").arg(&model))?;
    ensure!(
        about.contains("of the ten best links"),
        "the model has no index that can be used; delete `{}`",
        model.display()
    );
    Ok(model)
}

/// The generator of requests.
pub fn load() -> Command {
    let mut command = Command::new(root().join("target/release/examples/load"));
    command.current_dir(root());
    command
}

/// Starts a command that prints something at its end.
fn beside(command: &mut Command) -> Result<Child> {
    command.stdout(Stdio::piped()).spawn().with_context(|| format!("cannot run {command:?}"))
}

/// What it has printed.
fn finished(child: Child) -> Result<String> {
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "a client failed ({})", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

/// What a command prints, which must succeed.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    ensure!(output.status.success(), "{command:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

/// The number behind a word at the start of a line.
pub fn number(text: &str, name: &str) -> Result<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|number| number.parse().ok()).with_context(|| format!("the generator says nothing of `{name}`"))
}
