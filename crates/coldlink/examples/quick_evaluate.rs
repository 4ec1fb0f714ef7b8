//! Quality of settings on one graph, for tuning by hand.
use coldlink::Config;
use coldlink::evaluate::{Evaluation, evaluate_seed};
use coldlink::load::{LoadOptions, load};
use coldlink::split::Protocol;
use coldlink::train::Silent;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let dataset = load(words[0].as_ref(), &LoadOptions::default()).unwrap();
    let protocol = match words[1].as_str() {
        "deal2020" => Protocol::Deal2020,
        "strict" => Protocol::Strict,
        "transductive" => Protocol::Transductive,
        path => Protocol::Files(path.into()),
    };
    let seeds: u64 = words[2].parse().unwrap();
    let preset = coldlink::config::Preset::find(&words[3]).unwrap().config();
    let config = words[4..].iter().fold(preset, |config, setting| config.set(setting).unwrap());
    let _: &Config = &config;
    let evaluation = Evaluation { protocol, config, rank_baselines: false };
    let (mut auc, mut ap) = (0.0, 0.0);
    for seed in 0..seeds {
        let (result, audit) = evaluate_seed(&dataset, &evaluation, seed, &mut Silent).unwrap();
        let m = result.metrics;
        auc += m.pooled.auc.unwrap() / seeds as f64;
        ap += m.pooled.ap.unwrap() / seeds as f64;
        println!(
            "{} {:.4}/{:.4} mrr {:.3} h10 {:.3} no {:.3} nn {:.3} steps {} {:.1}s tfidf {:.3}/{:.3} {audit}",
            seed,
            m.pooled.auc.unwrap(),
            m.pooled.ap.unwrap(),
            m.mrr.unwrap_or(0.0),
            m.hits.at_10.unwrap_or(0.0),
            m.new_old.and_then(|m| m.auc).unwrap_or(0.0),
            m.new_new.and_then(|m| m.auc).unwrap_or(0.0),
            result.run.steps,
            result.run.train_seconds,
            result.baselines.tfidf.measures.auc.unwrap(),
            result.baselines.tfidf.measures.ap.unwrap(),
        );
    }
    println!("mean {auc:.4}/{ap:.4}");
}
