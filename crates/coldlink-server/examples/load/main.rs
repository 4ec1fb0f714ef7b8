//! Asks a running server, many times: as fast as it must be, and as badly as it can be.
//!
//!     cargo xtask load
//!
//! does all of it. By hand: `load graph FOLDER NODES` writes a graph to train on, `load steady ADDRESS RATE SECONDS` asks for links at a
//! steady rate, and `load hostile ADDRESS COUNT PID` sends what no client should, with the memory of the process beside.

mod client;
mod graph;
mod hostile;
mod steady;

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse::<u32>().map_err(|_| format!("`{text}` is no whole number"));
    let done = match words[..] {
        ["graph", folder, nodes] => match number(nodes) {
            Ok(nodes) => graph::world(nodes).write_tables(folder.as_ref()).map_err(|error| error.to_string()),
            Err(error) => Err(error),
        },
        ["steady", address, rate, seconds] => match (number(rate), number(seconds)) {
            (Ok(rate), Ok(seconds)) => steady::run(address, rate, seconds).await,
            (Err(error), _) | (_, Err(error)) => Err(error),
        },
        ["hostile", address, count, process] => match (number(count), number(process)) {
            (Ok(count), Ok(process)) => hostile::run(address, count, process).await,
            (Err(error), _) | (_, Err(error)) => Err(error),
        },
        _ => Err("usage: load graph FOLDER NODES | steady ADDRESS RATE SECONDS | hostile ADDRESS COUNT PID".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
