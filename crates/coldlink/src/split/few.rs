//! The test set of new nodes with a few links: that of [`super::strict`], but each test node keeps some links.

use rand::seq::SliceRandom;

use super::draw::tenth;
use super::{Negatives, SplitError, Stage, TestSet, Whole, strict};
use crate::graph::NodeId;
use crate::random::{SplitPurpose, split_stream};

/// What is trained on and validated on is as under the protocol `strict` with the same seed. In each role a test node keeps `links` of
/// its links to warm nodes, drawn in an order that does not depend on how many are kept; of so few that none would be left to test,
/// all but one.
pub(super) fn test_set(full: Whole<'_>, links: usize, seed: u64) -> Result<TestSet, SplitError> {
    let nodes: Vec<NodeId> = (0..full.graph.nodes() as NodeId).collect();
    let mut hidden = full.draw(&nodes, tenth, &mut split_stream(seed, SplitPurpose::TestNodes));
    hidden.sort_unstable();
    let remaining = Stage::whole(full.graph.clone()).hiding(&hidden);
    let given = given(full, &remaining, (&hidden, links), seed);
    let mut known = given.clone();
    known.sort_unstable();
    let mut tested = strict::links_of_new_nodes(full.graph, &hidden, |_| true);
    tested.retain(|pair| known.binary_search(&(pair.source, pair.target)).is_err());
    let pool = strict::seen_and(&remaining.graph, &hidden);
    let rng = &mut split_stream(seed, SplitPurpose::TestNegatives);
    let pairs = strict::with_negatives(tested, &hidden, &pool, &mut Negatives::of(full), rng);
    TestSet { hidden, pairs, remaining, given }.checked()
}

/// Links that test nodes keep, node by node in the order of the draw.
fn given(full: Whole<'_>, remaining: &Stage, (hidden, links): (&[NodeId], usize), seed: u64) -> Vec<(NodeId, NodeId)> {
    let rng = &mut split_stream(seed, SplitPurpose::GivenLinks);
    let mut kept = Vec::new();
    for &node in hidden {
        let to_warm = full.graph.neighbors(node).iter().copied().filter(|&other| remaining.graph.degree(other) > 0);
        let mut to_warm: Vec<NodeId> = to_warm.collect();
        to_warm.shuffle(rng);
        let count = links.min(to_warm.len().saturating_sub(1));
        kept.extend(to_warm.into_iter().take(count).map(|other| (node, other)));
    }
    kept
}
