//! `cargo xtask page`: the server's page in a real browser.

use std::fs;
use std::process::Command;

use anyhow::{Result, bail};

use crate::served::{Serving, build, demo_model};
use crate::steps::{Steps, in_root, is_there, root};

const TESTS: &str = "crates/coldlink-server/tests/browser";
const TOKEN: &str = "a-token-for-the-tests-of-the-page";

/// Drives the page, with screenshots in `target/page`.
pub fn run() -> Result<()> {
    let chromium = chromium()?;
    if !is_there(version_of("node")) || !is_there(version_of("npm")) {
        bail!("node or npm is missing\nhint: install Node.js 20 or later");
    }
    let mut steps = Steps::default();
    let mut npm = in_root("npm");
    npm.args(["ci", "--silent", "--no-audit", "--no-fund", "--prefix", TESTS]);
    steps.run("npm ci", npm)?;
    build(&mut steps)?;
    let model = demo_model(&mut steps)?;
    let shots = root().join("target/page");
    fs::create_dir_all(&shots)?;
    fs::write(root().join("target/page/token"), TOKEN)?;
    let open = Serving::start(&model, "page.model", &[])?;
    let guarded = Serving::start(&model, "guarded.model", &["--token-file", "target/page/token"])?;
    let mut node = in_root("node");
    node.args([&format!("{TESTS}/page.test.mjs"), &chromium, &open.url(), &guarded.url(), TOKEN]).arg(&shots);
    steps.run("page", node)?;
    steps.finish();
    println!("screenshots are in {}: look at them", shots.display());
    Ok(())
}

fn chromium() -> Result<String> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found = names.into_iter().find(|name| is_there(version_of(name)));
    let Some(name) = found else { bail!("no Chromium was found\nhint: apt install chromium") };
    let path = Command::new("which").arg(name).output()?;
    Ok(String::from_utf8(path.stdout)?.trim().to_owned())
}

fn version_of(program: &str) -> Command {
    let mut command = in_root(program);
    command.arg("--version");
    command
}
