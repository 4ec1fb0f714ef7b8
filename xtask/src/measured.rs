//! `cargo xtask index` and `cargo xtask rows`: what an example measures, written into `results/` with its command.

use std::fs;

use anyhow::{Result, ensure};

use crate::quality::{machine, today};
use crate::steps::{Steps, cargo, in_root, root};

/// An example of the library that measures something and prints what it finds.
pub struct Measured {
    /// The task, which also names the folder.
    pub task: &'static str,
    pub example: &'static str,
    pub title: &'static str,
}

impl Measured {
    /// Runs it with the given arguments and keeps its output.
    pub fn run(&self, arguments: &[String]) -> Result<()> {
        let folder = root().join("results").join(format!("{}-{}", today()?, self.task));
        fs::create_dir_all(&folder)?;
        let mut steps = Steps::default();
        steps.run("build", cargo(["build", "--release", "--package", "coldlink", "--example", self.example]))?;
        let mut found = String::new();
        steps.check("measure", || {
            let program = root().join("target/release/examples").join(self.example);
            let output = in_root(program).args(arguments).output()?;
            ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            found = String::from_utf8(output.stdout)?;
            print!("{found}");
            Ok(())
        })?;
        let lines: String = found.lines().map(|line| format!("    {line}\n")).collect();
        let command = [&["cargo xtask".to_owned(), self.task.to_owned()], arguments].concat().join(" ");
        let text = format!("# {}\n\n    {command}\n\n{}\n\n{lines}", self.title, machine());
        let name = if arguments.is_empty() { "summary".to_owned() } else { arguments.join("-") };
        fs::write(folder.join(format!("{name}.md")), text)?;
        steps.finish();
        Ok(())
    }
}
