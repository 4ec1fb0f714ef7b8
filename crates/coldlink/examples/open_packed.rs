//! Measures how long a packed file takes to open: `cargo run --release --example open_packed [NODES]`.
//!
//! The graph is random, with ten links and fifty attributes a node; it is written once and opened five times.

use std::time::Instant;

use coldlink::dataset::Dataset;
use coldlink::graph::Names;
use coldlink::load::{open_packed, write_packed};
use coldlink::synthetic::World;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let nodes = std::env::args().nth(1).map_or(Ok(1_000_000), |nodes| nodes.parse())?;
    let dataset = random_dataset(nodes);
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("random.coldlink");
    let started = Instant::now();
    write_packed(&dataset, &path)?;
    let megabytes = std::fs::metadata(&path)?.len() as f64 / 1e6;
    println!("written {megabytes:.0} MB in {:.2} s", started.elapsed().as_secs_f64());
    for _ in 0..5 {
        let started = Instant::now();
        let opened = open_packed(&path)?;
        let seconds = started.elapsed().as_secs_f64();
        let (graph, attributes) = (&opened.graph, &opened.attributes);
        println!(
            "opened {} nodes, {} links, {} values in {seconds:.3} s",
            graph.nodes(),
            graph.links(),
            attributes.entries()
        );
    }
    assert!(open_packed(&path)? == dataset, "what was opened is not what was written");
    Ok(())
}

fn random_dataset(nodes: u32) -> Dataset {
    let world = World { vocabulary: 5_000, words_per_node: 50, ..World::random(nodes, 10.0, 0) };
    Dataset { names: Names::from_texts((0..nodes).map(|node| format!("paper-{node:07}"))), ..world.dataset() }
}
