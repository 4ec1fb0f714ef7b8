//! `cargo xtask python`: the Python package, installed as a user would and tested.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};

use crate::steps::{Steps, cargo, in_root, is_there, root};

/// What the package is tested with.
const REQUIREMENTS: &str = "python/tests/requirements.txt";
/// What only `from_pyg` needs: hundreds of megabytes.
const TORCH: &str = "python/tests/requirements-torch.txt";

/// Makes an environment under target/, installs the package and what its tests need, and runs them.
pub fn run(arguments: &[String]) -> Result<()> {
    let with_torch = match arguments {
        [] => false,
        [argument] if argument == "--torch" => true,
        _ => bail!("`cargo xtask python` takes `--torch` and nothing else"),
    };
    let mut steps = Steps::default();
    if !is_there(python()) {
        let mut make = in_root("python3");
        make.args(["-m", "venv"]).arg(environment());
        steps.run("environment", make)?;
    }
    steps.run("requirements", pip(&["--requirement", REQUIREMENTS]))?;
    if with_torch {
        steps.run("torch", pip(&["--requirement", TORCH]))?;
    }
    steps.run("command line", cargo(["build", "--release", "--package", "coldlink-cli"]))?;
    steps.run("package", pip(&["--no-deps", "--force-reinstall", "./python"]))?;
    steps.run("format", inside("python", &["-m", "ruff", "format", "--check", "--quiet", "."]))?;
    steps.run("lints", inside("python", &["-m", "ruff", "check", "--quiet", "."]))?;
    steps.run("types", inside("python", &["-m", "mypy", "--strict", "coldlink", "tests/typed_use.py"]))?;
    let stubs = ["-m", "mypy.stubtest", "coldlink._coldlink", "--mypy-config-file", "../pyproject.toml"];
    steps.run("stubs", inside("python/tests", &stubs))?;
    steps.run("tests", inside("python/tests", &["-m", "pytest", "--quiet", "-rs"]))?;
    let binary = root().join("target/release/coldlink");
    for seed in ["0", "1", "2"] {
        let mut check = inside(".", &["crates/coldlink-cli/tests/brute_force.py"]);
        check.arg(&binary).arg(seed);
        steps.run(&format!("lists by brute force, seed {seed}"), check)?;
    }
    steps.finish();
    Ok(())
}

fn environment() -> PathBuf {
    root().join("target").join("python-venv")
}

/// The environment's Python, asked for nothing but its version.
fn python() -> Command {
    let program = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };
    let mut python = in_root(environment().join(program));
    python.arg("--version");
    python
}

/// The environment's Python in a folder of the repository.
fn inside(folder: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(python().get_program());
    command.args(arguments).current_dir(root().join(folder));
    command
}

fn pip(arguments: &[&str]) -> Command {
    let mut command = inside(".", &["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    command.args(arguments);
    command
}
