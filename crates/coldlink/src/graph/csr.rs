//! The graph: undirected, as sorted rows of neighbours (CSR).

use std::ops::Range;

use rayon::prelude::*;

use super::NodeId;
use super::carried::Carried;
use crate::storage::Buffer;

/// An undirected graph without self-loops or repeated links.
///
/// Each link stands in the rows of both its ends, and rows are sorted; only [`GraphBuilder`] and
/// [`Graph::from_parts`] make one, so that nobody else has to check.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    offsets: Buffer<u64>,
    neighbors: Buffer<NodeId>,
    /// Weights and times, where links have any.
    pub(super) carried: Carried,
}

impl Graph {
    /// A graph with `nodes` nodes from any list of pairs; see [`GraphBuilder`] for the counted form.
    pub fn from_links(nodes: usize, links: impl IntoIterator<Item = (NodeId, NodeId)>) -> Self {
        let mut builder = GraphBuilder::new(nodes);
        builder.extend(links);
        builder.build().0
    }

    /// A graph from its arrays, or what is wrong with them.
    pub fn from_parts(offsets: Buffer<u64>, neighbors: Buffer<NodeId>) -> Result<Self, &'static str> {
        let graph = Graph::of_arrays(offsets, neighbors);
        graph.check().map(|()| graph)
    }

    fn of_arrays(offsets: impl Into<Buffer<u64>>, neighbors: impl Into<Buffer<NodeId>>) -> Self {
        Graph { offsets: offsets.into(), neighbors: neighbors.into(), carried: Carried::default() }
    }

    fn check(&self) -> Result<(), &'static str> {
        let nodes = self.offsets.len().checked_sub(1).ok_or("the offsets are empty")?;
        if nodes > NodeId::MAX as usize {
            return Err("there are more nodes than 32 bits can count");
        }
        if self.offsets[0] != 0 || self.offsets[nodes] != self.neighbors.len() as u64 {
            return Err("the offsets do not span the neighbours");
        }
        if self.offsets.par_windows(2).any(|pair| pair[0] > pair[1]) {
            return Err("the offsets fall");
        }
        let tidy = (0..nodes).into_par_iter().all(|node| {
            let row = self.neighbors(node as NodeId);
            row.last().is_none_or(|&last| (last as usize) < nodes)
                && row.windows(2).all(|pair| pair[0] < pair[1])
                && row.binary_search(&(node as NodeId)).is_err()
        });
        if !tidy {
            return Err("a row of neighbours is unsorted, out of range or has a self-loop");
        }
        let part = nodes.div_ceil(rayon::current_num_threads()).max(1);
        let symmetric = (0..nodes)
            .into_par_iter()
            .step_by(part)
            .all(|start| self.is_symmetric_into(start..nodes.min(start + part)));
        symmetric.then_some(()).ok_or("a link stands in the row of one end only")
    }

    /// Whether the links from smaller nodes into `part` are exactly those from `part` to smaller nodes.
    ///
    /// Rows are sorted, so when smaller nodes come in order, each must be the next in the row of every larger
    /// neighbour: one pass with a cursor per row instead of a search per link.
    fn is_symmetric_into(&self, part: Range<usize>) -> bool {
        let (offsets, neighbors): (&[u64], &[NodeId]) = (&self.offsets, &self.neighbors);
        let mut cursors = offsets[part.clone()].to_vec();
        for node in 0..part.end {
            let row = &neighbors[offsets[node] as usize..offsets[node + 1] as usize];
            let larger = row.partition_point(|&other| (other as usize) < part.start.max(node));
            for &other in row[larger..].iter().take_while(|&&other| (other as usize) < part.end) {
                let cursor = &mut cursors[other as usize - part.start];
                if neighbors.get(*cursor as usize) != Some(&(node as NodeId)) {
                    return false;
                }
                *cursor += 1;
            }
        }
        // A cursor that left its row is found out here, which saves a look at the row's end for each link.
        part.zip(cursors).all(|(node, cursor)| {
            let rest = neighbors.get(cursor as usize..offsets[node + 1] as usize);
            rest.is_some_and(|rest| rest.first().is_none_or(|&next| next as usize > node))
        })
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The number of undirected links.
    pub fn links(&self) -> usize {
        self.neighbors.len() / 2
    }

    /// The sorted neighbours of a node.
    #[inline]
    pub fn neighbors(&self, node: NodeId) -> &[NodeId] {
        let node = node as usize;
        &self.neighbors[self.offsets[node] as usize..self.offsets[node + 1] as usize]
    }

    /// How many links a node has.
    #[inline]
    pub fn degree(&self, node: NodeId) -> usize {
        let node = node as usize;
        (self.offsets[node + 1] - self.offsets[node]) as usize
    }

    /// Whether two nodes are linked.
    #[inline]
    pub fn has_link(&self, a: NodeId, b: NodeId) -> bool {
        let (short, other) = if self.degree(a) <= self.degree(b) { (a, b) } else { (b, a) };
        self.neighbors(short).binary_search(&other).is_ok()
    }

    /// Every link once, as (smaller, larger), in order.
    pub fn iter_links(&self) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        (0..self.nodes() as NodeId).flat_map(move |node| {
            let row = self.neighbors(node);
            let above = row.partition_point(|&other| other < node);
            row[above..].iter().map(move |&other| (node, other))
        })
    }

    /// The graph on the same nodes with only the links that `keep` wants.
    pub fn filter(&self, keep: impl Fn(NodeId, NodeId) -> bool) -> Graph {
        let neighbors = self.neighbor_array();
        self.keeping(|node, entry| keep(node.min(neighbors[entry]), node.max(neighbors[entry])))
    }

    /// The same by a node and a place in [`Graph::neighbor_array`]; `keep` must want a link at both ends or at none.
    pub(super) fn keeping(&self, keep: impl Fn(NodeId, usize) -> bool) -> Graph {
        let (all, mut neighbors) = (self.neighbor_array(), Vec::new());
        let mut offsets = Vec::with_capacity(self.nodes() + 1);
        offsets.push(0);
        for node in 0..self.nodes() as NodeId {
            neighbors.extend(self.entries(node).filter(|&entry| keep(node, entry)).map(|entry| all[entry]));
            offsets.push(neighbors.len() as u64);
        }
        let mut graph = Graph::of_arrays(offsets, neighbors);
        if !self.carried.is_nothing() {
            let keep = &keep;
            let of = |node| self.entries(node).filter(move |&entry| keep(node, entry));
            graph.carried = self.carried.of_some(&graph, (0..self.nodes() as NodeId).flat_map(of));
        }
        graph
    }

    /// The same graph with so many nodes more, which have no links.
    pub fn with_unlinked(&self, count: usize) -> Graph {
        let mut offsets = self.offsets.to_vec();
        offsets.resize(offsets.len() + count, self.neighbors.len() as u64);
        let carried = self.carried.with_unlinked(count);
        Graph { carried, ..Graph::of_arrays(offsets, self.neighbors.clone()) }
    }

    /// Row starts, `nodes() + 1` of them.
    pub fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// All rows of neighbours, one after the other: each link appears twice.
    pub fn neighbor_array(&self) -> &[NodeId] {
        &self.neighbors
    }
}

/// What was left out while a graph was built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Cleaned {
    /// Links from a node to itself.
    pub self_loops: usize,
    /// Links given more than once in the same direction.
    pub duplicates: usize,
    /// Links given in both directions.
    pub reciprocal: usize,
}

/// Collects links in any order and direction.
pub struct GraphBuilder {
    nodes: usize,
    links: Vec<(NodeId, NodeId)>,
    self_loops: usize,
}

impl GraphBuilder {
    /// For a graph of `nodes` nodes.
    pub fn new(nodes: usize) -> Self {
        GraphBuilder { nodes, links: Vec::new(), self_loops: 0 }
    }

    /// Adds a link; both ends must be below the number of nodes.
    pub fn push(&mut self, source: NodeId, target: NodeId) {
        assert!((source.max(target) as usize) < self.nodes, "node out of range");
        if source == target {
            self.self_loops += 1;
        } else {
            self.links.push((source, target));
        }
    }

    /// The graph, and a count of what it leaves out.
    pub fn build(self) -> (Graph, Cleaned) {
        let given = self.links.len();
        let mut directed = self.links;
        directed.par_sort_unstable();
        directed.dedup();
        let mut cleaned = Cleaned { self_loops: self.self_loops, duplicates: given - directed.len(), reciprocal: 0 };
        for link in &mut directed {
            *link = (link.0.min(link.1), link.0.max(link.1));
        }
        let once_per_direction = directed.len();
        directed.par_sort_unstable();
        directed.dedup();
        cleaned.reciprocal = once_per_direction - directed.len();
        (from_sorted_links(self.nodes, &directed), cleaned)
    }
}

impl Extend<(NodeId, NodeId)> for GraphBuilder {
    fn extend<I: IntoIterator<Item = (NodeId, NodeId)>>(&mut self, links: I) {
        for (source, target) in links {
            self.push(source, target);
        }
    }
}

/// Rows come out sorted: a node first receives its smaller neighbours, in order, then its larger ones.
fn from_sorted_links(nodes: usize, links: &[(NodeId, NodeId)]) -> Graph {
    let mut offsets = vec![0_u64; nodes + 1];
    for &(a, b) in links {
        offsets[a as usize + 1] += 1;
        offsets[b as usize + 1] += 1;
    }
    for node in 0..nodes {
        offsets[node + 1] += offsets[node];
    }
    let mut next = offsets.clone();
    let mut neighbors = vec![0; 2 * links.len()];
    let mut place = |node: NodeId, other: NodeId| {
        let slot = &mut next[node as usize];
        neighbors[*slot as usize] = other;
        *slot += 1;
    };
    for &(a, b) in links {
        place(b, a);
    }
    for &(a, b) in links {
        place(a, b);
    }
    Graph::of_arrays(offsets, neighbors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn links_are_kept_once_and_what_is_left_out_is_counted() {
        let mut builder = GraphBuilder::new(4);
        builder.extend([(2, 0), (0, 2), (0, 2), (3, 3), (1, 2)]);
        let (graph, cleaned) = builder.build();
        assert_eq!(cleaned, Cleaned { self_loops: 1, duplicates: 1, reciprocal: 1 });
        assert_eq!(graph.iter_links().collect::<Vec<_>>(), [(0, 2), (1, 2)]);
        assert_eq!(graph.neighbors(2), [0, 1]);
        assert_eq!((graph.nodes(), graph.links(), graph.degree(3)), (4, 2, 0));
    }

    #[test]
    fn arrays_that_are_no_graph_are_refused() {
        let check = |offsets: &[u64], neighbors: &[NodeId]| {
            Graph::from_parts(offsets.to_vec().into(), neighbors.to_vec().into()).is_err()
        };
        assert!(check(&[], &[]));
        assert!(check(&[0, 1, 1], &[1]), "one direction only");
        assert!(check(&[0, 0, 1], &[0]), "the other direction only");
        assert!(check(&[0, 1, 2, 3], &[1, 2, 0]), "a circle one way round");
        assert!(check(&[0, 1, 3], &[1, 0]), "offsets beyond the end");
        assert!(check(&[0, 2, 1, 2], &[1, 0]), "falling offsets");
        assert!(check(&[0, 1], &[0]), "self-loop");
        assert!(check(&[0, 1, 2], &[5, 0]), "out of range");
    }

    proptest! {
        #[test]
        fn the_symmetry_check_agrees_with_a_search_for_every_link(links in prop::collection::vec((0_u32..6, 0_u32..6), 0..12)) {
            let mut rows = vec![Vec::new(); 6];
            for &(a, b) in links.iter().filter(|(a, b)| a != b) {
                rows[a as usize].push(b);
            }
            let mut offsets = vec![0_u64];
            for row in &mut rows {
                row.sort_unstable();
                row.dedup();
                offsets.push(offsets.last().unwrap() + row.len() as u64);
            }
            let symmetric = (0..6).all(|a| rows[a].iter().all(|&b| rows[b as usize].contains(&(a as u32))));
            prop_assert_eq!(Graph::from_parts(offsets.into(), rows.concat().into()).is_ok(), symmetric);
        }

        #[test]
        fn any_links_make_a_sound_graph(links in prop::collection::vec((0_u32..20, 0_u32..20), 0..80)) {
            let graph = Graph::from_links(20, links.iter().copied());
            prop_assert_eq!(graph.check(), Ok(()));
            for a in 0..20 {
                for b in 0..20 {
                    let linked = a != b && (links.contains(&(a, b)) || links.contains(&(b, a)));
                    prop_assert_eq!(graph.has_link(a, b), linked);
                }
            }
            let odd = graph.filter(|a, b| (a + b) % 2 == 1);
            prop_assert_eq!(odd.check(), Ok(()));
            prop_assert!(odd.iter_links().eq(graph.iter_links().filter(|(a, b)| (a + b) % 2 == 1)));
        }
    }
}
