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
use coldlink::dataset::{Dataset, Notes};
use coldlink::graph::{Attributes, Graph, Names, NodeId};
use coldlink::index::{AboutIndex, Hit, LinkIndex};
use coldlink::model::{Model, Plan};
use coldlink::pipeline::{Settings, Training};
use coldlink::train::Silent;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const LINKS_PER_NODE: usize = 8;
const WORDS_PER_NODE: usize = 40;
const WORDS: u32 = 20_000;
const WORDS_OF_TOPIC: u32 = 150;
const NEW: usize = 1_000;

/// Topics of very different sizes. Three links in four stay within the topic and go to its first nodes more often than to its
/// last; half of a node's words are its topic's, the others anybody's, and both have frequent and rare ones.
struct World {
    random: Xoshiro256PlusPlus,
    /// The topic of each node, and the first node and the size of each topic.
    topics: Vec<u32>,
    spans: Vec<(u32, u32)>,
}

impl World {
    fn new(nodes: u32, seed: u64) -> World {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (mut topics, mut spans) = (Vec::new(), Vec::new());
        while (topics.len() as u32) < nodes {
            let size = (30.0 / random.random::<f64>().max(0.01)) as u32;
            let size = size.min(nodes - topics.len() as u32);
            spans.push((topics.len() as u32, size));
            topics.extend(std::iter::repeat_n(spans.len() as u32 - 1, size as usize));
        }
        World { random, topics, spans }
    }

    /// A number below `end`, small ones more often.
    fn skewed(&mut self, end: u32) -> u32 {
        ((self.random.random::<f64>().powi(2) * f64::from(end)) as u32).min(end - 1)
    }

    fn graph(&mut self) -> Graph {
        let nodes = self.topics.len() as u32;
        let mut links = Vec::new();
        for source in 0..nodes {
            for _ in 0..1 + self.skewed(2 * LINKS_PER_NODE as u32) {
                let (first, size) = self.spans[self.topics[source as usize] as usize];
                let within = self.random.random_range(0..4) < 3;
                let target = if within { first + self.skewed(size) } else { self.random.random_range(0..nodes) };
                links.push((source, target));
            }
        }
        Graph::from_links(nodes as usize, links)
    }

    fn words(&mut self, topic: u32) -> Vec<(u32, f32)> {
        let home = topic.wrapping_mul(2_654_435_761) % (WORDS - WORDS_OF_TOPIC);
        let mut words: Vec<u32> = Vec::new();
        while words.len() < WORDS_PER_NODE {
            let own = self.random.random_range(0..2) == 0;
            let word = if own { home + self.skewed(WORDS_OF_TOPIC) } else { self.skewed(WORDS) };
            if !words.contains(&word) {
                words.push(word);
            }
        }
        words.sort_unstable();
        words.into_iter().map(|word| (word, 1.0)).collect()
    }

    fn attributes(&mut self, topics: &[u32]) -> Attributes {
        let rows: Vec<_> = topics.iter().map(|&topic| self.words(topic)).collect();
        Attributes::from_rows(WORDS as usize, &rows).expect("sorted and finite")
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
    let mut world = World::new(nodes, seed);
    let graph = world.graph();
    let topics = world.topics.clone();
    let attributes = world.attributes(&topics);
    let new_topics: Vec<u32> = (0..NEW).map(|_| topics[world.random.random_range(0..topics.len())]).collect();
    let new = world.attributes(&new_topics);
    let (links, names) = (graph.links(), Names::Numbered(nodes as usize));
    let dataset = Dataset { name: "generated".into(), graph, attributes, names, schema: None, notes: Notes::default() };
    println!("{nodes} nodes in {} topics, {links} links, {WORDS_PER_NODE} words a node", world.spans.len());
    let path = PathBuf::from(format!("target/index-speed-{nodes}-{steps}-{seed}.model"));
    if !path.exists() {
        let started = Instant::now();
        let model = train(&dataset, steps, seed);
        println!("trained for {} steps in {:.0} s", model.summary.steps, started.elapsed().as_secs_f64());
        model.save(&path).expect("room for a file");
    }
    let model = Model::open(&path).expect("just written");
    println!(
        "{}",
        model.summary.validation.map_or_else(String::new, |v| format!("validation AUC {:.3}, AP {:.3}", v.auc, v.ap))
    );
    let weights = model.memory.as_ref().map(|memory| memory.weights.cold_warm.terms).unwrap_or_default();
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
    let (found, times) = all(&indexed, NEW);
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
