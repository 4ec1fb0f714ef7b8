//! Shortest-path distances between nodes, for the weights of unlinked pairs (Eq. 6).

use std::sync::Mutex;

use rayon::prelude::*;

use crate::graph::{Graph, NodeId};
use crate::kernel::prefetch;

/// The most memory for a [`Table`]: enough for 23,170 nodes.
const TABLE_BYTES: usize = 128 << 20;
/// Distances that a [`Table`] tells apart.
const NEAR: u32 = 15;

/// Distances within a graph: looked up where the graph is small and the pair near, searched for otherwise.
pub struct Distances<'g> {
    graph: &'g Graph,
    bound: u32,
    /// Which connected part each node belongs to.
    component: Vec<NodeId>,
    table: Option<Table>,
    /// Memory for searches that run at the same time.
    scratch: Mutex<Vec<Scratch>>,
}

/// Marks of one search; an old search's marks are never mistaken for a new one's.
struct Scratch {
    marks: Vec<u32>,
    filters: [Filter; 2],
    round: u32,
    frontiers: [Vec<NodeId>; 2],
    next: Vec<NodeId>,
}

/// Words of a [`Filter`]: small enough for the nearest cache, wide enough for the few hundred nodes near an end.
const FILTER_WORDS: usize = 64;

/// Which nodes a side may have reached. Most have not been, and that is told without a look at the marks of all nodes.
#[derive(Clone, Copy)]
struct Filter([u64; FILTER_WORDS]);

impl Filter {
    fn place(node: NodeId) -> (usize, u64) {
        // Fibonacci hashing: neighbours with near numbers fall far apart.
        let hash = node.wrapping_mul(0x9E37_79B1) >> 20;
        ((hash / 64) as usize, 1 << (hash % 64))
    }

    fn add(&mut self, node: NodeId) {
        let (word, bit) = Self::place(node);
        self.0[word] |= bit;
    }

    fn may_have(&self, node: NodeId) -> bool {
        let (word, bit) = Self::place(node);
        self.0[word] & bit != 0
    }
}

impl<'g> Distances<'g> {
    /// Distances up to `bound`; a pair farther apart counts as `bound + 1`. 0 sets no bound.
    pub fn new(graph: &'g Graph, bound: u32) -> Self {
        let distances = Distances::by_search(graph, bound);
        let table = (Table::bytes(graph.nodes()) <= TABLE_BYTES).then(|| Table::new(graph, distances.bound.min(NEAR)));
        Distances { table, ..distances }
    }

    /// The same distances, every one of them searched for.
    fn by_search(graph: &'g Graph, bound: u32) -> Self {
        let bound = if bound == 0 { u32::MAX - 1 } else { bound };
        Distances { graph, bound, component: components(graph), table: None, scratch: Mutex::default() }
    }

    /// Memory for many look-ups, one after the other.
    pub fn start(&self) -> Search<'_> {
        Search { distances: self, scratch: None }
    }

    /// The number of links on a shortest path, or `None` where there is no path.
    pub fn between(&self, a: NodeId, b: NodeId) -> Option<u32> {
        self.start().between(a, b)
    }
}

/// Looks up one distance after the other.
pub struct Search<'d> {
    distances: &'d Distances<'d>,
    scratch: Option<Scratch>,
}

impl Search<'_> {
    /// The number of links on a shortest path, or `None` where there is no path.
    pub fn between(&mut self, a: NodeId, b: NodeId) -> Option<u32> {
        let Distances { graph, bound, component, table, scratch } = self.distances;
        if let Some(distance) = table.as_ref().and_then(|table| table.between(a, b)) {
            return Some(distance);
        }
        if component[a as usize] != component[b as usize] {
            return None;
        }
        if table.is_some() && *bound <= NEAR {
            return Some(bound + 1);
        }
        let new = || lock(scratch).pop().unwrap_or_else(|| Scratch::new(graph.nodes()));
        Some(self.scratch.get_or_insert_with(new).search(graph, [a, b], *bound))
    }
}

impl Drop for Search<'_> {
    fn drop(&mut self) {
        if let Some(own) = self.scratch.take() {
            lock(&self.distances.scratch).push(own);
        }
    }
}

fn lock(scratch: &Mutex<Vec<Scratch>>) -> std::sync::MutexGuard<'_, Vec<Scratch>> {
    scratch.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Scratch {
    fn new(nodes: usize) -> Self {
        let filters = [const { Filter([0; FILTER_WORDS]) }; 2];
        Scratch { marks: vec![0; nodes], filters, round: 0, frontiers: Default::default(), next: Vec::new() }
    }

    /// Breadth first from both ends, a level at a time, from the side with fewer nodes to go on from. The ends must be
    /// connected.
    fn search(&mut self, graph: &Graph, ends: [NodeId; 2], bound: u32) -> u32 {
        if ends[0] == ends[1] {
            return 0;
        }
        self.start_round();
        for (side, end) in ends.into_iter().enumerate() {
            self.frontiers[side].clear();
            self.frontiers[side].push(end);
            self.marks[end as usize] = self.mark(side);
            self.filters[side] = Filter([0; FILTER_WORDS]);
            self.filters[side].add(end);
        }
        let mut distance = 0;
        while distance < bound {
            let side = usize::from(self.frontiers[1].len() < self.frontiers[0].len());
            distance += 1;
            let met = if distance < bound { self.advance(graph, side) } else { self.meets(graph, side) };
            if met {
                return distance;
            }
        }
        bound + 1
    }

    fn start_round(&mut self) {
        if self.round >= u32::MAX / 2 - 1 {
            self.marks.fill(0);
            self.round = 0;
        }
        self.round += 1;
    }

    fn mark(&self, side: usize) -> u32 {
        2 * self.round + side as u32
    }

    /// One level further on one side; whether it met the other.
    fn advance(&mut self, graph: &Graph, side: usize) -> bool {
        let (own, other) = (self.mark(side), self.mark(1 - side));
        self.fetch_rows(graph, side);
        self.next.clear();
        for &node in &self.frontiers[side] {
            for &neighbor in graph.neighbors(node) {
                let mark = &mut self.marks[neighbor as usize];
                if *mark == other {
                    return true;
                }
                if *mark != own {
                    *mark = own;
                    self.filters[side].add(neighbor);
                    self.next.push(neighbor);
                }
            }
        }
        std::mem::swap(&mut self.frontiers[side], &mut self.next);
        false
    }
}

impl Scratch {
    /// Whether one level further on one side would meet the other; leaves no marks.
    fn meets(&self, graph: &Graph, side: usize) -> bool {
        let (other, filter) = (self.mark(1 - side), &self.filters[1 - side]);
        self.fetch_rows(graph, side);
        let is_met = |&next: &NodeId| filter.may_have(next) && self.marks[next as usize] == other;
        self.frontiers[side].iter().any(|&node| graph.neighbors(node).iter().any(is_met))
    }

    /// Asks for the rows of a side's nodes before the first of them is read: on a large graph each is far away.
    fn fetch_rows(&self, graph: &Graph, side: usize) {
        if self.frontiers[side].len() > 1 {
            self.frontiers[side].iter().for_each(|&node| prefetch(&graph.offsets()[node as usize..][..1]));
            self.frontiers[side].iter().for_each(|&node| prefetch(graph.neighbors(node)));
        }
    }
}

/// The smallest node of each node's connected part.
fn components(graph: &Graph) -> Vec<NodeId> {
    let mut component = vec![NodeId::MAX; graph.nodes()];
    let mut open = Vec::new();
    for start in 0..graph.nodes() as NodeId {
        if component[start as usize] != NodeId::MAX {
            continue;
        }
        component[start as usize] = start;
        open.push(start);
        while let Some(node) = open.pop() {
            for &neighbor in graph.neighbors(node) {
                if component[neighbor as usize] == NodeId::MAX {
                    component[neighbor as usize] = start;
                    open.push(neighbor);
                }
            }
        }
    }
    component
}

/// Distances of near pairs, half a byte each: those of every node to the nodes before it, node after node. What is stored is
/// one less than the distance, and [`NEAR`] where the pair is farther apart than was searched.
struct Table(Vec<u8>);

/// Sources of one search for a [`Table`]. Rows of as many nodes end with a whole byte.
const SOURCES: usize = 64;

impl Table {
    fn bytes(nodes: usize) -> usize {
        Self::row(nodes).div_ceil(2)
    }

    /// Where a node's distances start, in half bytes.
    fn row(node: usize) -> usize {
        node * node.saturating_sub(1) / 2
    }

    /// All distances up to `bound`, which is at most [`NEAR`].
    fn new(graph: &Graph, bound: u32) -> Self {
        let nodes = graph.nodes();
        let mut table = vec![u8::MAX; Self::bytes(nodes)];
        let mut rest = table.as_mut_slice();
        let mut groups = Vec::new();
        for first in (0..nodes).step_by(SOURCES) {
            let end = Self::bytes((first + SOURCES).min(nodes));
            let (group, after) = rest.split_at_mut(end - Self::bytes(first));
            groups.push((first, group));
            rest = after;
        }
        groups.into_par_iter().for_each(|(first, group)| fill_rows(graph, bound, first, group));
        Table(table)
    }

    fn between(&self, a: NodeId, b: NodeId) -> Option<u32> {
        if a == b {
            return Some(0);
        }
        let place = Self::row(a.max(b) as usize) + a.min(b) as usize;
        let stored = u32::from(self.0[place / 2] >> (place % 2 * 4) & 15);
        (stored < NEAR).then_some(stored + 1)
    }
}

/// The rows of up to 64 nodes from `first`, by one breadth-first search for all of them: bit i of a node's word says whether
/// source i has reached it.
fn fill_rows(graph: &Graph, bound: u32, first: usize, rows: &mut [u8]) {
    let nodes = graph.nodes();
    let sources = SOURCES.min(nodes - first);
    let (mut reached, mut front, mut next) = (vec![0_u64; nodes], vec![0_u64; nodes], vec![0_u64; nodes]);
    for source in 0..sources {
        reached[first + source] |= 1 << source;
        front[first + source] |= 1 << source;
    }
    let start = Table::row(first);
    let starts: Vec<usize> = (0..sources).map(|source| Table::row(first + source) - start).collect();
    for stored in 0..bound as u8 {
        for (node, &sources) in front.iter().enumerate().filter(|&(_, &sources)| sources != 0) {
            for &neighbor in graph.neighbors(node as NodeId) {
                next[neighbor as usize] |= sources;
            }
        }
        let mut any = 0;
        for node in 0..nodes {
            let new = next[node] & !reached[node];
            (next[node], front[node]) = (0, new);
            reached[node] |= new;
            any |= new;
            // A row has the nodes before its own.
            let later = (node + 1).saturating_sub(first);
            let mut bits = if later < SOURCES { new >> later << later } else { 0 };
            while bits != 0 {
                let place = starts[bits.trailing_zeros() as usize] + node;
                rows[place / 2] ^= (15 ^ stored) << (place % 2 * 4);
                bits &= bits - 1;
            }
        }
        if any == 0 {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// One queue, one source.
    fn plain(graph: &Graph, source: NodeId) -> Vec<Option<u32>> {
        let mut distance = vec![None; graph.nodes()];
        distance[source as usize] = Some(0);
        let mut queue = std::collections::VecDeque::from([source]);
        while let Some(node) = queue.pop_front() {
            for &neighbor in graph.neighbors(node) {
                if distance[neighbor as usize].is_none() {
                    distance[neighbor as usize] = distance[node as usize].map(|d| d + 1);
                    queue.push_back(neighbor);
                }
            }
        }
        distance
    }

    proptest! {
        #[test]
        fn table_and_search_agree_with_a_plain_search(
            links in prop::collection::vec((0_u32..90, 0_u32..90), 0..140),
            bound in 0_u32..5,
        ) {
            let graph = Graph::from_links(90, links);
            let (table, search) = (Distances::new(&graph, bound), Distances::by_search(&graph, bound));
            for a in 0..90 {
                let plain = plain(&graph, a);
                for b in 0..90 {
                    let far = if bound == 0 { u32::MAX } else { bound + 1 };
                    let expected = plain[b as usize].map(|distance| distance.min(far));
                    prop_assert_eq!(table.between(a, b), expected);
                    prop_assert_eq!(search.between(a, b), expected);
                }
            }
        }
    }

    #[test]
    fn a_pair_farther_apart_than_the_table_tells_is_searched_for() {
        let graph = Graph::from_links(600, (0..598).map(|node| (node, node + 1)));
        for bound in [0, 14, 15, 16, 254] {
            let (table, far) = (Distances::new(&graph, bound), if bound == 0 { u32::MAX } else { bound + 1 });
            for distance in [1, 2, 14, 15, 16, 17, 254, 255, 256, 598] {
                assert_eq!(table.between(0, distance), Some(distance.min(far)), "bound {bound}");
                assert_eq!(table.between(distance, 0), Some(distance.min(far)), "bound {bound}");
            }
            assert_eq!(table.between(0, 599), None);
        }
    }

    #[test]
    fn a_graph_of_no_and_of_one_node_has_distances() {
        assert_eq!(Distances::new(&Graph::from_links(1, []), 0).between(0, 0), Some(0));
        Distances::new(&Graph::from_links(0, []), 0);
    }
}
