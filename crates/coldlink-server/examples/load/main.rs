//! Asks a running server, many times: as fast as it must be, and as badly as it can be.
//!
//!     cargo xtask load
//!
//! and `cargo xtask attack` do all of it. By hand: `load graph FOLDER NODES` writes a graph to train on, `load steady ADDRESS RATE SECONDS` asks for links at a
//! steady rate, and `load hostile ADDRESS COUNT PID` sends what no client should, with the memory of the process beside. `load adding` adds nodes one after the other, `load
//! connections` opens connections that ask nothing, `load crowd` asks and adds with many clients at once.

mod adding;
mod client;
mod connections;
mod crowd;
mod graph;
mod hostile;
mod process;
mod steady;

use std::path::Path;
use std::process::ExitCode;

use coldlink::model::Model;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&words).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

const USAGE: &str = "usage: load graph FOLDER NODES | steady ADDRESS RATE SECONDS | adding ADDRESS SECONDS PID | hostile ADDRESS COUNT PID | \
    connections ADDRESS COUNT SECONDS PID | crowd ADDRESS CLIENTS SECONDS PID MODEL | holds MODEL NAMES";

async fn run(words: &[&str]) -> Result<(), String> {
    let number = |text: &str| text.parse::<u32>().map_err(|_| format!("`{text}` is no whole number"));
    match words[..] {
        ["graph", folder, nodes] => {
            graph::world(number(nodes)?).write_tables(folder.as_ref()).map_err(|error| error.to_string())
        }
        ["steady", address, rate, seconds] => steady::run(address, number(rate)?, number(seconds)?).await,
        ["adding", address, seconds, process] => adding::run(address, number(seconds)?, number(process)?).await,
        ["hostile", address, count, process] => hostile::run(address, number(count)?, number(process)?).await,
        ["connections", address, count, seconds, process] => {
            connections::run(address, number(count)?, number(seconds)?, number(process)?).await
        }
        ["crowd", address, clients, seconds, process, model] => {
            crowd::run(address, number(clients)?, number(seconds)?, number(process)?, model.as_ref()).await
        }
        ["holds", model, names] => holds(model.as_ref(), names.as_ref()),
        _ => Err(USAGE.to_owned()),
    }
}

/// Says how many of the nodes named in a file, one on each line, are not in a model.
fn holds(model: &Path, names: &Path) -> Result<(), String> {
    let model = Model::open(model).map_err(|error| error.to_string())?;
    let names = std::fs::read_to_string(names).map_err(|error| error.to_string())?;
    println!("missing {}", names.lines().filter(|name| model.find(name).is_none()).count());
    Ok(())
}
