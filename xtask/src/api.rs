//! `cargo xtask api`: schemathesis makes up requests from the OpenAPI document, good and bad, and holds the answers to it.

use anyhow::{Result, bail};

use crate::served::{Serving, build, demo_model};
use crate::steps::{Steps, in_root, is_there, root};

/// The version that the configuration was written for.
const SCHEMATHESIS: &str = "schemathesis==4.32.5";

/// Runs all checks; further arguments are schemathesis' own.
pub fn run(arguments: &[String]) -> Result<()> {
    let mut python = in_root("python3");
    python.arg("--version");
    if !is_there(python) {
        bail!("python3 is missing\nhint: install Python 3.10 or later");
    }
    let mut steps = Steps::default();
    let program = root().join("target/api-venv/bin/schemathesis");
    if !program.exists() {
        let mut venv = in_root("python3");
        venv.args(["-m", "venv", "target/api-venv"]);
        steps.run("python", venv)?;
        let mut pip = in_root("target/api-venv/bin/pip");
        pip.args(["install", "--quiet", SCHEMATHESIS]);
        steps.run("schemathesis", pip)?;
    }
    build(&mut steps)?;
    let model = demo_model(&mut steps)?;
    let serving = Serving::start(&model, "api.model", &[])?;
    let mut check = in_root(program);
    check.args(["--config-file", "crates/coldlink-server/tests/api/schemathesis.toml", "run"]);
    check.arg(format!("{}openapi.json", serving.url())).args(["--checks", "all", "--no-color"]).args(arguments);
    steps.run("api", check)?;
    steps.finish();
    Ok(())
}
