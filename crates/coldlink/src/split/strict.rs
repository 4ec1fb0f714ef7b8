//! The default test set: a tenth of the nodes, drawn uniformly, and as many negatives as they have links.

use rand::RngExt;

use super::draw::tenth;
use super::{Negatives, Pair, SplitError, Stage, TestSet, Whole};
use crate::graph::{Graph, NodeId};
use crate::random::{SplitPurpose, split_stream};

pub(super) fn test_set(full: Whole<'_>, seed: u64) -> Result<TestSet, SplitError> {
    let nodes: Vec<NodeId> = (0..full.graph.nodes() as NodeId).collect();
    hiding(full, full.draw(&nodes, tenth, &mut split_stream(seed, SplitPurpose::TestNodes)), seed)
}

/// The test set of given nodes: all of their links, and a negative for each.
pub(super) fn hiding(full: Whole<'_>, hidden: Vec<NodeId>, seed: u64) -> Result<TestSet, SplitError> {
    hiding_from(full, full.graph.clone(), hidden, seed)
}

/// The same where training knows some of the links alone, even between other nodes.
pub(super) fn hiding_from(
    full: Whole<'_>,
    known: Graph,
    mut hidden: Vec<NodeId>,
    seed: u64,
) -> Result<TestSet, SplitError> {
    hidden.sort_unstable();
    let remaining = Stage::whole(known).hiding(&hidden);
    let links = links_of_new_nodes(full.graph, &hidden, |_| true);
    let pool = seen_and(&remaining.graph, &hidden);
    let rng = &mut split_stream(seed, SplitPurpose::TestNegatives);
    let pairs = with_negatives(links, &hidden, &pool, &mut Negatives::of(full), rng);
    TestSet { hidden, pairs, remaining, given: Vec::new() }.checked()
}

/// Each link of a new node once, the new end first, where `wanted` wants the other end. `new` is sorted.
pub(super) fn links_of_new_nodes(links: &Graph, new: &[NodeId], wanted: impl Fn(NodeId) -> bool) -> Vec<Pair> {
    let is_new = |node: NodeId| new.binary_search(&node).is_ok();
    let row = |node: NodeId| links.neighbors(node).iter().map(move |&other| (node, other));
    let rows = new.iter().flat_map(|&node| row(node));
    rows.filter(|&(node, other)| (node < other || !is_new(other)) && wanted(other)).map(Pair::linked).collect()
}

/// The links, followed by a negative for each that keeps its new end; of two new ends, either.
pub(super) fn with_negatives(
    links: Vec<Pair>,
    new: &[NodeId],
    pool: &[NodeId],
    negatives: &mut Negatives<'_>,
    rng: &mut impl rand::Rng,
) -> Vec<Pair> {
    let mut others = vec![Vec::new(); new.len()];
    for link in &links {
        let (kept, other) = match (new.binary_search(&link.source), new.binary_search(&link.target)) {
            (Ok(source), Ok(target)) if rng.random() => (source, new[target]),
            (Ok(_), Ok(target)) => (target, link.source),
            (Ok(source), Err(_)) => (source, link.target),
            (_, target) => (target.expect("each link has a new end"), link.source),
        };
        others[kept].push(other);
    }
    let (pools, mut pairs) = (negatives.pools(pool), links);
    for (&node, others) in new.iter().zip(others) {
        pairs.extend(negatives.like(node, others.into_iter(), &pools, rng));
    }
    pairs
}

/// The nodes with a training link, and the new ones; in order.
pub(super) fn seen_and(training: &Graph, new: &[NodeId]) -> Vec<NodeId> {
    let nodes = 0..training.nodes() as NodeId;
    nodes.filter(|node| training.degree(*node) > 0 || new.binary_search(node).is_ok()).collect()
}
