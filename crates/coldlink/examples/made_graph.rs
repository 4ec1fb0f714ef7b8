//! A made graph of any size, and the best that can be said of it.
//!
//!     cargo run --release -p coldlink --example made_graph -- NODES FILE     # writes the packed graph
//!     cargo run --release -p coldlink --example made_graph -- NODES          # what knows how it was made scores, as JSON
//!
//! The second measures on the test set that `coldlink evaluate --protocol strict` has with seed 0.

use std::path::Path;

use coldlink::evaluate::{Questions, Test};
use coldlink::graph::NodeId;
use coldlink::load::write_packed;
use coldlink::score::Scorer;
use coldlink::split::{Protocol, Split};
use coldlink::synthetic::{Oracle, World};
use rayon::prelude::*;

/// Scores by the expected number of links.
struct ByOracle<'a> {
    oracle: Oracle<'a>,
    words: &'a coldlink::graph::Attributes,
    is_new: &'a (dyn Fn(NodeId) -> bool + Sync),
}

impl Scorer for ByOracle<'_> {
    fn scores(&self, pairs: &[(NodeId, NodeId)]) -> Vec<f32> {
        let score = |&(a, b): &(NodeId, NodeId)| {
            let topics = |node: NodeId| self.oracle.topics(self.words.row(node).0);
            match ((self.is_new)(a), (self.is_new)(b)) {
                (true, true) => self.oracle.links_of_new(&topics(a), &topics(b)) as f32,
                (true, false) => self.oracle.links(&topics(a), b) as f32,
                _ => self.oracle.links(&topics(b), a) as f32,
            }
        };
        pairs.par_iter().map(score).collect()
    }

    fn scores_against(&self, source: NodeId, candidates: &[NodeId], out: &mut [f32]) {
        let topics = self.oracle.topics(self.words.row(source).0);
        out.iter_mut().zip(candidates).for_each(|(out, &node)| *out = self.oracle.links(&topics, node) as f32);
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let nodes: u32 = arguments.next().and_then(|nodes| nodes.parse().ok()).expect("a number of nodes");
    let world = World::scaled(nodes, 1);
    let dataset = world.dataset();
    if let Some(path) = arguments.next() {
        write_packed(&dataset, Path::new(&path)).expect("room for a file");
        return;
    }
    let split = Split::make(&dataset, &Protocol::Strict, None, 0).expect("a graph with links");
    let view = split.final_view();
    let questions = Questions::of(split.test(), &view, 0);
    let (pairs, queries) = (&questions.pairs, &questions.queries);
    let test = Test { pairs, queries, view, rank_baselines: false, seed: 0, given: None };
    let is_new = |node: NodeId| !view.is_warm(node);
    let scorer = ByOracle { oracle: Oracle::of(&world), words: &dataset.attributes, is_new: &is_new };
    let metrics = test.measure(&scorer).expect("numbers").metrics;
    println!("{}", serde_json::to_string(&metrics).expect("plain numbers"));
}
