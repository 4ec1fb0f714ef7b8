//! `cargo xtask ablation`: what each part is worth, by the preset `default` without it.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::quality::{append, machine, newest, read, today};
use crate::real_data::{data, mean, report};
use crate::steps::{Steps, cargo, root};

/// Graphs, with the seeds that take minutes rather than hours.
const GRAPHS: [(&str, u64); 5] = [("cora", 2), ("citeseer", 1), ("photo", 1), ("cs", 1), ("computers", 1)];

/// A part that is left out, and the settings that do so.
const VARIANTS: [(&str, &[&str]); 7] = [
    ("no-walks", &[r#"terms=["attributes","cross","structure","tfidf","degree"]"#]),
    ("no-tfidf", &[r#"terms=["attributes","cross","structure","degree","near","far"]"#]),
    ("no-degree", &[r#"terms=["attributes","cross","structure","tfidf","near","far"]"#]),
    ("no-cross", &[r#"terms=["attributes","structure","tfidf","degree","near","far"]"#]),
    ("no-attributes", &[r#"terms=["cross","structure","tfidf","degree","near","far"]"#]),
    ("lambda-only", &["terms=[]"]),
    ("pair-loss", &["loss=pairs", "batch=1024", "steps=3000"]),
];

/// Evaluates what has no report yet, then writes the summary; `summary` writes it from the reports that are there.
pub fn run(arguments: &[String]) -> Result<()> {
    if arguments.first().is_some_and(|word| word == "summary") {
        return write_summary(&newest("-ablation")?);
    }
    let data = data()?;
    let folder = root().join("results").join(format!("{}-ablation", today()?));
    fs::create_dir_all(&folder)?;
    let mut steps = Steps::default();
    steps.run("build", cargo(["build", "--release", "--package", "coldlink-cli"]))?;
    for (graph, seeds) in GRAPHS {
        for (variant, settings) in VARIANTS {
            let path = folder.join(format!("{graph}-{variant}.jsonl"));
            for seed in read(&path)?.len() as u64..seeds {
                steps.check(&format!("{graph}, {variant}, seed {seed}"), || {
                    let mut command =
                        cargo(["run", "--quiet", "--release", "--package", "coldlink-cli", "--", "evaluate"]);
                    command.arg(data.join(format!("{graph}.npz"))).args(["--protocol", "deal2020", "--json"]);
                    command.args(["--preset", "default", "--first-seed", &seed.to_string()]);
                    settings.iter().for_each(|setting| {
                        command.args(["--set", setting]);
                    });
                    append(&path, &report(command)?)
                })?;
            }
        }
    }
    write_summary(&folder)?;
    steps.finish();
    Ok(())
}

/// A row per variant, a column per graph, with the whole preset of the same seeds above.
fn write_summary(folder: &Path) -> Result<()> {
    let whole = newest("-quality")?;
    let head: Vec<String> = GRAPHS.iter().map(|(graph, seeds)| format!("{graph} ({seeds})")).collect();
    let mut rows = vec![format!("| AUC / AP, MRR | {} |", head.join(" | ")), "|---|---|---|---|---|---|".to_owned()];
    let mut row = |name: &str, folder: &Path, ending: &str| -> Result<()> {
        let cells = GRAPHS.iter().map(|(graph, seeds)| {
            let mut reports = read(&folder.join(format!("{graph}-{ending}.jsonl")))?;
            reports.truncate(*seeds as usize);
            let value = |metric: &str| mean(&reports, metric);
            let missing = reports.is_empty();
            let cell = format!("{:.3} / {:.3}, {:.3}", value("auc"), value("ap"), value("mrr"));
            Ok(if missing { "–".to_owned() } else { cell })
        });
        let cells = cells.collect::<Result<Vec<String>>>()?;
        rows.push(format!("| {name} | {} |", cells.join(" | ")));
        Ok(())
    };
    row("the preset `default`", &whole, "deal2020-default")?;
    for (variant, _) in VARIANTS {
        row(&variant.replace('-', " "), folder, variant)?;
    }
    let text = format!(
        "# What each part is worth\n\n    cargo xtask ablation\n\n{}\n\nProtocol `deal2020`, the preset `default` without one part at a \
         time; in brackets the number of splits. A dash: not measured.\n\n{}\n",
        machine(),
        rows.join("\n")
    );
    fs::write(folder.join("summary.md"), text).context("cannot write the summary")
}
