//! Validation quality of several settings on one graph (search stage only; the test set is never scored).
use coldlink::config::Preset;
use coldlink::evaluate::Measures;
use coldlink::graph::NodeId;
use coldlink::load::{LoadOptions, load};
use coldlink::model::{Embeddings, Features};
use coldlink::split::{Protocol, Split, Validation};
use coldlink::train::Trainer;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let dataset = load(words[0].as_ref(), &LoadOptions::default()).unwrap();
    let seeds: u64 = words[1].parse().unwrap();
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let config =
            line.split_whitespace().fold(Preset::Default.config(), |config, setting| config.set(setting).unwrap());
        let started = std::time::Instant::now();
        let mut all = Vec::new();
        for seed in 0..seeds {
            let split = Split::make(&dataset, &Protocol::Deal2020, Some(Validation::Nodes), seed).unwrap();
            let view = split.search(&dataset.attributes);
            let features = Features::new(&dataset.attributes, config.scaling);
            let mut trainer = Trainer::new(view, &features, &config, seed).unwrap();
            let pairs = split.validation();
            let linked: Vec<bool> = pairs.iter().map(|pair| pair.linked).collect();
            let mut nodes: Vec<NodeId> = pairs.iter().flat_map(|pair| [pair.source, pair.target]).collect();
            nodes.sort_unstable();
            nodes.dedup();
            let place = |node: NodeId| nodes.partition_point(|&other| other < node) as u32;
            let places: Vec<_> = pairs.iter().map(|pair| (place(pair.source), place(pair.target))).collect();
            let lambdas = [[0.0, 1.0, 0.0], [0.0, 0.85, 0.15], [0.0, 0.5, 0.5], [0.0, 0.25, 0.75], [0.0, 0.0, 1.0]];
            let mut best = [(0.0, 0.0, 0.0, 0); 5];
            while trainer.step() < config.steps {
                trainer.advance_to((trainer.step() + config.validate_every).min(config.steps));
                let embeddings = Embeddings::of(trainer.model(), &features, &nodes, |node| view.is_seen(node));
                for (lambda, best) in lambdas.iter().zip(&mut best) {
                    let mut scores = vec![0.0; pairs.len()];
                    embeddings.score(*lambda, &places, &mut scores);
                    let m = Measures::of(&scores, &linked).unwrap();
                    let (auc, ap) = (m.auc.unwrap(), m.ap.unwrap());
                    if auc + ap > best.0 {
                        *best = (auc + ap, auc, ap, trainer.step());
                    }
                }
                let top = best.iter().map(|b| b.3).max().unwrap();
                if config.patience > 0 && trainer.step() > top + u64::from(config.patience) * config.validate_every {
                    break;
                }
            }
            all.push(best);
        }
        let n = seeds as f64;
        let mean = |k: usize| {
            let s = all.iter().fold((0.0, 0.0, 0), |s, b| (s.0 + b[k].1 / n, s.1 + b[k].2 / n, s.2 + b[k].3 / seeds));
            format!("{:.4}/{:.4}@{}", s.0, s.1, s.2)
        };
        println!(
            "{:5.1}s a1 {} a.85 {} a.5 {} a.25 {} a0 {} | {line}",
            started.elapsed().as_secs_f64(),
            mean(0),
            mean(1),
            mean(2),
            mean(3),
            mean(4)
        );
    }
}
