//! Commands run one after the other, each with its time, up to the first that fails.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// The repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the repository").to_owned()
}

/// A program that runs in the repository.
pub fn in_root(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// The cargo that runs this, as from a shell: what it says of this package would let build scripts run anew.
pub fn cargo<const N: usize>(arguments: [&str; N]) -> Command {
    let mut command = in_root(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for name in names.filter(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")) {
        command.env_remove(name);
    }
    command.args(arguments);
    command
}

/// Whether a program can be run at all.
pub fn is_there(mut command: Command) -> bool {
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// What was asked for is nothing that can be done.
#[derive(Debug)]
pub struct Misuse(pub String);

impl std::fmt::Display for Misuse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misuse {}

/// What has been done so far.
#[derive(Default)]
pub struct Steps {
    passed: Vec<(String, Duration)>,
}

impl Steps {
    /// Runs a single command with further arguments.
    pub fn one(name: &str, mut command: Command, arguments: &[String]) -> Result<()> {
        command.args(arguments);
        let mut steps = Steps::default();
        steps.run(name, command)?;
        steps.finish();
        Ok(())
    }

    /// Runs a command that says itself what is wrong.
    pub fn run(&mut self, name: &str, mut command: Command) -> Result<()> {
        let line = shown(&command);
        self.check(name, || {
            println!("    {line}");
            let status = command.status().with_context(|| format!("cannot run `{line}`"))?;
            if !status.success() {
                bail!("`{line}` failed ({status})");
            }
            Ok(())
        })
    }

    /// Does a step and notes its time.
    pub fn check(&mut self, name: &str, step: impl FnOnce() -> Result<()>) -> Result<()> {
        println!("==> {name}");
        let started = Instant::now();
        let outcome = step();
        let time = started.elapsed();
        let verdict = if outcome.is_ok() { "passed" } else { "FAILED" };
        println!("==> {name}: {verdict} in {:.1} s\n", time.as_secs_f64());
        outcome.with_context(|| format!("step `{name}`, after {} passed", self.passed.len()))?;
        self.passed.push((name.to_owned(), time));
        Ok(())
    }

    /// Says what has passed.
    pub fn finish(self) {
        let total: Duration = self.passed.iter().map(|step| step.1).sum();
        let steps: Vec<String> =
            self.passed.iter().map(|(name, time)| format!("{name} {:.1} s", time.as_secs_f64())).collect();
        println!("passed all {} steps in {:.1} s: {}", steps.len(), total.as_secs_f64(), steps.join(", "));
    }
}

/// A command as one would type it.
fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_stem().unwrap_or(command.get_program());
    let set = command.get_envs().filter_map(|(name, value)| Some((name.to_string_lossy(), value?.to_string_lossy())));
    let set = set.map(|(name, value)| format!("{name}={value:?}"));
    let words = std::iter::once(program).chain(command.get_args()).map(|word| word.to_string_lossy().into_owned());
    set.chain(words).collect::<Vec<_>>().join(" ")
}
