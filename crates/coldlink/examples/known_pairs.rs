//! Probabilities of pairs of two known nodes against links that training did not see:
//!
//!     cargo run --release -p coldlink --example known_pairs -- cora.npz 2 [SETTING=VALUE ...]
//!
//! holds every twentieth link back, trains on the others with the preset `default` for as many seeds as asked, and prints the mean
//! probability of these links and of as many pairs without a link, by tenths of the probability, and the AUC. For graphs without
//! directions and node types.

use std::process::ExitCode;

use coldlink::graph::{Graph, NodeId};
use coldlink::load::{LoadOptions, load};
use coldlink::{Dataset, PairQuery, Settings, Silent, Told, Training, auc};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [graph, seeds, settings @ ..] = &words[..] else {
        eprintln!("usage: known_pairs GRAPH SEEDS [SETTING=VALUE ...]");
        return ExitCode::from(2);
    };
    let whole = load(graph.as_ref(), &LoadOptions { directed: Some(false), ..LoadOptions::default() });
    let whole = whole.expect("a graph that can be read");
    for seed in 0..seeds.parse().expect("a number of seeds") {
        measure(&whole, settings, seed);
    }
    ExitCode::SUCCESS
}

fn measure(whole: &Dataset, settings: &[String], seed: u64) {
    let (mut kept, mut held) = (Vec::new(), Vec::new());
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    for link in whole.graph.iter_links() {
        if random.random_bool(0.05) { held.push(link) } else { kept.push(link) }
    }
    let nodes = whole.graph.nodes();
    let dataset = Dataset { graph: Graph::from_links(nodes, kept), ..whole.clone() };
    let base = Settings::of_preset("default", 0.0).expect("a preset");
    let settings = settings.iter().fold(base, |settings, setting| settings.set(setting).expect("a setting"));
    let model = Training::new(&dataset, &settings, seed).run(&mut Silent).expect("a graph to train on");
    let known = |node: NodeId| dataset.graph.degree(node) > 0;
    let mut pairs: Vec<(NodeId, NodeId)> = held.into_iter().filter(|&(a, b)| known(a) && known(b)).collect();
    let linked = pairs.len();
    while pairs.len() < 2 * linked {
        let (a, b) = (random.random_range(0..nodes) as NodeId, random.random_range(0..nodes) as NodeId);
        if a != b && known(a) && known(b) && !whole.graph.has_link(a, b) {
            pairs.push((a, b));
        }
    }
    let name = |node: NodeId| whole.names.get(node).into_owned();
    let query =
        |&(a, b): &(NodeId, NodeId)| PairQuery { source: name(a), target: name(b), known: Some(true), relation: None };
    let queries: Vec<PairQuery> = pairs.iter().map(query).collect();
    let asked = model.ask_known(&[]).expect("a model with links");
    let scored = model.scored_pairs(&asked, &queries, Told::at(0.5)).expect("known nodes");
    let mean = scored.iter().filter_map(|link| link.probability).sum::<f64>() / scored.len() as f64;
    let of_linked: Vec<bool> = (0..scored.len()).map(|place| place < linked).collect();
    let scores: Vec<f32> = scored.iter().map(|link| link.score).collect();
    let auc = auc(&scores, &of_linked).ok().flatten().unwrap_or(f64::NAN);
    let fitted = model.weights().map_or(0, |weights| weights.warm_warm.pairs);
    println!(
        "seed {seed}: predicted {mean:.3}, observed 0.500, AUC {auc:.4}, {} pairs, weights of {fitted}",
        scored.len()
    );
    let mut tenths = [[0.0_f64; 3]; 10];
    for (link, linked) in scored.iter().zip(of_linked) {
        let probability = link.probability.unwrap_or_default();
        let tenth = &mut tenths[((probability * 10.0) as usize).min(9)];
        *tenth = [tenth[0] + 1.0, tenth[1] + probability, tenth[2] + f64::from(u8::from(linked))];
    }
    let rows = tenths.iter().filter(|tenth| tenth[0] > 0.0);
    let rows: Vec<String> =
        rows.map(|tenth| format!("{:.2}→{:.2} ({})", tenth[1] / tenth[0], tenth[2] / tenth[0], tenth[0])).collect();
    println!("  {}", rows.join("  "));
}
