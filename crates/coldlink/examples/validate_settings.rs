//! Settings compared on validation nodes; the test set is never scored. One line of settings per line of input:
//!
//!     printf 'width=64\nwidth=256 gamma1=4.0\n' | cargo run --release -p coldlink --example validate_settings -- cora.npz 2
//!
//! trains each on the search stage of `deal2020` for as many seeds as asked and prints AUC/AP@step at the best validation, for
//! several weights λ of z_a·z_a against z_s·z_a.

use std::process::ExitCode;
use std::time::Instant;

use coldlink::config::Preset;
use coldlink::evaluate::Measures;
use coldlink::graph::{Dataset, NodeId};
use coldlink::load::{LoadOptions, load};
use coldlink::model::{Embeddings, Features};
use coldlink::split::{Protocol, Split, Validation};
use coldlink::train::Trainer;
use coldlink::{Config, Error};

/// Shares of z_a·z_a in the score.
const SHARES: [f32; 5] = [1.0, 0.85, 0.5, 0.25, 0.0];

#[derive(Clone, Copy, Default)]
struct Best {
    auc: f64,
    ap: f64,
    step: f64,
}

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
    let mut words = std::env::args().skip(1);
    let graph = words.next().ok_or("usage: validate_settings GRAPH [SEEDS] < settings")?;
    let seeds: u64 = words.next().map_or(Ok(1), |text| text.parse()).map_err(|error| format!("SEEDS: {error}"))?;
    let dataset = load(graph.as_ref(), &LoadOptions::default()).map_err(|error| error.to_string())?;
    for line in std::io::stdin().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let settings =
            line.split_whitespace().try_fold(Preset::Default.config(), |config, setting| config.set(setting));
        let config = settings.map_err(|error| error.to_string())?;
        let started = Instant::now();
        let mut mean = [Best::default(); SHARES.len()];
        for seed in 0..seeds {
            let best = best_validations(&dataset, &config, seed).map_err(|error| error.to_string())?;
            for (mean, best) in mean.iter_mut().zip(best) {
                mean.auc += best.auc / seeds as f64;
                mean.ap += best.ap / seeds as f64;
                mean.step += best.step / seeds as f64;
            }
        }
        let cells = SHARES.iter().zip(mean);
        let cells = cells.map(|(share, best)| format!("z_a {share}: {:.4}/{:.4}@{:.0}", best.auc, best.ap, best.step));
        println!("{:6.1} s | {} | {line}", started.elapsed().as_secs_f64(), cells.collect::<Vec<_>>().join(" "));
    }
    Ok(())
}

/// The best validation for each of the shares, over one training run.
fn best_validations(dataset: &Dataset, config: &Config, seed: u64) -> Result<[Best; SHARES.len()], Error> {
    let split = Split::make(dataset, &Protocol::Deal2020, Some(Validation::Nodes), seed)?;
    let view = split.search(&dataset.attributes);
    let features = Features::new(&dataset.attributes, config.scaling);
    let mut trainer = Trainer::new(view, &features, config, seed).map_err(coldlink::train::TrainError::from)?;
    let pairs = split.validation();
    let linked: Vec<bool> = pairs.iter().map(|pair| pair.linked).collect();
    let mut nodes: Vec<NodeId> = pairs.iter().flat_map(|pair| [pair.source, pair.target]).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let place = |node: NodeId| nodes.partition_point(|&other| other < node) as u32;
    let places: Vec<_> = pairs.iter().map(|pair| (place(pair.source), place(pair.target))).collect();
    let mut best = [Best::default(); SHARES.len()];
    while trainer.step() < config.steps {
        trainer.advance_to((trainer.step() + config.validate_every).min(config.steps));
        let embeddings = Embeddings::of(trainer.model(), &features, &nodes, |node| view.is_seen(node));
        for (share, best) in SHARES.iter().zip(&mut best) {
            let mut scores = vec![0.0; pairs.len()];
            embeddings.score([0.0, *share, 1.0 - share], &places, &mut scores);
            let measures = Measures::of(&scores, &linked)?;
            let (auc, ap) = (measures.auc.unwrap_or(0.5), measures.ap.unwrap_or(0.5));
            if auc + ap > best.auc + best.ap {
                *best = Best { auc, ap, step: trainer.step() as f64 };
            }
        }
        let latest = best.iter().map(|best| best.step as u64).max().unwrap_or(0);
        let patience = u64::from(config.patience) * config.validate_every;
        if patience > 0 && trainer.step() > latest + patience {
            break;
        }
    }
    Ok(best)
}
