//! `cargo xtask readme`: figures from `results/` and the demo's real output, between marks in README.md and docs/.

use std::fs;

use anyhow::{Context, Result, bail};

use crate::quality::{newest, table};
use crate::steps::root;

/// Replaces what stands between the marks.
pub fn run() -> Result<()> {
    let path = root().join("README.md");
    let mut text = fs::read_to_string(&path)?;
    let quality = newest("-quality")?;
    text = replaced(&text, "quality", &table(&quality, |row| row.preset == "auto")?)?;
    for name in ["speed", "core", "serve"] {
        let folder = newest(&format!("-{name}"))?;
        let summary = fs::read_to_string(folder.join("summary.md"))
            .with_context(|| format!("no summary in `{}`", folder.display()))?;
        let rows: Vec<&str> = summary.lines().filter(|line| line.starts_with('|')).collect();
        text = replaced(&text, name, &(rows.join("\n") + "\n"))?;
    }
    let demo = newest("-core")?.join("demo.txt");
    let demo = fs::read_to_string(&demo).with_context(|| format!("cannot read `{}`", demo.display()))?;
    // The first of the new papers is enough for a first screen.
    let shown = demo.split_once("\nnew-2").map_or(demo.as_str(), |(shown, _)| shown);
    text = replaced(&text, "demo", &format!("```text\n{}\n…\n```\n", shown.trim_end()))?;
    let test = newest("-core")?.join("test.txt");
    let test = fs::read_to_string(&test).with_context(|| format!("cannot read `{}`", test.display()))?;
    text = replaced(&text, "test", &format!("```text\n{}\n```\n", test.trim_end()))?;
    for name in ["rows", "index"] {
        text = replaced(&text, name, &format!("```text\n{}```\n", printed(name)?))?;
    }
    text = replaced(&text, "table2", &short("table2-inductive")?)?;
    fs::write(&path, text)?;
    let path = root().join("docs/reproduction.md");
    let mut text = fs::read_to_string(&path)?;
    for name in ["table3-transductive", "table4-alignment", "table5-loss"] {
        text = replaced(&text, name, &short(name)?)?;
    }
    fs::write(&path, text)?;
    println!("README.md and docs/reproduction.md are up to date with results/");
    Ok(())
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
