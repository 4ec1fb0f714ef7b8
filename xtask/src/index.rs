//! `cargo xtask index`: links one new node at a time, through the index and by scoring every node, into `results/`.

use std::fs;

use anyhow::{Context, Result, ensure};

use crate::quality::{machine, today};
use crate::steps::{Steps, cargo, in_root, root};

/// Measures on a generated graph and writes what was found.
pub fn run(arguments: &[String]) -> Result<()> {
    let nodes: u32 = arguments.first().map_or(Ok(100_000), |text| text.parse()).context("NODES is a number")?;
    let folder = root().join("results").join(format!("{}-index", today()?));
    fs::create_dir_all(&folder)?;
    let mut steps = Steps::default();
    steps.run("build", cargo(["build", "--release", "--package", "coldlink", "--example", "index_speed"]))?;
    let mut found = String::new();
    steps.check("measure", || {
        let output = in_root(root().join("target/release/examples/index_speed")).arg(nodes.to_string()).output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        found = String::from_utf8(output.stdout)?;
        print!("{found}");
        Ok(())
    })?;
    fs::write(folder.join(format!("{nodes}.txt")), &found)?;
    let lines: String = found.lines().map(|line| format!("    {line}\n")).collect();
    let text = format!("# The index at {nodes} nodes\n\n    cargo xtask index {nodes}\n\n{}\n\n{lines}", machine());
    fs::write(folder.join(format!("{nodes}.md")), text)?;
    steps.finish();
    Ok(())
}
