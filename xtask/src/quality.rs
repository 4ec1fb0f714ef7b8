//! `cargo xtask quality`: all floors of quality, with the reports kept in `results/`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::real_data::{FLOORS, Floor, data, report};
use crate::steps::{Steps, cargo, in_root, root};

/// Evaluates what has no report yet, then writes the summary.
pub fn run(arguments: &[String]) -> Result<()> {
    let seeds = arguments.first().map_or(Ok(5), |text| text.parse()).context("SEEDS is a number")?;
    let data = data()?;
    let folder = root().join("results").join(format!("{}-quality", today()?));
    fs::create_dir_all(&folder)?;
    let mut steps = Steps::default();
    steps.run("build", cargo(["build", "--release", "--package", "coldlink-cli"]))?;
    let mut missed = Vec::new();
    for floor in &FLOORS {
        let path = folder.join(file_name(floor));
        if !path.exists() {
            steps.check(floor.name, || {
                let report = report(floor.command(&data, seeds))?;
                let beside = path.with_extension("partial");
                fs::write(&beside, format!("{report:#}\n"))?;
                Ok(fs::rename(beside, &path)?)
            })?;
        }
        if let Err(error) = floor.check(&read(&path)?) {
            missed.push(format!("{}: {error}", floor.name));
        }
    }
    fs::write(folder.join("summary.md"), summary(&folder, seeds)?)?;
    steps.finish();
    anyhow::ensure!(missed.is_empty(), "below the floor:\n{}", missed.join("\n"));
    Ok(())
}

/// Today, in the form that the folders of `results/` start with.
pub fn today() -> Result<String> {
    let output = in_root("date").arg("+%F").output().context("cannot run `date`")?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

fn file_name(floor: &Floor) -> String {
    let letters = |c: char| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    format!("{}-{}.json", floor.name.replace(['\'', ','], "").chars().map(letters).collect::<String>(), floor.preset)
}

fn read(path: &Path) -> Result<Value> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("`{}` is no report", path.display()))
}

/// The newest folder of `results/` whose name ends so.
pub fn newest(ending: &str) -> Result<PathBuf> {
    let folders = fs::read_dir(root().join("results")).context("there is no folder `results`")?;
    let folders = folders.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let newest = folders.filter(|path| path.to_string_lossy().ends_with(ending)).max();
    newest.with_context(|| format!("there is no folder `results/*{ending}`"))
}

/// The reports of a folder as a table, with the machine and the command.
fn summary(folder: &Path, seeds: u32) -> Result<String> {
    let table = table(folder)?;
    let machine = machine();
    Ok(format!("# Quality\n\n    cargo xtask quality {seeds}\n\n{machine}\n\n{table}"))
}

/// What it ran on.
pub fn machine() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("unknown processor");
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    format!("- {}, {cores} cores", model.trim_start_matches([' ', '\t', ':']))
}

/// A row per report: ours, the strongest of the trivial baselines, and how it was made.
pub fn table(folder: &Path) -> Result<String> {
    let mut rows = vec![
        "| graph | preset | AUC | AP | linked | MRR | Hits@10 | tf-idf cosine AUC / AP | seeds | seconds a seed |"
            .to_owned(),
        "|---|---|---|---|---|---|---|---|---|---|".to_owned(),
    ];
    for floor in &FLOORS {
        let report = read(&folder.join(file_name(floor)))?;
        let mean = |metric: &str| report["mean"][metric].as_f64().unwrap_or(f64::NAN);
        let with_sd = |metric: &str| match report["sd"][metric].as_f64() {
            Some(sd) => format!("{:.3} ± {sd:.3}", mean(metric)),
            None => format!("{:.3}", mean(metric)),
        };
        let tfidf = |metric: &str| report["baselines"]["tfidf"][metric].as_f64().unwrap_or(f64::NAN);
        let seeds = report["seeds"].as_array().map_or(&[][..], Vec::as_slice);
        let seconds = seeds.iter().filter_map(|seed| seed["train_seconds"].as_f64()).sum::<f64>() / seeds.len() as f64;
        rows.push(format!(
            "| {} | {} | {} | {} | {:.1} % | {:.3} | {:.3} | {:.3} / {:.3} | {} | {seconds:.0} |",
            floor.name,
            floor.preset,
            with_sd("auc"),
            with_sd("ap"),
            100.0 * report["prevalence"].as_f64().unwrap_or(f64::NAN),
            mean("mrr"),
            mean("hits@10"),
            tfidf("auc"),
            tfidf("ap"),
            seeds.len(),
        ));
    }
    Ok(rows.join("\n") + "\n")
}
