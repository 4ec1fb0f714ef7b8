//! The test set of the paper's authors, which is the one of Graph2Gauss: nodes drawn, and nodes left dangling by that.

use rand::Rng;

use super::random::{Purpose, draw, stream, tenth};
use super::{Negatives, Pair, SplitError, Stage, TestSet};
use crate::graph::{Graph, NodeId};

pub(super) fn test_set(full: &Graph, seed: u64) -> Result<TestSet, SplitError> {
    let nodes: Vec<NodeId> = (0..full.nodes() as NodeId).collect();
    let drawn = draw(&nodes, tenth(nodes.len()), &mut stream(seed, Purpose::TestNodes));
    deal2020_from_drawn(full, &drawn, &mut stream(seed, Purpose::TestNegatives))
}

/// Hides the drawn nodes and all that have no link left without them.
///
/// Each *entry* of the hidden list asks for as many negatives as it has links, and a drawn node has two entries: its own
/// and the one as a node without links. So there are more than two negatives to a positive. Other than in the
/// authors' file, no pair is drawn twice and no node is its own negative.
pub(super) fn deal2020_from_drawn(full: &Graph, drawn: &[NodeId], rng: &mut impl Rng) -> Result<TestSet, SplitError> {
    let whole = Stage::whole(full.clone());
    let hidden: Vec<NodeId> = {
        let left = whole.hiding(drawn).graph;
        (0..full.nodes() as NodeId).filter(|&node| left.degree(node) == 0).collect()
    };
    let remaining = whole.hiding(&hidden);
    let is_hidden = |node: NodeId| !remaining.visible[node as usize];
    let links = full.iter_links().filter(|&(a, b)| is_hidden(a) || is_hidden(b));
    let mut pairs: Vec<Pair> = links.map(|link| Pair::linked(link).new_end_first(is_hidden)).collect();

    let pool: Vec<NodeId> = (0..full.nodes() as NodeId).collect();
    let mut negatives = Negatives::of(full);
    for &entry in drawn.iter().chain(&hidden) {
        pairs.extend(negatives.keeping(entry, &pool, full.degree(entry), rng));
    }
    TestSet { hidden, pairs, remaining }.checked()
}
