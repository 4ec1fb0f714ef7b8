//! `cargo xtask page`: the server's page in a real browser.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};

use crate::served::{Serving, binary, build, demo_model};
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
    let shop = Serving::start(&shop_model(&mut steps)?, "shop.model", &[])?;
    let cited = Serving::start(&cited_model(&mut steps)?, "cited.model", &[])?;
    let mut node = in_root("node");
    node.args([
        &format!("{TESTS}/page.test.mjs"),
        &chromium,
        &open.url(),
        &guarded.url(),
        TOKEN,
        &shop.url(),
        &cited.url(),
    ])
    .arg(&shots);
    steps.run("page", node)?;
    steps.finish();
    println!("screenshots are in {}: look at them", shots.display());
    Ok(())
}

/// A model of users who like items of their taste, each kind with a column of its own.
fn shop_model(steps: &mut Steps) -> Result<PathBuf> {
    const EACH: usize = 150;
    let nodes = (0..EACH).map(|place| {
        let (taste, age, price) = (place % 5, 20 + place % 40, place % 9);
        format!("u{place},user,t{taste},,{age}\ni{place},item,t{taste},{price},\n")
    });
    let nodes = format!("id,node_type,taste,price,age\n{}", nodes.collect::<String>());
    let links =
        (0..EACH).flat_map(|place| [0, 35, 70, 105].map(|step| format!("u{place},i{}\n", (place + step) % EACH)));
    trained(steps, "shop", &nodes, &format!("source,target\n{}", links.collect::<String>()))
}

/// A model of papers that cite others of their topic, most of all the first of it, and like some.
fn cited_model(steps: &mut Steps) -> Result<PathBuf> {
    const PAPERS: usize = 200;
    let nodes = (0..PAPERS).map(|place| format!("p{place},t{}|u{}\n", place % 8, place % 13));
    let links = (8..PAPERS).flat_map(|place| {
        let earlier = [place % 8, place - 8, place % 8 + 8 * (place % 3)];
        let cites = earlier.map(|cited| format!("p{place},p{cited},cites\n"));
        cites.into_iter().chain([format!("p{place},p{},likes\n", (place * 7 + 3) % PAPERS)])
    });
    let nodes = format!("id,topics\n{}", nodes.collect::<String>());
    let relations = "[relations.cites]\ndirected = true\n[relations.likes]\ndirected = false\n";
    let columns = root().join("target/page/cited.toml");
    fs::write(&columns, relations)?;
    trained(steps, "cited", &nodes, &format!("source,target,relation\n{}", links.collect::<String>()))
}

/// A model of two tables, with the columns of `target/page/NAME.toml` where there is such a file.
fn trained(steps: &mut Steps, name: &str, nodes: &str, edges: &str) -> Result<PathBuf> {
    let page = root().join("target/page");
    let (folder, columns) = (page.join(name), page.join(format!("{name}.toml")));
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("nodes.csv"), nodes)?;
    fs::write(folder.join("edges.csv"), edges)?;
    let model = folder.join(format!("{name}.model"));
    let mut train = binary();
    train.args(["train", "--quiet", "--preset", "default", "--set", "steps=200"]).arg(&folder).arg("-o").arg(&model);
    if columns.is_file() {
        train.arg("--columns").arg(columns);
    }
    steps.run(&format!("{name} model"), train)?;
    Ok(model)
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
