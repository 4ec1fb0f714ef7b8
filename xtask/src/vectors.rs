//! `cargo xtask vectors`: Debian's descriptions as words, and as words and vectors, into `results/`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::quality::{append, machine, newest, read, today};
use crate::real_data::{data, report};
use crate::steps::{Steps, cargo, root};

/// Evaluations: settings, whether descriptions are vectors as well, and the name of the reports.
const RUNS: [(&[&str], bool, &str); 5] = [
    (&["default", "--set", "epochs=2"], false, "two-epochs-words"),
    (&["default", "--set", "epochs=2"], true, "two-epochs-vectors"),
    (&["auto", "--set", "epochs=2", "--budget", "30m"], true, "two-epochs-auto"),
    (&["default"], false, "default-words"),
    (&["default"], true, "default-vectors"),
];
const SEED: &str = "0";

/// Evaluates what has no report yet, by the token vectors that are given, then writes the summary; or that alone.
pub fn run(arguments: &[String]) -> Result<()> {
    let given =
        arguments.first().context("no token vectors\nhint: cargo xtask vectors FILE.safetensors [TOKENIZER.json]")?;
    if given == "summary" {
        return write_summary(&newest("-vectors")?);
    }
    let (data, columns) = (data()?, columns(arguments)?);
    let folder = root().join("results").join(format!("{}-vectors", today()?));
    fs::create_dir_all(&folder)?;
    let mut steps = Steps::default();
    steps.run("build", cargo(["build", "--release", "--package", "coldlink-cli"]))?;
    for (settings, with, name) in RUNS {
        let path = folder.join(format!("{name}.jsonl"));
        if read(&path)?.is_empty() {
            let mut command = cargo(["run", "--quiet", "--release", "--package", "coldlink-cli", "--", "evaluate"]);
            command.arg(data.join("debian")).args(["--protocol", "strict", "--first-seed", SEED, "--json", "--preset"]);
            command.args(settings);
            if with {
                command.arg("--columns").arg(&columns);
            }
            steps.check(name, || append(&path, &report(command)?))?;
        }
    }
    write_summary(&folder)?;
    steps.finish();
    Ok(())
}

/// A description of columns that names the token vectors.
fn columns(arguments: &[String]) -> Result<PathBuf> {
    let full = |path: &String| fs::canonicalize(path).with_context(|| format!("cannot find `{path}`"));
    let mut text = "[columns.description]\nkind = \"text\"\n".to_owned();
    for (key, path) in ["encoder", "tokenizer"].into_iter().zip(arguments) {
        text += &format!("{key} = '{}'\n", full(path)?.display());
    }
    let path = root().join("target/text-vectors.toml");
    fs::write(&path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
    Ok(path)
}

fn write_summary(folder: &Path) -> Result<()> {
    let mut rows = vec![
        "| preset | description | MRR | recall@10 | first hit | MRR of all links | AUC | AP | chosen | seconds |"
            .to_owned(),
        "|---|---|---|---|---|---|---|---|---|---|".to_owned(),
    ];
    for (settings, with, name) in RUNS {
        let Some(report) = read(&folder.join(format!("{name}.jsonl")))?.pop() else { continue };
        let (roles, seed) = (report["roles"].as_array().cloned().unwrap_or_default(), &report["seeds"][0]);
        let out = roles.iter().find(|role| role["direction"] == "out").context("no links out of new nodes")?;
        let number = |value: &Value| value.as_f64().map_or("–".to_owned(), |value| format!("{value:.4}"));
        let numbers =
            [&out["mrr"], &out["recall@10"], &out["first_hit"], &seed["mrr"], &seed["auc"], &seed["ap"]].map(number);
        let chosen = seed["chosen"]["settings"].as_str().map_or("–".to_owned(), |settings| format!("`{settings}`"));
        let seconds =
            ["train_seconds", "search_seconds"].map(|key| seed[key].as_f64().unwrap_or(0.0)).iter().sum::<f64>();
        let description = if with { "words and vectors" } else { "words" };
        rows.push(format!(
            "| {} | {description} | {} | {chosen} | {seconds:.0} |",
            settings.join(" "),
            numbers.join(" | ")
        ));
    }
    let (machine, rows) = (machine(), rows.join("\n"));
    let text = format!(
        "# Descriptions as words, and as words and vectors\n\n    cargo xtask vectors FILE.safetensors TOKENIZER.json\n\n{machine}\n\
         - Debian's packages, protocol strict, seed {SEED}; the first three numbers are of links out of new nodes (what they depend on)\n\n{rows}\n"
    );
    Ok(fs::write(folder.join("summary.md"), text)?)
}
