//! What links carry beside their ends: a weight each, and a time each, where the input says so.
//!
//! Both stand beside the entries of the graph's array of neighbours. So a link has its weight and its time twice, the same in the
//! rows of both ends. A graph whose links carry nothing has neither array and is what it always was.

use std::ops::Range;

use rayon::prelude::*;

use super::{Graph, NodeId};
use crate::storage::Buffer;

/// The time of a link of which none is known: before all others.
pub const UNKNOWN_TIME: f64 = f64::NEG_INFINITY;

/// What links carry.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Carried {
    weights: Option<Weights>,
    times: Option<Buffer<f64>>,
}

/// Weights that are not all the same.
#[derive(Clone, Debug, PartialEq)]
struct Weights {
    of_links: Buffer<f32>,
    /// The sum for each node.
    of_nodes: Buffer<f32>,
}

impl Carried {
    /// Of the entries that are kept, which are in the graph without what they carry.
    pub fn of_some(&self, graph: &Graph, entries: impl Iterator<Item = usize> + Clone) -> Self {
        let weights = self.weights.as_ref().and_then(|weights| {
            let of_links = entries.clone().map(|entry| weights.of_links[entry]).collect();
            Weights::that_differ(graph, of_links)
        });
        let times = self.times.as_ref().and_then(|times| known(entries.map(|entry| times[entry]).collect()));
        Carried { weights, times }
    }

    /// With so many nodes more, which have no links.
    pub fn with_unlinked(&self, count: usize) -> Self {
        let longer = |weights: &Weights| {
            let of_nodes: Vec<f32> = weights.of_nodes.iter().copied().chain(vec![0.0; count]).collect();
            Weights { of_links: weights.of_links.clone(), of_nodes: of_nodes.into() }
        };
        Carried { weights: self.weights.as_ref().map(longer), times: self.times.clone() }
    }

    /// Whether nothing is carried.
    pub fn is_nothing(&self) -> bool {
        self.weights.is_none() && self.times.is_none()
    }
}

/// The times, if any of them is known.
fn known(times: Vec<f64>) -> Option<Buffer<f64>> {
    times.iter().any(|&time| time != UNKNOWN_TIME).then(|| times.into())
}

impl Weights {
    fn that_differ(graph: &Graph, of_links: Vec<f32>) -> Option<Self> {
        let differ = of_links.windows(2).any(|pair| pair[0] != pair[1]);
        differ.then(|| Weights::of(graph, of_links.into()))
    }

    fn of(graph: &Graph, of_links: Buffer<f32>) -> Self {
        let sum = |node| graph.entries(node).map(|entry| of_links[entry]).sum();
        let of_nodes: Vec<f32> = (0..graph.nodes() as NodeId).map(sum).collect();
        Weights { of_links, of_nodes: of_nodes.into() }
    }
}

impl Graph {
    /// The weights of links, beside [`Graph::neighbor_array`]; none where all are worth the same.
    pub fn weights(&self) -> Option<&[f32]> {
        self.carried.weights.as_ref().map(|weights| &*weights.of_links)
    }

    /// The times of links, beside [`Graph::neighbor_array`]; [`UNKNOWN_TIME`] where one is not known.
    pub fn times(&self) -> Option<&[f64]> {
        self.carried.times.as_deref()
    }

    /// Where a node's neighbours stand in [`Graph::neighbor_array`].
    #[inline]
    pub fn entries(&self, node: NodeId) -> Range<usize> {
        let node = node as usize;
        self.offsets()[node] as usize..self.offsets()[node + 1] as usize
    }

    /// Calls `each` with every neighbour of a node, in order, and the weight of the link: 1 where links have none.
    #[inline]
    pub fn each_neighbor(&self, node: NodeId, mut each: impl FnMut(NodeId, f32)) {
        let neighbors = self.neighbors(node);
        match &self.carried.weights {
            None => neighbors.iter().for_each(|&other| each(other, 1.0)),
            Some(weights) => {
                let of_links = &weights.of_links[self.entries(node)];
                neighbors.iter().zip(of_links).for_each(|(&other, &weight)| each(other, weight));
            }
        }
    }

    /// The sum of the weights of a node's links: their number where links have none.
    #[inline]
    pub fn strength(&self, node: NodeId) -> f32 {
        match &self.carried.weights {
            None => self.degree(node) as f32,
            Some(weights) => weights.of_nodes[node as usize],
        }
    }

    /// ln(1 + strength): what a node's links alone say for it.
    #[inline]
    pub fn popularity(&self, node: NodeId) -> f32 {
        self.strength(node).ln_1p()
    }

    /// The same links with the weights that are given for them, either way round. Several of one link add up, and links that none
    /// is given for weigh 1. Where all weigh the same, none has a weight.
    pub fn with_weights(self, given: impl IntoIterator<Item = (NodeId, NodeId, f64)>) -> Graph {
        let mut sums = vec![0.0_f64; self.neighbor_array().len()];
        for (a, b, weight) in given {
            self.both_entries(a, b).into_iter().flatten().for_each(|entry| sums[entry] += weight);
        }
        let weight = |sum: f64| if sum > 0.0 { (sum as f32).clamp(f32::MIN_POSITIVE, f32::MAX) } else { 1.0 };
        self.weighing(sums.into_iter().map(weight).collect())
    }

    /// The same links with the times that are given for them, either way round. Of several for one link the first counts.
    pub fn with_times(mut self, given: impl IntoIterator<Item = (NodeId, NodeId, f64)>) -> Graph {
        let mut times = vec![UNKNOWN_TIME; self.neighbor_array().len()];
        for (a, b, time) in given.into_iter().filter(|given| given.2.is_finite()) {
            for entry in self.both_entries(a, b).into_iter().flatten() {
                let known = &mut times[entry];
                *known = if *known == UNKNOWN_TIME { time } else { known.min(time) };
            }
        }
        self.carried.times = known(times);
        self
    }

    /// The same links with what they carry in a graph that has them; others have the weight 1 and no time.
    pub fn carrying_as(self, whole: &Graph) -> Graph {
        if whole.carried.is_nothing() {
            return self;
        }
        let found = |(a, b): (NodeId, NodeId)| whole.entry(a, b).map(|entry| (a, b, entry));
        let entries: Vec<(NodeId, NodeId, usize)> = self.iter_links().filter_map(found).collect();
        let mut graph = self;
        if let Some(times) = whole.times() {
            graph = graph.with_times(entries.iter().map(|&(a, b, entry)| (a, b, times[entry])));
        }
        if let Some(weights) = whole.weights() {
            graph = graph.with_weights(entries.iter().map(|&(a, b, entry)| (a, b, f64::from(weights[entry]))));
        }
        graph
    }

    /// The same with other weights, of which the mean is 1: `weigh` says what a weight becomes at a time. Where all become the
    /// same, links have none.
    pub fn weighed(&self, weigh: impl Fn(f32, f64) -> f64) -> Graph {
        let time = |entry: usize| self.times().map_or(UNKNOWN_TIME, |times| times[entry]);
        let weight = |entry: usize| self.weights().map_or(1.0, |weights| weights[entry]);
        let all: Vec<f64> = (0..self.neighbor_array().len()).map(|entry| weigh(weight(entry), time(entry))).collect();
        let mean = (all.iter().sum::<f64>() / all.len().max(1) as f64).max(f64::MIN_POSITIVE);
        let scaled = all.into_iter().map(|weight| ((weight / mean) as f32).clamp(f32::MIN_POSITIVE, f32::MAX));
        self.clone().weighing(scaled.collect())
    }

    /// The same without weights.
    pub fn unweighted(&self) -> Graph {
        let mut graph = self.clone();
        graph.carried.weights = None;
        graph
    }

    /// The same without times.
    pub fn timeless(&self) -> Graph {
        let mut graph = self.clone();
        graph.carried.times = None;
        graph
    }

    /// The links that are older than a moment, those of which no time is known among them; all of them where links have no times.
    pub fn before(&self, moment: f64) -> Graph {
        let Some(times) = self.times() else { return self.clone() };
        self.keeping(|_, entry| times[entry] < moment)
    }

    /// The same with arrays of a file, or what is wrong with them.
    pub fn with_arrays(
        mut self,
        weights: Option<Buffer<f32>>,
        times: Option<Buffer<f64>>,
    ) -> Result<Self, &'static str> {
        let entries = self.neighbor_array().len();
        if let Some(times) = times {
            let known = |time: &f64| time.is_finite() || *time == UNKNOWN_TIME;
            if times.len() != entries || !times.par_iter().all(known) || !self.is_same_both_ways(&times) {
                return Err("the times do not fit the links");
            }
            self.carried.times = Some(times);
        }
        if let Some(weights) = weights {
            let sound = |weight: &f32| weight.is_finite() && *weight > 0.0;
            if weights.len() != entries || !weights.par_iter().all(sound) || !self.is_same_both_ways(&weights) {
                return Err("the weights do not fit the links");
            }
            self.carried.weights = Some(Weights::of(&self, weights));
        }
        Ok(self)
    }

    fn weighing(mut self, weights: Vec<f32>) -> Graph {
        self.carried.weights = Weights::that_differ(&self, weights);
        self
    }

    fn is_same_both_ways<T: PartialEq + Sync>(&self, values: &[T]) -> bool {
        let same = |node: NodeId, entry: usize| {
            let other = self.entry(self.neighbor_array()[entry], node);
            other.is_some_and(|other| values[other] == values[entry])
        };
        (0..self.nodes() as NodeId).into_par_iter().all(|node| self.entries(node).all(|entry| same(node, entry)))
    }

    /// Where a link stands in the row of its first end.
    pub(crate) fn entry(&self, a: NodeId, b: NodeId) -> Option<usize> {
        self.neighbors(a).binary_search(&b).ok().map(|place| self.entries(a).start + place)
    }

    fn both_entries(&self, a: NodeId, b: NodeId) -> [Option<usize>; 2] {
        [self.entry(a, b), self.entry(b, a)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph() -> Graph {
        Graph::from_links(4, [(0, 1), (1, 2), (2, 3)])
    }

    fn weight(graph: &Graph, a: NodeId, b: NodeId) -> f32 {
        graph.weights().unwrap()[graph.entry(a, b).unwrap()]
    }

    #[test]
    fn weights_of_one_link_add_up_and_are_the_same_at_both_ends() {
        let graph = graph().with_weights([(1, 0, 2.0), (0, 1, 0.5), (2, 1, 4.0)]);
        assert_eq!([weight(&graph, 0, 1), weight(&graph, 1, 0), weight(&graph, 2, 3)], [2.5, 2.5, 1.0]);
        assert_eq!([0, 1, 2, 3].map(|node| graph.strength(node)), [2.5, 6.5, 5.0, 1.0]);
        let mut met = Vec::new();
        graph.each_neighbor(1, |other, weight| met.push((other, weight)));
        assert_eq!(met, [(0, 2.5), (2, 4.0)]);
    }

    #[test]
    fn links_that_all_weigh_the_same_have_no_weights() {
        let all = [(0, 1, 7.0), (1, 2, 7.0), (2, 3, 7.0)];
        assert_eq!(graph().with_weights(all), graph());
        assert_eq!((graph().strength(1), graph().popularity(1)), (2.0, 2.0_f32.ln_1p()));
    }

    #[test]
    fn the_first_of_several_times_counts_and_links_without_one_are_the_oldest() {
        let graph = graph().with_times([(0, 1, 5.0), (1, 0, 3.0), (2, 1, 9.0), (2, 3, UNKNOWN_TIME)]);
        assert_eq!(graph.times().unwrap(), [3.0, 3.0, 9.0, 9.0, UNKNOWN_TIME, UNKNOWN_TIME]);
        assert_eq!(graph.before(9.0).iter_links().collect::<Vec<_>>(), [(0, 1), (2, 3)]);
        assert_eq!(graph.before(9.0).times().unwrap(), [3.0, 3.0, UNKNOWN_TIME, UNKNOWN_TIME]);
    }

    #[test]
    fn parts_of_a_graph_and_graphs_with_more_nodes_carry_the_same() {
        let whole = graph().with_weights([(0, 1, 2.0), (2, 3, 5.0)]).with_times([(2, 3, 7.0)]);
        let part = whole.filter(|a, _| a != 1);
        assert_eq!((weight(&part, 3, 2), part.strength(1), part.times().unwrap()[2]), (5.0, 2.0, 7.0));
        assert_eq!(Graph::from_links(4, [(2, 3), (0, 1)]).carrying_as(&whole), part);
        let more = whole.with_unlinked(2);
        assert_eq!((more.strength(5), weight(&more, 0, 1), more.nodes()), (0.0, 2.0, 6));
    }

    #[test]
    fn weights_are_brought_to_a_mean_of_one() {
        let graph = graph().with_weights([(0, 1, 1.0), (1, 2, 1e6), (2, 3, 3.0)]);
        let roots = graph.weighed(|weight, _| f64::from(weight).sqrt());
        let mean = roots.weights().unwrap().iter().sum::<f32>() / 6.0;
        assert!((mean - 1.0).abs() < 1e-6 && (weight(&roots, 1, 2) / weight(&roots, 0, 1) - 1000.0).abs() < 0.1);
        assert_eq!(graph.weighed(|_, _| 3.0), graph.unweighted());
    }

    #[test]
    fn arrays_that_do_not_fit_are_refused() {
        let check = |weights: &[f32], times: &[f64]| {
            let list = |times: &[f64]| Some(times.to_vec().into()).filter(|times: &Buffer<f64>| !times.is_empty());
            graph().with_arrays(Some(weights.to_vec().into()), list(times)).is_ok()
        };
        let (weights, times) = ([1.0, 1.0, 2.0, 2.0, 3.0, 3.0], [0.0; 6]);
        assert!(check(&weights, &times) && check(&weights, &[]));
        assert!(!check(&[1.0, 1.0, 2.0, 2.5, 3.0, 3.0], &[]), "other at the other end");
        assert!(!check(&weights[..5], &[]) && !check(&[0.0; 6], &[]) && !check(&[f32::NAN; 6], &[]));
        assert!(!check(&weights, &[f64::INFINITY; 6]) && !check(&weights, &times[..4]));
    }
}
