//! A server to be tried: the program as users run it, on a model that is made when it is not there yet.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::steps::{Steps, cargo, root};

/// Time for a server to start.
const PATIENCE: Duration = Duration::from_secs(30);

/// Builds the program.
pub fn build(steps: &mut Steps) -> Result<()> {
    steps.run("build", cargo(["build", "--release", "--package", "coldlink-cli"]))
}

/// The program.
pub fn binary() -> Command {
    let mut command = Command::new(root().join("target/release/coldlink"));
    command.current_dir(root());
    command
}

/// The demo's model.
pub fn demo_model(steps: &mut Steps) -> Result<PathBuf> {
    let model = root().join("target/served-demo/papers.model");
    if !model.exists() {
        let mut demo = binary();
        demo.args(["demo", "--quiet", "-o", "target/served-demo"]).stdout(Stdio::null());
        steps.run("demo model", demo)?;
    }
    Ok(model)
}

/// A running server; it ends with this.
pub struct Serving {
    child: Child,
    /// `127.0.0.1:PORT`.
    pub address: String,
}

impl Serving {
    /// Serves a copy of a model, and of its index where it has one, which requests may change, with its log beside it.
    pub fn start(model: &Path, name: &str, arguments: &[&str]) -> Result<Self> {
        let folder = root().join("target/served");
        fs::create_dir_all(&folder)?;
        let copy = folder.join(name);
        fs::copy(model, &copy)?;
        let index = |path: &Path| path.with_added_extension("index");
        if index(model).exists() {
            fs::copy(index(model), index(&copy))?;
        }
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let log = fs::File::create(folder.join(format!("{name}.log")))?;
        let mut command = binary();
        command.arg("serve").arg(&copy).args(["--port", &port.to_string(), "--log", "json"]).args(arguments);
        let child = command.stderr(log).spawn().context("cannot start the server")?;
        let serving = Serving { child, address: format!("127.0.0.1:{port}") };
        let started = Instant::now();
        while TcpStream::connect(&serving.address).is_err() {
            if started.elapsed() > PATIENCE {
                bail!("the server does not start; its log is target/served/{name}.log");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(serving)
    }

    /// Where it answers.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Its process.
    pub fn process(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
