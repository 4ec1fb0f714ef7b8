//! What is done before training: `cargo run --release -p coldlink --example prepare_split -- GRAPH [SEED]`.
//!
//! Loads a graph and makes the split for training with the validation rule of the preset `default`; prints seconds and the peak
//! memory after each.

use std::time::Instant;

use coldlink::Config;
use coldlink::load::{LoadOptions, load};
use coldlink::split::Split;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let graph = words.next().ok_or("usage: prepare_split GRAPH [SEED]")?;
    let seed: u64 = words.next().map_or(Ok(0), |seed| seed.parse())?;
    let started = Instant::now();
    let dataset = load(graph.as_ref(), &LoadOptions::default())?;
    println!(
        "loaded {:.2} s, peak {} kB, now {} kB",
        started.elapsed().as_secs_f64(),
        status("VmHWM"),
        status("VmRSS")
    );
    let started = Instant::now();
    let split = Split::for_training(&dataset, Config::default().validation, seed)?;
    println!("split {:.2} s, peak {} kB, now {} kB", started.elapsed().as_secs_f64(), status("VmHWM"), status("VmRSS"));
    let (view, validation) = (split.final_view(), split.validation().len());
    println!("{} nodes, {} links, {} validation pairs", view.graph().nodes(), view.graph().links(), validation);
    Ok(())
}

fn status(name: &str) -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|line| line.split_whitespace().next()).unwrap_or("?").to_owned()
}
