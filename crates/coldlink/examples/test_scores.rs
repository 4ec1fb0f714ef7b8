//! The score of every test pair, to the bit: `cargo run --release -p coldlink --example test_scores -- GRAPH PRESET SEED`.
//!
//! Splits by `deal2020`, trains as `coldlink evaluate --protocol deal2020 --preset PRESET --first-seed SEED` does, and prints a line
//! for each test pair, in the split's order: source, target, 1 or 0 for linked, the bits of the score in hexadecimal. A line on
//! standard error has steps, AUC and AP in full digits, to be held against `coldlink evaluate --json`.

use std::io::{BufWriter, Write};

use coldlink::config::Preset;
use coldlink::load::{LoadOptions, load};
use coldlink::pipeline::{Evaluation, Settings};
use coldlink::split::{Protocol, Split};
use coldlink::train::Silent;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [graph, preset, seed] = &words[..] else {
        return Err("usage: test_scores GRAPH default|paper|authors-code SEED".into());
    };
    let seed: u64 = seed.parse()?;
    let dataset = load(graph.as_ref(), &LoadOptions::default())?;
    let config = Preset::find(preset)?.config();
    let split = Split::make(&dataset, &Protocol::Deal2020, Some(config.validation), seed)?;
    let settings = Settings::given(config);
    let evaluation = Evaluation { first_seed: seed, ..Evaluation::new(&dataset, &Protocol::Deal2020, &settings) };
    let evaluated = evaluation.run(&mut Silent)?;
    let result = &evaluated.record.report.seeds[0];
    let pairs = split.test().pairs();
    assert_eq!(pairs.len(), result.scores.len(), "a score for each test pair");
    let mut out = BufWriter::new(std::io::stdout().lock());
    for (pair, score) in pairs.iter().zip(&result.scores) {
        writeln!(out, "{} {} {} {:08x}", pair.source, pair.target, u8::from(pair.linked), score.to_bits())?;
    }
    out.flush()?;
    let (run, pooled) = (&result.run, &result.metrics.pooled);
    eprintln!("steps {} auc {:?} ap {:?} train_seconds {:.2}", run.steps, pooled.auc, pooled.ap, run.train_seconds);
    Ok(())
}
