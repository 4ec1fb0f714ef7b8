//! `cargo xtask test`: everything that a change must pass.

use anyhow::{Result, bail};

use crate::steps::{Steps, cargo, is_there};
use crate::{licenses, order};

/// Runs all steps, and says in a last line that they passed.
pub fn run() -> Result<()> {
    check_tools()?;
    let mut steps = Steps::default();
    steps.check("order of modules", order::check)?;
    steps.check("notices of packages", licenses::check)?;
    steps.run("format", cargo(["fmt", "--all", "--check"]))?;
    steps.run("format of fuzz", cargo(["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"]))?;
    steps.run("clippy", cargo(["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"]))?;
    let tests = if is_there(cargo(["nextest", "--version"])) {
        cargo(["nextest", "run", "--workspace", "--lib", "--bins", "--tests", "--no-fail-fast"])
    } else {
        cargo(["test", "--workspace", "--lib", "--bins", "--tests", "--no-fail-fast"])
    };
    steps.run("tests", tests)?;
    steps.run("doc tests", cargo(["test", "--workspace", "--doc"]))?;
    let mut docs = cargo(["doc", "--workspace", "--no-deps"]);
    docs.env("RUSTDOCFLAGS", "--deny warnings");
    steps.run("docs", docs)?;
    steps.finish();
    Ok(())
}

/// Says at once what is missing, not after minutes.
fn check_tools() -> Result<()> {
    let missing: Vec<&str> = [("fmt", "rustfmt"), ("clippy", "clippy")]
        .into_iter()
        .filter(|(command, _)| !is_there(cargo([command, "--version"])))
        .map(|(_, component)| component)
        .collect();
    if !missing.is_empty() {
        bail!("missing: {}\nhint: rustup component add {}", missing.join(" and "), missing.join(" "));
    }
    Ok(())
}
