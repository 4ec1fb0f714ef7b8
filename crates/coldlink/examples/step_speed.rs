//! Whether a step's cost depends on the batch alone: the same batch on 100,000 and on 1,000,000 nodes, in turn.
//!
//!     cargo run --release -p coldlink --example step_speed
//!
//! Prints milliseconds per step of both and their ratio, for the default preset and for weights by distance, and the process's
//! peak memory.

use std::time::Instant;

use coldlink::Config;
use coldlink::dataset::Dataset;
use coldlink::network::Features;
use coldlink::split::TrainView;
use coldlink::synthetic::World;
use coldlink::train::{Learner, Trainer};

const ROUNDS: usize = 7;
const STEPS_PER_ROUND: u64 = 20;

/// Topics of a hundred nodes with ten links and fifty words each.
fn world(nodes: u32) -> Dataset {
    let world = World {
        nodes,
        topics: nodes / 100,
        links_per_node: 10.0,
        vocabulary: 20_000,
        words_of_topic: 200,
        words_per_node: 50,
        ..World::default()
    };
    world.dataset()
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
fn measure(worlds: &[Dataset; 2], config: &Config) -> [f64; 2] {
    let visible = worlds.each_ref().map(|world| vec![true; world.graph.nodes()]);
    let features = worlds.each_ref().map(|world| Features::new(&world.attributes, config.scaling));
    let trainer = |index: usize| {
        let view = TrainView::whole(&worlds[index].graph, &worlds[index].attributes, &visible[index]);
        Trainer::new(view, &features[index], config, 1).expect("there are links")
    };
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
    let worlds = [100_000, 1_000_000].map(world);
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
        let config = Config::default().set_all(base.iter().chain(settings));
        let [small, large] = measure(&worlds, &config.expect("known settings"));
        let name = settings.join(" ");
        println!("{name}: {small:.3} ms and {large:.3} ms a step of 2048 pairs, ratio {:.3}", large / small);
    }
    println!("peak memory {:.0} MB, both graphs together", peak_megabytes().unwrap_or(f64::NAN));
}
