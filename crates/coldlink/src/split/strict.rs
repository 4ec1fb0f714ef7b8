//! The default test set: a tenth of the nodes, drawn uniformly, and as many negatives as they have links.

use rand::RngExt;

use super::random::{Purpose, draw, stream, tenth};
use super::{Negatives, Pair, SplitError, Stage, TestSet};
use crate::graph::{Graph, NodeId};

pub(super) fn test_set(full: &Graph, seed: u64) -> Result<TestSet, SplitError> {
    let whole = Stage::whole(full.clone());
    let mut hidden = draw(&whole.visible_nodes(), tenth(full.nodes()), &mut stream(seed, Purpose::TestNodes));
    hidden.sort_unstable();
    let remaining = whole.hiding(&hidden);
    let links = links_of_new_nodes(full, &hidden, |_| true);
    let pool = seen_and(&remaining.graph, &hidden);
    let rng = &mut stream(seed, Purpose::TestNegatives);
    let pairs = with_negatives(links, &hidden, &pool, &mut Negatives::of(full), rng);
    TestSet { hidden, pairs, remaining }.checked()
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
    let mut wanted = vec![0_usize; new.len()];
    for link in &links {
        let kept = match (new.binary_search(&link.source), new.binary_search(&link.target)) {
            (Ok(source), Ok(target)) => Some(if rng.random() { source } else { target }),
            (source, target) => source.or(target).ok(),
        };
        wanted[kept.expect("each link has a new end")] += 1;
    }
    let mut pairs = links;
    for (&node, &count) in new.iter().zip(&wanted) {
        pairs.extend(negatives.keeping(node, pool, count, rng));
    }
    pairs
}

/// The nodes with a training link, and the new ones; in order.
pub(super) fn seen_and(training: &Graph, new: &[NodeId]) -> Vec<NodeId> {
    let nodes = 0..training.nodes() as NodeId;
    nodes.filter(|node| training.degree(*node) > 0 || new.binary_search(node).is_ok()).collect()
}
