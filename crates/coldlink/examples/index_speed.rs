//! The links of one new node at a time on a graph of 100,000 nodes: by scoring all nodes, and through the index.
//!
//!     cargo run --release -p coldlink --example index_speed -- [NODES] [STEPS] [COMPARED] [SEED]
//!
//! Generates a graph with topics, hubs and words, trains on it for a few steps with the default preset, builds the index, and
//! prints milliseconds and what the index finds of what scoring all nodes finds, for nodes that were never in the graph. Model and
//! index stay in `target/` for the next time.

use std::path::{Path, PathBuf};
use std::time::Instant;

use coldlink::Config;
use coldlink::config::Term;
use coldlink::dataset::Dataset;
use coldlink::graph::{Attributes, NodeId};
use coldlink::index::{AboutIndex, Hit, LinkIndex};
use coldlink::model::{Model, Plan};
use coldlink::pipeline::{Settings, Training};
use coldlink::synthetic::World;
use coldlink::train::Silent;

const NEW: u32 = 1_000;

/// Topics of very different sizes, with frequent and rare words, and hubs.
fn world(nodes: u32, seed: u64) -> World {
    World {
        nodes,
        topics: (nodes / 100).max(1),
        links_per_node: 6.0,
        links_within: 0.75,
        vocabulary: 20_000,
        words_of_topic: 150,
        words_per_node: 40,
        words_within: 0.5,
        skew: 2.0,
        seed,
        ..World::default()
    }
}

fn train(dataset: &Dataset, steps: u32, seed: u64) -> Model {
    let config = Config::default().set(&format!("steps={steps}")).expect("a known setting");
    Training::new(dataset, &Settings::given(config), seed).run(&mut Silent).expect("there are links")
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|number| number.parse().expect("numbers"));
    let (nodes, steps) = (arguments.next().unwrap_or(100_000_u32), arguments.next().unwrap_or(300));
    let compared = arguments.next().unwrap_or(200) as usize;
    let seed = u64::from(arguments.next().unwrap_or(1));
    let world = world(nodes, seed);
    let (dataset, new) = (world.dataset(), world.new_nodes(NEW));
    let (topics, links, words) = (world.topics, dataset.graph.links(), dataset.attributes.entries());
    println!("{nodes} nodes in {topics} topics, {links} links, {:.1} words a node", words as f64 / f64::from(nodes));
    let path = PathBuf::from(format!("target/index-speed-{nodes}-{steps}-{seed}.model"));
    if !path.exists() {
        let started = Instant::now();
        let model = train(&dataset, steps, seed);
        println!("trained for {} steps in {:.0} s", model.summary().steps, started.elapsed().as_secs_f64());
        model.save(&path).expect("room for a file");
    }
    let model = Model::open(&path).expect("just written");
    println!(
        "{}",
        model.summary().validation.map_or_else(String::new, |v| format!("validation AUC {:.3}, AP {:.3}", v.auc, v.ap))
    );
    let weights = model.weights().map(|weights| weights.cold_warm.terms).unwrap_or_default();
    let weights: Vec<String> =
        Term::ALL.iter().zip(weights).map(|(term, weight)| format!("{} {weight:.2}", term.name())).collect();
    println!("weights: {}", weights.join(", "));

    // What a server does: one new node at a time, on one thread.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    let all = |model: &Model, rows: usize| pool.install(|| ask(model, &new, rows));
    let (exact, times) = all(&model, compared);
    println!("every node scored: {times}");

    let beside = LinkIndex::path_of(&path);
    let megabytes = |path: &Path| std::fs::metadata(path).map_or(f64::NAN, |about| about.len() as f64 / 1e6);
    if !beside.exists() {
        let started = Instant::now();
        let index = model.build_index();
        let (seconds, threads) = (started.elapsed().as_secs_f64(), rayon::current_num_threads());
        println!("index built and measured in {seconds:.1} s on {threads} threads");
        index.save(&beside).expect("room for a file");
    }
    let started = Instant::now();
    let (indexed, problem) = Model::open_indexed(&path).expect("just written");
    assert!(problem.is_none(), "{problem:?}");
    println!("opened with its index in {:.0} ms", 1e3 * started.elapsed().as_secs_f64());
    println!("model {:.0} MB, index {:.0} MB", megabytes(&path), megabytes(&beside));
    let AboutIndex { recall, score_difference, sample, effort, .. } = indexed.index().expect("just written");
    let score_difference = score_difference.expect("just measured");
    println!("recall@10 {recall:.4} on {sample} nodes held as if new, scores off by {score_difference:.4}, {effort:?}");
    let (found, times) = all(&indexed, NEW as usize);
    println!("through the index: {times}");
    let both = |(exact, found): (&Vec<Hit>, &Vec<Hit>)| {
        exact.iter().filter(|hit| found.iter().any(|found| found.node == hit.node)).count()
    };
    let shared: usize = exact.iter().zip(&found).map(both).sum();
    println!("recall@10 {:.4} on {compared} new nodes", shared as f64 / (10 * compared) as f64);
    let off = exact.iter().zip(&found).flat_map(|(exact, found)| {
        let same = |hit: &Hit| Some((found.iter().find(|found| found.node == hit.node)?.score - hit.score).abs());
        exact.iter().filter_map(same).collect::<Vec<_>>()
    });
    let off: Vec<f32> = off.collect();
    let (mean, most) = (off.iter().sum::<f32>() / off.len() as f32, off.iter().copied().fold(0.0, f32::max));
    println!("scores off by {mean:.4} on average, {most:.4} at most");
}

/// The best links of some new nodes, one after the other, and how long they take.
fn ask(model: &Model, new: &Attributes, rows: usize) -> (Vec<Vec<Hit>>, String) {
    let rows: Vec<Attributes> = (0..rows).map(|row| new.select(&[row as NodeId])).collect();
    let best = |row: &Attributes| model.best_links(&model.encode(row), 0..1, Plan::best(10)).remove(0);
    best(&rows[0]);
    let (busy, mut times) = (thread_milliseconds(), Vec::new());
    let found = rows.iter().map(|row| {
        let started = Instant::now();
        let hits = best(row);
        times.push(1e3 * started.elapsed().as_secs_f64());
        hits
    });
    let found = found.collect();
    let busy = (thread_milliseconds() - busy) / rows.len() as f64;
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let (median, most, count) = (at(0.5), at(0.99), rows.len());
    (
        found,
        format!(
            "{busy:.2} ms of a processor each; by the clock median {median:.2} ms, 99 in 100 under {most:.2} ms ({count} new nodes)"
        ),
    )
}

/// What this thread has had of a processor, so that other programs do not count.
fn thread_milliseconds() -> f64 {
    std::thread::yield_now();
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    times.split(' ').next().and_then(|nanoseconds| nanoseconds.parse::<f64>().ok()).expect("a number") / 1e6
}
