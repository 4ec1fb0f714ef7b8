//! What the links of a synthetic graph carry: weights by which topics show, and times over which topics drift.

use rand::RngExt;

use super::{Part, World};
use crate::graph::{Graph, NodeId};

/// How much the logarithm of a weight is spread.
const SPREAD: f64 = 0.8;
/// Targets that are drawn for a link before it goes to any node that is there already.
const TRIES: usize = 20;

impl World {
    /// A graph in which strong links follow topics, while half of all links go anywhere and are weak.
    pub fn weighted(nodes: u32, seed: u64) -> World {
        let (topics, words_of_topic) = (nodes / 50, 30);
        let vocabulary = topics * words_of_topic;
        let world = World {
            nodes,
            topics,
            links_per_node: 8.0,
            links_within: 0.5,
            vocabulary,
            words_of_topic,
            ..World::default()
        };
        World { skew: 2.0, strength: 8.0, seed, ..world }
    }

    /// A graph in which the nodes that are popular in a topic are others from time to time.
    pub fn drifting(nodes: u32, seed: u64) -> World {
        World { nodes, topics: nodes / 100, links_per_node: 8.0, skew: 3.0, drift: 0.4, seed, ..World::default() }
    }

    /// The links with the weight and the time of each, where the world has any.
    pub(super) fn carried(&self, graph: Graph, links: &[(NodeId, NodeId)]) -> Graph {
        let carried =
            |values: Vec<f64>| links.iter().zip(values).map(|(&(a, b), value)| (a, b, value)).collect::<Vec<_>>();
        let graph = match self.times() {
            Some(times) => graph.with_times(carried(times)),
            None => graph,
        };
        match self.weights(links) {
            Some(weights) => graph.with_weights(carried(weights)),
            None => graph,
        }
    }

    /// The weights of links, lognormal around 1 or, within a topic, around the world's strength.
    pub(super) fn weights(&self, links: &[(NodeId, NodeId)]) -> Option<Vec<f64>> {
        let topics: Vec<u32> = self.topics_of_nodes().collect();
        let mut random = self.stream(Part::Weights);
        let mut weight = |&(a, b): &(NodeId, NodeId)| {
            let within = topics[a as usize] == topics[b as usize];
            let (length, angle): (f64, f64) = (1.0 - random.random::<f64>(), random.random());
            let normal = (-2.0 * length.ln()).sqrt() * (std::f64::consts::TAU * angle).cos();
            (SPREAD * normal).exp() * if within { self.strength } else { 1.0 }
        };
        (self.strength != 1.0).then(|| links.iter().map(&mut weight).collect())
    }

    /// When links appeared, from 0 to 1, in their order.
    pub(super) fn times(&self) -> Option<Vec<f64>> {
        (self.drift > 0.0).then(|| self.timed_links().into_iter().map(|link| link.2).collect())
    }

    /// Links of nodes that come one after another, each to a node that is there already. Those that are popular in a topic change:
    /// at the end they stand further down the topic's row by its share `drift`.
    pub(super) fn timed_links(&self) -> Vec<(NodeId, NodeId, f64)> {
        let random = &mut self.stream(Part::Times);
        let arrivals: Vec<f64> = (0..self.nodes).map(|_| random.random()).collect();
        let mut links = Vec::new();
        for topic in 0..self.topics {
            let (first, end) = (self.first_node(topic), self.first_node(topic + 1));
            for source in first..end {
                let arrival = arrivals[source as usize];
                for _ in 0..self.links_from_node(random) {
                    let time = arrival + (1.0 - arrival) * random.random::<f64>();
                    let moved = (self.drift * time * f64::from(end - first)) as u32;
                    let mut target = || match random.random_bool(self.links_within) {
                        true => first + (self.below(end - first, random) + moved) % (end - first),
                        false => random.random_range(0..self.nodes),
                    };
                    let is_there = |node: &NodeId| arrivals[*node as usize] <= time && *node != source;
                    let target = (0..TRIES).map(|_| target()).find(is_there);
                    links.extend(target.map(|target| (source, target, time)));
                }
            }
        }
        links
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{LoadOptions, load};

    #[test]
    fn strong_links_follow_topics() {
        let world = World::weighted(600, 1);
        let (links, topics) = (world.links(), world.topics_of_nodes().collect::<Vec<_>>());
        let weights = world.weights(&links).unwrap();
        let within = |strong: bool| {
            let chosen = links.iter().zip(&weights).filter(|(_, weight)| (**weight > 4.0) == strong);
            let (mut all, mut same) = (0.0, 0.0);
            chosen.for_each(|((a, b), _)| {
                all += 1.0;
                same += f64::from(u8::from(topics[*a as usize] == topics[*b as usize]));
            });
            same / all
        };
        assert!(within(true) > 0.85 && within(false) < 0.3, "{} {}", within(true), within(false));
        assert!(World { strength: 1.0, ..world }.graph().weights().is_none());
    }

    #[test]
    fn tables_hold_what_links_carry() {
        for world in [World::weighted(200, 1), World::drifting(300, 2)] {
            let folder = tempfile::tempdir().unwrap();
            world.write_tables(folder.path()).unwrap();
            let options = LoadOptions { directed: Some(false), ..LoadOptions::default() };
            let (loaded, made) = (load(folder.path(), &options).unwrap().graph, world.graph());
            assert!(loaded.iter_links().eq(made.iter_links()));
            assert_eq!(loaded.times(), made.times());
            let weights = [&loaded, &made].map(|graph| graph.weights().unwrap_or_default());
            assert_eq!(weights.map(<[f32]>::is_empty), [world.strength == 1.0; 2]);
            // Those of several rows of a link add up, after they were rounded in the table.
            assert!(weights[0].iter().zip(weights[1]).all(|(one, other)| (one / other - 1.0).abs() < 1e-5));
        }
    }

    #[test]
    fn nodes_have_no_links_before_they_come() {
        let graph = World::drifting(400, 3).graph();
        let old = graph.before(0.5);
        let (before, after) = (old.links() as f64, graph.links() as f64);
        assert!(before > 0.1 * after && before < 0.5 * after, "{before} of {after}");
        let unseen = (0..400).filter(|&node| old.degree(node) == 0 && graph.degree(node) > 0).count();
        assert!(unseen > 80, "{unseen} nodes come later");
    }
}
