//! Processes that are killed at any moment. Whatever they were writing is as it was before, or whole; what they acknowledged is
//! there; what can go on goes on to the same bits.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::Row;
use crate::load::{load, number, output};
use crate::served::binary;
use crate::steps::root;

const NODES: &str = "2000";
const QUICK: [&str; 5] = ["width=16", "steps=300", "validate_every=50", "batch=128", "patience=0"];
/// The longest a command may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The commands that write.
const COMMANDS: [&str; 7] = ["train", "tune", "add", "convert", "index", "embed", "serve"];

/// Kills until as many processes were killed or the time is over. It goes on where the last run stopped.
pub fn kill(count: usize, end: Instant, results: &Path, rows: &mut Vec<Row>) -> Result<()> {
    let place = Place { folder: root().join("target/attack") };
    let journal = place.at("kills.tsv");
    let mut lines = fs::read_to_string(&journal).unwrap_or_default();
    let of = |lines: &str, outcome: &str| lines.lines().filter(|line| line.split('\t').nth(2) == Some(outcome)).count();
    if of(&lines, "killed") >= count || !place.at("done").exists() {
        place.prepare()?;
        lines.clear();
    }
    let mut times = BTreeMap::new();
    while of(&lines, "killed") < count && Instant::now() < end {
        let number = lines.lines().count();
        let command = COMMANDS[number % COMMANDS.len()];
        let mut random = Random(number as u64);
        let outcome = place
            .kill(command, number, &mut random, &mut times)
            .with_context(|| format!("kill {number}: {command}"))?;
        lines += &format!("{number}\t{command}\t{outcome}\n");
        fs::write(&journal, &lines)?;
    }
    fs::write(results.join("kills.tsv"), &lines)?;
    rows.push(Row::told(format!("kills spread over {}", COMMANDS.join(", ")), of(&lines, "killed")));
    rows.push(Row::told("of such processes done before the kill", of(&lines, "finished")));
    let faults: Vec<&str> = lines.lines().filter(|line| line.contains("fault:")).collect();
    faults.iter().for_each(|line| println!("{line}"));
    rows.push(Row::none("files that were not whole, other bits after going on, or nodes lost", faults.len() as f64));
    Ok(())
}

/// Numbers of chance (SplitMix64).
struct Random(u64);

impl Random {
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as f64 / u64::MAX as f64
    }
}

/// The folder that all happens in.
struct Place {
    folder: PathBuf,
}

impl Place {
    fn at(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = binary();
        command.current_dir(&self.folder).args(words).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn checked(&self, words: &[&str]) -> Result<()> {
        let status = self.command(words).status()?;
        ensure!(status.success(), "`coldlink {}` failed ({status})", words.join(" "));
        Ok(())
    }

    /// The graph, a model of it, and what every command writes when nobody disturbs it.
    fn prepare(&self) -> Result<()> {
        let _ = fs::remove_dir_all(&self.folder);
        fs::create_dir_all(&self.folder)?;
        output(load().arg("graph").arg(self.at("graph")).arg(NODES))?;
        for command in COMMANDS {
            match command {
                "train" => self.checked(&words(&train(false)))?,
                "index" | "embed" => {
                    fs::copy(self.at("train.whole"), self.at(&format!("{command}.model")))?;
                    self.checked(&words(line(command)))?;
                }
                "add" | "serve" => {
                    fs::copy(self.at("train.whole"), self.at(&format!("{command}.model")))?;
                    fs::write(self.at(&format!("{command}.names")), "")?;
                    continue;
                }
                _ => self.checked(&words(line(command)))?,
            }
            fs::rename(self.at(written(command)), self.at(&format!("{command}.whole")))?;
        }
        fs::write(self.at("done"), "")?;
        Ok(())
    }

    /// Starts a command, kills it, and looks at what it leaves.
    fn kill(
        &self,
        command: &'static str,
        number: usize,
        random: &mut Random,
        times: &mut BTreeMap<&str, Duration>,
    ) -> Result<String> {
        if command == "serve" {
            return self.kill_server(number, random);
        }
        let words_of = match command {
            "train" => train(self.at("kept/training.checkpoint").exists()),
            "add" => {
                fs::write(self.at("add.csv"), format!("id,words\nadded {number},w1|w2\n"))?;
                line(command).to_owned()
            }
            _ => line(command).to_owned(),
        };
        let longest = times.get(command).copied().unwrap_or(Duration::from_millis(400));
        let started = Instant::now();
        let mut child = self.command(&words(&words_of)).spawn()?;
        std::thread::sleep(longest.mul_f64(1.1 * random.share()));
        let finished = ended(&mut child)?;
        if finished {
            times.insert(command, started.elapsed());
        } else {
            // Where it was never done yet, it gets more time.
            times.entry(command).and_modify(|time| *time = time.mul_f64(1.02)).or_insert(longest.mul_f64(1.3));
        }
        match self.fault(command, number, finished)? {
            Some(fault) => Ok(format!("fault: {fault}")),
            None if finished => Ok("finished".to_owned()),
            None => Ok("killed".to_owned()),
        }
    }

    /// What is wrong with what a command has left.
    fn fault(&self, command: &str, number: usize, finished: bool) -> Result<Option<String>> {
        if command == "add" {
            if finished {
                acknowledge(&self.at("add.names"), &format!("added {number}"))?;
            }
            return self.missing("add");
        }
        let output = self.at(written(command));
        let Ok(found) = fs::read(&output) else {
            return Ok(finished.then(|| "it is done and has written nothing".to_owned()));
        };
        let is_whole = found == fs::read(self.at(&format!("{command}.whole")))?;
        fs::remove_file(&output)?;
        for folder in [self.at("kept"), self.at("tune.toml.trials")] {
            if folder.exists() && matches!(command, "train" | "tune") {
                fs::remove_dir_all(folder)?;
            }
        }
        Ok((!is_whole).then(|| "what it wrote is not what it writes undisturbed".to_owned()))
    }

    /// Adds nodes over HTTP until the server is killed.
    fn kill_server(&self, number: usize, random: &mut Random) -> Result<String> {
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let words_of = format!("serve serve.model --port {port} --quiet");
        let mut child = self.command(&words(&words_of)).spawn()?;
        let address = format!("127.0.0.1:{port}");
        let started = Instant::now();
        while TcpStream::connect(&address).is_err() {
            ensure!(started.elapsed() < PATIENCE, "the server does not start");
            std::thread::sleep(Duration::from_millis(5));
        }
        let names = self.at("serve.names");
        let adding = std::thread::spawn(move || -> Result<()> {
            for added in 0.. {
                let name = format!("served {number} {added}");
                if add(&address, &name).is_none() {
                    break;
                }
                acknowledge(&names, &name)?;
            }
            Ok(())
        });
        std::thread::sleep(Duration::from_millis(300).mul_f64(random.share()));
        child.kill()?;
        child.wait()?;
        adding.join().map_err(|_| anyhow::anyhow!("the client panicked"))??;
        Ok(self.missing("serve")?.map_or("killed".to_owned(), |fault| format!("fault: {fault}")))
    }

    /// Whether acknowledged nodes are missing, or the model does not open.
    fn missing(&self, command: &str) -> Result<Option<String>> {
        let (model, names) = (self.at(&format!("{command}.model")), self.at(&format!("{command}.names")));
        match output(load().arg("holds").arg(model).arg(names)) {
            Ok(text) if number(&text, "missing")? == 0.0 => Ok(None),
            Ok(text) => Ok(Some(format!("nodes {}", text.trim()))),
            Err(error) => Ok(Some(error.to_string().replace(['\n', '\t'], " "))),
        }
    }
}

/// Kills a process that is not done; whether it was.
fn ended(child: &mut Child) -> Result<bool> {
    if let Some(status) = child.try_wait()? {
        if !status.success() {
            bail!("it failed by itself ({status})");
        }
        return Ok(true);
    }
    child.kill()?;
    // It may have been done in between.
    Ok(child.wait()?.success())
}

fn acknowledge(names: &Path, name: &str) -> Result<()> {
    Ok(writeln!(fs::OpenOptions::new().append(true).open(names)?, "{name}")?)
}

/// Adds a node; none where the server has gone.
fn add(address: &str, name: &str) -> Option<()> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    let body = format!("{{\"nodes\": [{{\"id\": \"{name}\", \"words\": [\"w1\"]}}]}}");
    let head = "POST /v1/nodes HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length:";
    stream.write_all(format!("{head} {}\r\n\r\n{body}", body.len()).as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    answer.starts_with("HTTP/1.1 201").then_some(())
}

fn train(resume: bool) -> String {
    let settings: String = QUICK.iter().map(|setting| format!(" --set {setting}")).collect();
    let resume = if resume { " --resume" } else { "" };
    format!("train graph -o train.model --preset default{settings} --checkpoint kept --every 20 --quiet{resume}")
}

fn line(command: &str) -> &'static str {
    match command {
        "tune" => {
            "tune graph -o tune.toml --trials 3 --preset default --set width=8 --set steps=60 --set validate_every=20 --quiet"
        }
        "add" => "add add.model --new add.csv --quiet",
        "convert" => "convert graph -o convert.coldlink --quiet",
        "index" => "index index.model --quiet",
        _ => "embed embed.model -o embed.npy --quiet",
    }
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// The file that a command writes.
fn written(command: &str) -> &'static str {
    match command {
        "train" => "train.model",
        "tune" => "tune.toml",
        "convert" => "convert.coldlink",
        "index" => "index.model.index",
        _ => "embed.npy",
    }
}
