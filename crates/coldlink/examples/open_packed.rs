//! Measures how long a packed file takes to open: `cargo run --release --example open_packed [NODES]`.
//!
//! The graph is random, with ten links and fifty attributes a node; it is written once and opened five times.

use std::time::Instant;

use coldlink::dataset::{Dataset, Notes};
use coldlink::graph::{AttributeNames, Attributes, Graph, Names, NodeId};
use coldlink::load::{open_packed, write_packed};
use rand::RngExt;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

const LINKS_PER_NODE: usize = 10;
const ATTRIBUTES_PER_NODE: usize = 50;
const WIDTH: u32 = 5000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let nodes = std::env::args().nth(1).map_or(Ok(1_000_000), |nodes| nodes.parse())?;
    let dataset = random_dataset(nodes)?;
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

fn random_dataset(nodes: usize) -> Result<Dataset, &'static str> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
    let mut node = || random.random_range(0..nodes as NodeId);
    let links: Vec<_> = (0..LINKS_PER_NODE * nodes).map(|_| (node(), node())).collect();
    let graph = Graph::from_links(nodes, links);
    let step = WIDTH / ATTRIBUTES_PER_NODE as u32;
    let columns: Vec<u32> = (0..nodes)
        .flat_map(|_| (0..ATTRIBUTES_PER_NODE as u32).map(|slot| slot * step))
        .map(|first| first + random.random_range(0..step))
        .collect();
    let offsets: Vec<u64> = (0..=nodes).map(|row| (row * ATTRIBUTES_PER_NODE) as u64).collect();
    let values = vec![1.0; columns.len()];
    let attribute_names = AttributeNames((0..WIDTH).map(|column| format!("words=word{column}")).collect());
    let attributes =
        Attributes::from_parts(WIDTH as usize, offsets.into(), columns.into(), values.into(), attribute_names)?;
    let names = Names::from_texts((0..nodes).map(|node| format!("paper-{node:07}")));
    Ok(Dataset { name: "random".into(), graph, attributes, names, schema: None, notes: Notes::default() })
}
