//! Settings compared on validation nodes; the test set is never scored. One line of settings per line of input:
//!
//!     printf 'width=64\nwidth=256 gamma1=4.0\n' | cargo run --release -p coldlink --example validate_settings -- cora.npz deal2020 2
//!
//! trains each on the search stage of a protocol for as many seeds as asked, and prints the quality of the whole score on what is
//! chosen on: AUC and AP of the validation pairs, MRR and recall@10 of lists; the best number of steps and the seconds of a seed.
//! `made:weighted` and `made:drifting` are made graphs, another for each seed.

use std::process::ExitCode;
use std::time::Instant;

use coldlink::config::Preset;
use coldlink::load::{LoadOptions, load};
use coldlink::split::{Protocol, Split};
use coldlink::synthetic::World;
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
        return Err("usage: validate_settings GRAPH PROTOCOL SEEDS < settings".to_owned());
    };
    let protocol: Protocol = protocol.parse().map_err(|error: coldlink::split::SplitError| error.to_string())?;
    let seeds: u64 = seeds.parse().map_err(|error| format!("SEEDS: {error}"))?;
    let of_seed = |seed: u64| match graph.as_str() {
        "made:weighted" => Ok(World::weighted(3000, seed).dataset()),
        "made:drifting" => Ok(World::drifting(3000, seed).dataset()),
        path => load(path.as_ref(), &LoadOptions::default()).map_err(|error| error.to_string()),
    };
    let datasets = (0..if graph.starts_with("made:") { seeds } else { 1 }).map(of_seed);
    let datasets = datasets.collect::<Result<Vec<_>, String>>()?;
    for line in std::io::stdin().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let config = Preset::Default.config().set_all(line.split_whitespace()).map_err(|error| error.to_string())?;
        let started = Instant::now();
        let [mut auc, mut ap, mut steps, mut mrr, mut recall] = [0.0; 5];
        for seed in 0..seeds {
            let dataset = &datasets[seed as usize % datasets.len()];
            let best = try_out(dataset, &protocol, &config, seed).map_err(|error| error.to_string())?;
            mrr += best.lists.map_or(f64::NAN, |lists| lists.mrr) / seeds as f64;
            recall += best.lists.map_or(f64::NAN, |lists| lists.recall) / seeds as f64;
            auc += best.auc / seeds as f64;
            ap += best.ap / seeds as f64;
            steps += best.step as f64 / seeds as f64;
        }
        let seconds = started.elapsed().as_secs_f64() / seeds as f64;
        println!("{auc:.4}/{ap:.4} {mrr:.4}/{recall:.4} @{steps:5.0} {seconds:6.1} s  {graph} | {line}");
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
