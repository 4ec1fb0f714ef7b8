//! Settings compared on validation nodes; the test set is never scored. One line of settings per line of input:
//!
//!     printf 'width=64\nwidth=256 gamma1=4.0\n' | cargo run --release -p coldlink --example validate_settings -- cora.npz deal2020 2
//!
//! trains each on the search stage of a protocol for as many seeds as asked, and prints the quality of the whole score on the
//! validation pairs that are chosen on, the best number of steps and the seconds of a seed.

use std::process::ExitCode;
use std::time::Instant;

use coldlink::config::Preset;
use coldlink::load::{LoadOptions, load};
use coldlink::split::{Protocol, Split};
use coldlink::train::{Fit, Silent};
use coldlink::{Config, Error};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [graph, protocol, seeds] = &words[..] else {
        return Err("usage: validate_settings GRAPH deal2020|strict|transductive SEEDS < settings".to_owned());
    };
    let protocol = match protocol.as_str() {
        "deal2020" => Protocol::Deal2020,
        "strict" => Protocol::Strict,
        "transductive" => Protocol::Transductive,
        other => return Err(format!("there is no protocol `{other}`")),
    };
    let seeds: u64 = seeds.parse().map_err(|error| format!("SEEDS: {error}"))?;
    let dataset = load(graph.as_ref(), &LoadOptions::default()).map_err(|error| error.to_string())?;
    for line in std::io::stdin().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let config = Preset::Default.config().set_all(line.split_whitespace()).map_err(|error| error.to_string())?;
        let started = Instant::now();
        let [mut auc, mut ap, mut steps] = [0.0; 3];
        for seed in 0..seeds {
            let best = try_out(&dataset, &protocol, &config, seed).map_err(|error| error.to_string())?;
            auc += best.auc / seeds as f64;
            ap += best.ap / seeds as f64;
            steps += best.step as f64 / seeds as f64;
        }
        let seconds = started.elapsed().as_secs_f64() / seeds as f64;
        println!("{auc:.4}/{ap:.4} @{steps:5.0} {seconds:6.1} s  {} | {line}", dataset.name);
    }
    Ok(())
}

fn try_out(
    dataset: &coldlink::dataset::Dataset,
    protocol: &Protocol,
    config: &Config,
    seed: u64,
) -> Result<coldlink::evaluate::Validated, Error> {
    let split = Split::make(dataset, protocol, None, seed)?;
    let config = &split.search().sized(config);
    let fit = Fit { split: &split, config, seed, checkpoints: None };
    Ok(fit.try_out(&mut Silent)?.best)
}
