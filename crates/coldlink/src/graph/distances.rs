//! Shortest-path distances between nodes, for the weights of unlinked pairs (Eq. 6).

use std::sync::Mutex;

use rayon::prelude::*;

use super::{Graph, NodeId};
use crate::kernel::prefetch;

/// Up to this many nodes, all distances are kept as bytes: 64 MiB, and one look-up per pair.
const TABLE_NODES: usize = 8_192;
/// In a table: no path.
const UNREACHABLE: u8 = u8::MAX;

/// Distances within a graph: looked up where the graph is small, searched for where it is large.
pub struct Distances<'g> {
    graph: &'g Graph,
    bound: u32,
    means: Means,
}

enum Means {
    /// Row-major, one byte a pair.
    Table(Vec<u8>),
    /// Which connected part each node belongs to; and memory for searches that run at the same time.
    Search { component: Vec<NodeId>, scratch: Mutex<Vec<Scratch>> },
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
        let bound = if bound == 0 { u32::MAX - 1 } else { bound };
        let means = if graph.nodes() <= TABLE_NODES {
            Means::Table(all_pairs(graph))
        } else {
            Means::Search { component: components(graph), scratch: Mutex::default() }
        };
        Distances { graph, bound, means }
    }

    /// Memory for many look-ups, one after the other.
    pub fn start(&self) -> Search<'_> {
        let scratch = match &self.means {
            Means::Table(_) => None,
            Means::Search { scratch, .. } => {
                Some(lock(scratch).pop().unwrap_or_else(|| Scratch::new(self.graph.nodes())))
            }
        };
        Search { distances: self, scratch }
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
        let Distances { graph, bound, means } = self.distances;
        match (means, &mut self.scratch) {
            (Means::Search { component, .. }, Some(scratch)) => {
                let connected = component[a as usize] == component[b as usize];
                connected.then(|| scratch.search(graph, [a, b], *bound))
            }
            (Means::Table(bytes), _) => match bytes[a as usize * graph.nodes() + b as usize] {
                UNREACHABLE => None,
                distance => Some(u32::from(distance).min(*bound + 1)),
            },
            (Means::Search { .. }, None) => None,
        }
    }
}

impl Drop for Search<'_> {
    fn drop(&mut self) {
        if let (Means::Search { scratch, .. }, Some(own)) = (&self.distances.means, self.scratch.take()) {
            lock(scratch).push(own);
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

/// All distances, 64 sources at a time: bit i of a node's word says whether source i has reached it.
fn all_pairs(graph: &Graph) -> Vec<u8> {
    let nodes = graph.nodes();
    let mut table = vec![UNREACHABLE; nodes * nodes];
    table.par_chunks_mut(64 * nodes.max(1)).enumerate().for_each(|(group, rows)| {
        let first = group * 64;
        let mut reached = vec![0_u64; nodes];
        let mut front = vec![0_u64; nodes];
        for (bit, row) in rows.chunks_mut(nodes).enumerate() {
            row[first + bit] = 0;
            reached[first + bit] |= 1 << bit;
            front[first + bit] |= 1 << bit;
        }
        for distance in 1..UNREACHABLE {
            let mut next = vec![0_u64; nodes];
            for node in (0..nodes).filter(|&node| front[node] != 0) {
                for &neighbor in graph.neighbors(node as NodeId) {
                    next[neighbor as usize] |= front[node];
                }
            }
            let mut any = false;
            for node in 0..nodes {
                next[node] &= !reached[node];
                reached[node] |= next[node];
                let mut bits = next[node];
                any |= bits != 0;
                while bits != 0 {
                    rows[bits.trailing_zeros() as usize * nodes + node] = distance;
                    bits &= bits - 1;
                }
            }
            if !any {
                break;
            }
            front = next;
        }
    });
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn by_search(graph: &Graph, bound: u32) -> Distances<'_> {
        let means = Means::Search { component: components(graph), scratch: Mutex::default() };
        Distances { graph, bound: if bound == 0 { u32::MAX - 1 } else { bound }, means }
    }

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
            let (table, search) = (Distances::new(&graph, bound), by_search(&graph, bound));
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
    fn a_path_longer_than_a_byte_can_count_is_not_taken_for_a_short_one() {
        let graph = Graph::from_links(600, (0..599).map(|node| (node, node + 1)));
        assert_eq!(Distances::new(&graph, 0).between(0, 254), Some(254));
        assert_eq!(Distances::new(&graph, 0).between(0, 599), None);
        assert_eq!(by_search(&graph, 0).between(0, 599), Some(599));
    }
}
