//! `cargo xtask core`: start, demo, a step, the packed file and a build from nothing, measured into `results/`.

use std::fs;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::quality::{machine, today};
use crate::steps::{Steps, cargo, in_root, root};

/// Runs of a command whose time is taken; the middle one counts.
const STARTS: usize = 21;

/// Measures all of it and writes the summary.
pub fn run() -> Result<()> {
    let folder = root().join("results").join(format!("{}-core", today()?));
    fs::create_dir_all(&folder)?;
    let mut steps = Steps::default();
    steps.run("build", cargo(["build", "--release", "--package", "coldlink-cli"]))?;
    steps.run("build examples", cargo(["build", "--release", "--package", "coldlink", "--examples"]))?;
    let mut rows = Vec::new();

    let starts = (0..STARTS).map(|_| Ok(timed(binary().arg("--version"))?.0)).collect::<Result<Vec<f64>>>()?;
    rows.push(("`coldlink --version`", "under 20 ms", format!("{:.1} ms", 1e3 * median(starts))));

    let world = root().join("target/demo-for-results");
    fs::create_dir_all(&world)?;
    let (seconds, demo) = timed(binary().current_dir(&world).args(["demo", "--quiet"]))?;
    fs::write(folder.join("demo.txt"), &demo)?;
    fs::remove_dir_all(&world)?;
    rows.push(("`coldlink demo`, after the build", "under a minute", format!("{seconds:.1} s")));

    let (_, step) = timed(&mut example("step_speed"))?;
    fs::write(folder.join("step.txt"), &step)?;
    let ratio = |settings: &str| {
        let line = step.lines().find(|line| line.split(':').next() == Some(settings)).unwrap_or_default();
        format!("{} times", line.rsplit(' ').next().unwrap_or("?"))
    };
    rows.push(("step on 1 M nodes against 100 k, same batch", "at most 1.5 times", ratio("loss=softmax")));
    rows.push(("the same, pair-wise loss", "at most 1.5 times", ratio("loss=pairs")));
    rows.push(("the same, weights by paths up to 2", "", ratio("loss=pairs beta=1.0 distance_bound=2")));
    rows.push(("the same, weights by paths up to 3", "", ratio("loss=pairs beta=1.0 distance_bound=3")));
    let peak = step.split_once("peak memory").and_then(|(_, rest)| rest.split_whitespace().next()).unwrap_or("?");
    rows.push((
        "peak memory of steps alone, 1 M nodes, 10 M links, 50 attributes",
        "at most 3,000 MB",
        format!("{peak} MB"),
    ));

    let (_, packed) = timed(&mut example("open_packed"))?;
    fs::write(folder.join("open_packed.txt"), &packed)?;
    let opened =
        packed.lines().last().and_then(|line| line.rsplit_once(" in ")).map_or("?", |(_, time)| time).to_owned();
    rows.push(("opening a packed graph of that size", "under a second", opened));

    let target = root().join("target/from-nothing");
    let mut build = cargo(["build", "--release", "--package", "coldlink-cli"]);
    let (seconds, _) = timed(build.env("CARGO_TARGET_DIR", &target))?;
    fs::remove_dir_all(&target)?;
    rows.push(("release build of the command line from nothing", "under 4 minutes", format!("{seconds:.0} s")));

    let target = root().join("target/tested-from-nothing");
    let (seconds, test) = timed(cargo(["xtask", "test"]).env("CARGO_TARGET_DIR", &target))?;
    fs::remove_dir_all(&target)?;
    fs::write(folder.join("test.txt"), steps_of(&test))?;
    rows.push((
        "`cargo xtask test` from nothing",
        "under 25 minutes; under 10 for the core alone",
        format!("{:.1} minutes", seconds / 60.0),
    ));

    let rows: Vec<String> =
        rows.iter().map(|(what, target, found)| format!("| {what} | {target} | {found} |")).collect();
    let table = format!("| what | target | measured |\n|---|---|---|\n{}\n", rows.join("\n"));
    fs::write(folder.join("summary.md"), format!("# The core\n\n    cargo xtask core\n\n{}\n\n{table}", machine()))?;
    println!("{table}");
    steps.finish();
    Ok(())
}

/// What a task says of its steps, without what they print themselves.
fn steps_of(output: &str) -> String {
    let is_outcome =
        |line: &&str| line.starts_with("passed all") || (line.starts_with("==>") && line.contains(": passed"));
    output.lines().filter(is_outcome).map(|line| format!("{line}\n")).collect()
}

fn binary() -> Command {
    in_root(root().join("target/release/coldlink"))
}

fn example(name: &str) -> Command {
    in_root(root().join("target/release/examples").join(name))
}

/// Seconds that a command takes, and what it prints.
fn timed(command: &mut Command) -> Result<(f64, String)> {
    let started = Instant::now();
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    let seconds = started.elapsed().as_secs_f64();
    ensure!(output.status.success(), "{command:?} failed:\n{}", String::from_utf8_lossy(&output.stderr));
    Ok((seconds, String::from_utf8_lossy(&output.stdout).into_owned()))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
