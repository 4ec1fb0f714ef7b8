//! `cargo xtask quality`: all floors of quality, with the reports kept in `results/`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::real_data::{ROWS, Row, data, mean, report};
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
    for row in &ROWS {
        let path = folder.join(file_name(row));
        let missing: Vec<u64> = {
            let there = read(&path)?;
            (0..seeds).filter(|seed| there.iter().all(|report| report["seeds"][0]["seed"] != *seed)).collect()
        };
        for seed in missing {
            steps.check(&format!("{}, {}, {}, seed {seed}", row.name, row.protocol(), row.preset), || {
                let report = report(row.command(&data, seed))?;
                append(&path, &report)
            })?;
        }
        if let Err(error) = row.check(&read(&path)?) {
            missed.push(format!("{}, {}, {}: {error}", row.name, row.protocol(), row.preset));
        }
    }
    fs::write(folder.join("summary.md"), summary(&folder, seeds)?)?;
    steps.finish();
    anyhow::ensure!(missed.is_empty(), "below the floor:\n{}", missed.join("\n"));
    Ok(())
}

/// Adds a report to its file, which is replaced as a whole.
pub fn append(path: &Path, report: &Value) -> Result<()> {
    let before = fs::read_to_string(path).unwrap_or_default();
    let beside = path.with_extension("partial");
    fs::write(&beside, format!("{before}{report}\n"))?;
    Ok(fs::rename(beside, path)?)
}

/// Today, in the form that the folders of `results/` start with.
pub fn today() -> Result<String> {
    let output = in_root("date").arg("+%F").output().context("cannot run `date`")?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

fn file_name(row: &Row) -> String {
    let letters = |c: char| if c.is_alphanumeric() || c == '_' { c.to_ascii_lowercase() } else { '-' };
    let name: String = row.name.replace(['\'', ','], "").chars().map(letters).collect();
    format!("{name}-{}-{}.jsonl", row.protocol().replace(' ', "-"), row.preset)
}

/// The reports of a file, by seed; none where there is no file.
pub fn read(path: &Path) -> Result<Vec<Value>> {
    let text = if path.exists() { fs::read_to_string(path)? } else { String::new() };
    let report = |line: &str| {
        serde_json::from_str(line).with_context(|| format!("`{}` has a line that is no report", path.display()))
    };
    let mut reports = text.lines().map(report).collect::<Result<Vec<Value>>>()?;
    reports.sort_by_key(|report| report["seeds"][0]["seed"].as_u64());
    Ok(reports)
}

/// The newest folder of `results/` whose name ends so.
pub fn newest(ending: &str) -> Result<PathBuf> {
    let folders = fs::read_dir(root().join("results")).context("there is no folder `results`")?;
    let folders = folders.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let newest = folders.filter(|path| path.to_string_lossy().ends_with(ending)).max();
    newest.with_context(|| format!("there is no folder `results/*{ending}`"))
}

/// The reports of a folder as a table, with the machine and the command.
fn summary(folder: &Path, seeds: u64) -> Result<String> {
    let table = table(folder, |_| true)?;
    let machine = machine();
    let made = if folder.join("made.md").exists() { "\n- [how the reports were made](made.md)" } else { "" };
    Ok(format!("# Quality\n\n    cargo xtask quality {seeds}\n\n{machine}{made}\n\n{table}"))
}

/// What it ran on.
pub fn machine() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("unknown processor");
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    format!("- {}, {cores} cores", model.trim_start_matches([' ', '\t', ':']))
}

/// A row per evaluation that is `wanted`: ours, the paper's, the strongest trivial baseline, and how it was made.
pub fn table(folder: &Path, wanted: fn(&Row) -> bool) -> Result<String> {
    let mut rows = vec![
        "| graph | protocol | preset | AUC | AP | DEAL in the paper | linked | MRR | Hits@10 | distinct in top 10 | ECE | best trivial AUC / AP | \
         seeds | search + training, s |"
            .to_owned(),
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|".to_owned(),
    ];
    for row in ROWS.iter().filter(|row| wanted(row)) {
        let reports = read(&folder.join(file_name(row)))?;
        if reports.is_empty() {
            continue;
        }
        let with_sd = |metric: &str| format!("{:.3} ± {:.3}", mean(&reports, metric), deviation(&reports, metric));
        let optional = |metric: &str, digits: usize| {
            let value = mean(&reports, metric);
            if value.is_finite() { format!("{value:.digits$}") } else { "–".to_owned() }
        };
        let seconds = |metric: &str| optional(metric, 0);
        rows.push(format!(
            "| {} | {} | {} | {} | {} | {} | {:.1} % | {} | {} | {} | {} | {} | {} | {} + {} |",
            row.name,
            row.protocol(),
            row.preset,
            with_sd("auc"),
            with_sd("ap"),
            row.paper.map_or_else(|| "–".to_owned(), |[auc, ap]| format!("{auc:.3} / {ap:.3}")),
            100.0 * mean(&reports, "prevalence"),
            optional("mrr", 3),
            optional("hits@10", 3),
            optional("distinct@10", 0),
            optional("ece", 3),
            best_trivial(&reports),
            reports.len(),
            seconds("search_seconds"),
            seconds("train_seconds"),
        ));
    }
    Ok(rows.join("\n") + "\n")
}

fn deviation(reports: &[Value], metric: &str) -> f64 {
    let center = mean(reports, metric);
    let square = |report: &Value| (report["seeds"][0][metric].as_f64().unwrap_or(f64::NAN) - center).powi(2);
    (reports.iter().map(square).sum::<f64>() / (reports.len().max(2) - 1) as f64).sqrt()
}

/// The trivial method with the highest mean AUC.
fn best_trivial(reports: &[Value]) -> String {
    let mean = |name: &str, metric: &str| {
        let values = reports.iter().map(|report| report["baselines"][name][metric].as_f64().unwrap_or(f64::NAN));
        values.sum::<f64>() / reports.len() as f64
    };
    let names = [("tfidf", "tf-idf cosine"), ("cosine", "cosine"), ("degree", "degree")];
    let best = names.iter().max_by(|a, b| mean(a.0, "auc").total_cmp(&mean(b.0, "auc")));
    best.map_or_else(String::new, |(key, name)| format!("{name} {:.3} / {:.3}", mean(key, "auc"), mean(key, "ap")))
}
