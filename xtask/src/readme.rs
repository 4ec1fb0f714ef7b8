//! `cargo xtask readme`: figures from `results/` and the demo's real output, between marks in README.md and docs/.

use std::fs;

use anyhow::{Context, Result, bail, ensure};

use crate::quality::{newest, table};
use crate::steps::{cargo, root};

/// Replaces what stands between the marks.
pub fn run() -> Result<()> {
    rewrite("README.md", |text| {
        let text = replaced(text, "lists", &lists()?[0])?;
        let text = replaced(&text, "demo", &demo()?)?;
        replaced(&text, "speed", &rows("speed")?)
    })?;
    rewrite("docs/performance.md", |text| {
        let text = replaced(text, "core", &rows("core")?)?;
        let text = replaced(&text, "scale", &rows("scale").unwrap_or_default())?;
        let text = replaced(&text, "serve", &rows("serve")?)?;
        let text = replaced(&text, "rows", &format!("```text\n{}```\n", printed("rows")?))?;
        replaced(&text, "index", &format!("```text\n{}```\n", printed("index")?))
    })?;
    rewrite("docs/reproduction.md", |text| {
        let text = &replaced(text, "directions", &lists()?[1])?;
        let text = &replaced(text, "quality", &table(&newest("-quality")?, |row| row.preset == "auto")?)?;
        let tables = ["table2-inductive", "table3-transductive", "table4-alignment", "table5-loss"];
        tables.iter().try_fold(text.to_owned(), |text, name| replaced(&text, name, &short(name)?))
    })?;
    println!("README.md and docs/ are up to date with results/");
    Ok(())
}

fn rewrite(name: &str, change: impl FnOnce(&str) -> Result<String>) -> Result<()> {
    let path = root().join(name);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read `{name}`"))?;
    fs::write(&path, change(&text).with_context(|| format!("in `{name}`"))?)?;
    Ok(())
}

/// The rows of a summary's tables.
fn rows(name: &str) -> Result<String> {
    let folder = newest(&format!("-{name}"))?;
    let summary = fs::read_to_string(folder.join("summary.md"))
        .with_context(|| format!("no summary in `{}`", folder.display()))?;
    Ok(summary.lines().filter(|line| line.starts_with('|')).map(|line| format!("{line}\n")).collect())
}

/// The tables of lists: of graphs, and of their relations and directions.
fn lists() -> Result<[String; 2]> {
    let path = newest("-lists")?.join("summary.md");
    let summary = fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let lines: Vec<&str> = summary.lines().collect();
    let tables =
        lines.chunk_by(|a, b| a.starts_with('|') == b.starts_with('|')).filter(|part| part[0].starts_with('|'));
    let tables: Vec<String> = tables.map(|table| table.iter().map(|line| format!("{line}\n")).collect()).collect();
    tables.try_into().map_err(|_| anyhow::anyhow!("`{}` must have two tables", path.display()))
}

/// The best of what the demo prints: how good it is, and the first links of the first new paper.
fn demo() -> Result<String> {
    let folder = root().join("target/demo-for-readme");
    let mut command =
        cargo(["run", "--quiet", "--release", "--package", "coldlink-cli", "--", "demo", "--quiet", "-o"]);
    let output = command.arg(&folder).output().context("cannot run the demo")?;
    ensure!(output.status.success(), "the demo failed ({})", output.status);
    let demo = String::from_utf8(output.stdout)?;
    let lines =
        |from: &'static str, count: usize| demo.lines().skip_while(move |line| !line.starts_with(from)).take(count);
    let shown: Vec<&str> = lines(" method", 7).chain([""]).chain(lines("new-1", 7)).collect();
    Ok(format!("```text\n{}\n…\n```\n", shown.join("\n")))
}

/// A measurement's command and what it printed.
fn printed(name: &str) -> Result<String> {
    let folder = newest(&format!("-{name}"))?;
    let files = fs::read_dir(&folder)?.map(|file| Ok(file?.path())).collect::<Result<Vec<_>>>()?;
    let [file] = &files[..] else { bail!("`{}` must have one file, to be shown", folder.display()) };
    let text = fs::read_to_string(file)?;
    let lines = text.lines().filter_map(|line| line.strip_prefix("    "));
    Ok(lines.map(|line| format!("{line}\n")).collect())
}

/// An experiment's table in short.
fn short(name: &str) -> Result<String> {
    let path = newest(&format!("-{name}"))?.join("short.md");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
    Ok(format!("{}\n", text.trim()))
}

fn replaced(text: &str, name: &str, contents: &str) -> Result<String> {
    let (start, end) =
        (format!("<!-- {name}: written by `cargo xtask readme` -->\n"), format!("<!-- end of {name} -->"));
    let Some((before, rest)) = text.split_once(&start) else { bail!("there is no mark `{}`", start.trim()) };
    let Some((_, after)) = rest.split_once(&end) else { bail!("there is no mark `{end}`") };
    Ok(format!("{before}{start}{contents}{end}{after}"))
}
