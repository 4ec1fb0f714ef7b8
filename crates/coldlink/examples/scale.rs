//! Whether a step's cost depends on the batch alone: the same batch on 100,000 and on 1,000,000 nodes, in turn.
//!
//!     cargo run --release -p coldlink --example scale
//!
//! Prints milliseconds per step of both and their ratio, for the default preset and for weights by distance, and the process's
//! peak memory.

use std::time::Instant;

use coldlink::Config;
use coldlink::graph::{AttributeNames, Attributes, Graph, NodeId};
use coldlink::network::Features;
use coldlink::split::TrainView;
use coldlink::train::{Learner, Trainer};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const LINKS_PER_NODE: usize = 10;
const ATTRIBUTES_PER_NODE: usize = 50;
const ATTRIBUTES: u32 = 20_000;
const ROUNDS: usize = 7;
const STEPS_PER_ROUND: u64 = 20;

/// Nodes in communities of a hundred: four links in five stay within, and so do three attributes in five.
struct World {
    graph: Graph,
    attributes: Attributes,
    visible: Vec<bool>,
}

impl World {
    fn generate(nodes: u32) -> World {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(u64::from(nodes));
        let links = (0..nodes as usize * LINKS_PER_NODE).map(|link| {
            let source = (link / LINKS_PER_NODE) as NodeId;
            let near = random.random_range(0..5) < 4;
            let community = source / 100 * 100;
            (source, if near { community + random.random_range(0..100) } else { random.random_range(0..nodes) })
        });
        let graph = Graph::from_links(nodes as usize, links.collect::<Vec<_>>());
        let (mut columns, mut offsets) = (Vec::new(), vec![0]);
        for node in 0..nodes {
            let start = columns.len();
            let home = (node / 100).wrapping_mul(2_654_435_761) % (ATTRIBUTES - 200);
            while columns.len() - start < ATTRIBUTES_PER_NODE {
                let near = random.random_range(0..5) < 3;
                let column = if near { home + random.random_range(0..200) } else { random.random_range(0..ATTRIBUTES) };
                if !columns[start..].contains(&column) {
                    columns.push(column);
                }
            }
            columns[start..].sort_unstable();
            offsets.push(columns.len() as u64);
        }
        let values = vec![1.0; columns.len()];
        let names = AttributeNames::default();
        let attributes =
            Attributes::from_parts(ATTRIBUTES as usize, offsets.into(), columns.into(), values.into(), names);
        World { graph, attributes: attributes.expect("sorted and finite"), visible: vec![true; nodes as usize] }
    }

    fn view(&self) -> TrainView<'_> {
        TrainView::whole(&self.graph, &self.attributes, &self.visible)
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The most memory this process has held, in megabytes.
fn peak_megabytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kilobytes| kilobytes / 1000.0)
}

/// Milliseconds per step on each world, measured in turn.
fn measure(worlds: &[World; 2], config: &Config) -> [f64; 2] {
    let features = worlds.each_ref().map(|world| Features::new(&world.attributes, config.scaling));
    let trainer =
        |index: usize| Trainer::new(worlds[index].view(), &features[index], config, 1).expect("there are links");
    let mut trainers = [trainer(0), trainer(1)];
    let mut milliseconds = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (trainer, milliseconds) in trainers.iter_mut().zip(&mut milliseconds) {
            let until = trainer.step() + STEPS_PER_ROUND;
            let started = Instant::now();
            trainer.advance(until);
            milliseconds.push(1e3 * started.elapsed().as_secs_f64() / STEPS_PER_ROUND as f64);
        }
    }
    milliseconds.map(median)
}

fn main() {
    let worlds = [100_000, 1_000_000].map(World::generate);
    for world in &worlds {
        let (nodes, links, values) = (world.graph.nodes(), world.graph.links(), world.attributes.entries());
        println!("{nodes:>9} nodes, {links:>8} links, {values:>8} attribute values");
    }
    let base = ["width=64", "batch=2048", "steps=1000000"];
    for settings in [
        &["loss=softmax"][..],
        &["loss=pairs"],
        &["loss=pairs", "beta=1.0", "distance_bound=2"],
        &["loss=pairs", "beta=1.0", "distance_bound=3"],
    ] {
        let config = base.iter().chain(settings).try_fold(Config::default(), |config, setting| config.set(setting));
        let [small, large] = measure(&worlds, &config.expect("known settings"));
        let name = settings.join(" ");
        println!("{name}: {small:.3} ms and {large:.3} ms a step of 2048 pairs, ratio {:.3}", large / small);
    }
    println!("peak memory {:.0} MB, both graphs together", peak_megabytes().unwrap_or(f64::NAN));
}
