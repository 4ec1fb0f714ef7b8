//! A batch of pairs, by the batch's own numbering of its nodes.

use crate::graph::{Graph, NodeId};

/// One end of a pair, from the node at the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incidence {
    /// The other end, in the batch's numbering.
    pub other: u32,
    /// Which pair.
    pub pair: u32,
    /// Whether the node is the pair's source.
    pub source: bool,
}

/// Nodes that all pairs of a batch share as negatives.
#[derive(Clone, Debug, Default)]
pub struct Negatives {
    /// Distinct places in the batch's numbering.
    pub places: Vec<u32>,
    masked_offsets: Vec<u32>,
    masked: Vec<u32>,
}

impl Negatives {
    /// The negatives, by their index, that are no negatives for a pair: its source, and what its source is linked to.
    #[inline]
    pub fn masked(&self, pair: usize) -> &[u32] {
        &self.masked[self.masked_offsets[pair] as usize..self.masked_offsets[pair + 1] as usize]
    }
}

/// Pairs of nodes, linked ones first.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The distinct nodes, in rising order; their places are the batch's numbering.
    pub nodes: Vec<NodeId>,
    /// Both ends of each pair, in the batch's numbering.
    pub pairs: Vec<[u32; 2]>,
    /// How many of the pairs are linked.
    pub linked: usize,
    /// α of each unlinked pair (Eq. 6), in the order of the pairs after `linked`.
    pub weights: Vec<f32>,
    /// What the pairs are compared with under the softmax loss.
    pub negatives: Negatives,
    /// Added to the similarity of each node as a candidate, divided by the temperature; none where nothing is added.
    pub offsets_of: Vec<f32>,
    offsets: Vec<u32>,
    incidences: Vec<Incidence>,
}

impl Batch {
    /// A batch from pairs in the graph's numbering. `places` has room for every node of the graph, with any contents.
    pub fn new(pairs: &[[NodeId; 2]], linked: usize, weights: Vec<f32>, places: &mut [u32]) -> Self {
        let nodes = number(pairs.as_flattened().to_vec(), places);
        Batch::numbered(nodes, pairs, linked, weights, places)
    }

    /// A batch of linked pairs of `graph` that share some distinct nodes as negatives.
    pub fn with_negatives(pairs: &[[NodeId; 2]], negatives: &[NodeId], graph: &Graph, places: &mut [u32]) -> Self {
        let nodes = number([pairs.as_flattened(), negatives].concat(), places);
        let mut index_of = vec![u32::MAX; nodes.len()];
        let negative_places: Vec<u32> = negatives.iter().map(|&node| places[node as usize]).collect();
        for (index, &place) in negative_places.iter().enumerate() {
            index_of[place as usize] = index as u32;
        }
        let (mut masked_offsets, mut masked) = (vec![0], Vec::new());
        for &[source, _] in pairs {
            for &node in graph.neighbors(source).iter().chain([&source]) {
                // Nodes outside the batch have any place.
                let place = places[node as usize] as usize;
                if nodes.get(place) == Some(&node) && index_of[place] != u32::MAX {
                    masked.push(index_of[place]);
                }
            }
            masked_offsets.push(masked.len() as u32);
        }
        let batch = Batch::numbered(nodes, pairs, pairs.len(), Vec::new(), places);
        Batch { negatives: Negatives { places: negative_places, masked_offsets, masked }, ..batch }
    }

    /// The same with something added to the similarity of each node as a candidate.
    pub fn with_offsets(mut self, offset: impl Fn(NodeId) -> f32) -> Self {
        self.offsets_of = self.nodes.iter().map(|&node| offset(node)).collect();
        self
    }

    fn numbered(nodes: Vec<NodeId>, pairs: &[[NodeId; 2]], linked: usize, weights: Vec<f32>, places: &[u32]) -> Self {
        let pairs: Vec<[u32; 2]> = pairs.iter().map(|pair| pair.map(|node| places[node as usize])).collect();
        let (offsets, incidences) = incidences(nodes.len(), &pairs);
        let (negatives, offsets_of) = (Negatives::default(), Vec::new());
        Batch { nodes, pairs, linked, weights, negatives, offsets_of, offsets, incidences }
    }

    /// The pairs of a node, by the order of the batch.
    #[inline]
    pub fn incidences(&self, place: usize) -> &[Incidence] {
        &self.incidences[self.offsets[place] as usize..self.offsets[place + 1] as usize]
    }
}

/// The distinct nodes in rising order; `places` then says where each stands.
fn number(mut nodes: Vec<NodeId>, places: &mut [u32]) -> Vec<NodeId> {
    nodes.sort_unstable();
    nodes.dedup();
    for (place, &node) in nodes.iter().enumerate() {
        places[node as usize] = place as u32;
    }
    nodes
}

/// Counting sort of pairs by each of their ends.
fn incidences(nodes: usize, pairs: &[[u32; 2]]) -> (Vec<u32>, Vec<Incidence>) {
    let mut offsets = vec![0_u32; nodes + 1];
    for end in pairs.as_flattened() {
        offsets[*end as usize + 1] += 1;
    }
    for place in 0..nodes {
        offsets[place + 1] += offsets[place];
    }
    let mut next = offsets.clone();
    let mut incidences = vec![Incidence { other: 0, pair: 0, source: false }; 2 * pairs.len()];
    for (pair, &[source, target]) in pairs.iter().enumerate() {
        for (end, other, is_source) in [(source, target, true), (target, source, false)] {
            let slot = &mut next[end as usize];
            incidences[*slot as usize] = Incidence { other, pair: pair as u32, source: is_source };
            *slot += 1;
        }
    }
    (offsets, incidences)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_numbered_in_order_and_know_their_pairs() {
        let batch = Batch::new(&[[7, 3], [3, 9], [9, 7]], 1, vec![1.0, 1.5], &mut [0; 10]);
        assert_eq!(batch.nodes, [3, 7, 9]);
        assert_eq!(batch.pairs, [[1, 0], [0, 2], [2, 1]]);
        let of = |other, pair, source| Incidence { other, pair, source };
        assert_eq!(batch.incidences(0), [of(1, 0, false), of(2, 1, true)]);
        assert_eq!(batch.incidences(2), [of(0, 1, false), of(1, 2, true)]);
    }

    #[test]
    fn neighbours_of_a_pairs_source_are_not_its_negatives() {
        let graph = Graph::from_links(10, [(7, 3), (3, 9), (3, 5), (9, 7)]);
        let batch = Batch::with_negatives(&[[3, 7], [7, 3]], &[9, 1, 5, 3], &graph, &mut [0; 10]);
        assert_eq!(batch.nodes, [1, 3, 5, 7, 9]);
        assert_eq!((batch.linked, &batch.negatives.places[..]), (2, &[4, 0, 2, 1][..]));
        assert_eq!(batch.negatives.masked(0), [2, 0, 3]); // 5, 9 and 3 itself
        assert_eq!(batch.negatives.masked(1), [3, 0]); // 3 and 9
    }
}
