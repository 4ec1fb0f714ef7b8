//! The test set of the paper's authors, which is the one of Graph2Gauss: nodes drawn, and nodes left dangling by that.

use rand::Rng;

use super::draw::{draw, tenth, validation_nodes};
use super::validation::ValidationSet;
use super::{Negatives, Pair, SplitError, Stage, TestSet, Whole};
use crate::config::Validation;
use crate::graph::NodeId;
use crate::random::{SplitPurpose, split_stream};

pub(super) fn test_set(full: Whole<'_>, seed: u64) -> Result<TestSet, SplitError> {
    let nodes: Vec<NodeId> = (0..full.graph.nodes() as NodeId).collect();
    let drawn = draw(&nodes, tenth(nodes.len()), &mut split_stream(seed, SplitPurpose::TestNodes));
    deal2020_from_drawn(full, &drawn, &mut split_stream(seed, SplitPurpose::TestNegatives))
}

/// The test set of given drawn nodes.
pub(super) fn deal2020_from_drawn(
    full: Whole<'_>,
    drawn: &[NodeId],
    rng: &mut impl Rng,
) -> Result<TestSet, SplitError> {
    hide(&Stage::whole(full.graph.clone()), drawn, &mut Negatives::of(full), rng).checked()
}

/// What is validated on: the same again, with what the test set leaves.
pub(super) fn validation_set(full: Whole<'_>, test: &TestSet, seed: u64) -> Result<ValidationSet, SplitError> {
    let visible = test.remaining.visible_nodes();
    let drawn = draw(&visible, validation_nodes(visible.len()), &mut split_stream(seed, SplitPurpose::ValidationNodes));
    let rng = &mut split_stream(seed, SplitPurpose::ValidationNegatives);
    let TestSet { pairs, remaining, .. } =
        hide(&test.remaining, &drawn, &mut Negatives::avoiding(full, &test.pairs), rng);
    ValidationSet { search: remaining, pairs }.checked(Validation::Nodes)
}

/// Hides the drawn nodes and all that have no link left without them.
///
/// Each *entry* of the hidden list asks for as many negatives as it has links, and a drawn node has two entries: its own
/// and the one as a node without links. So there are more than two negatives to a positive. Other than in the
/// authors' file, no pair is drawn twice and no node is its own negative.
fn hide(stage: &Stage, drawn: &[NodeId], negatives: &mut Negatives<'_>, rng: &mut impl Rng) -> TestSet {
    let pool = stage.visible_nodes();
    let hidden: Vec<NodeId> = {
        let left = stage.hiding(drawn).graph;
        pool.iter().copied().filter(|&node| left.degree(node) == 0).collect()
    };
    let remaining = stage.hiding(&hidden);
    let is_hidden = |node: NodeId| !remaining.visible[node as usize];
    let links = stage.graph.iter_links().filter(|&(a, b)| is_hidden(a) || is_hidden(b));
    let mut pairs: Vec<Pair> = links.map(|link| Pair::linked(link).new_end_first(is_hidden)).collect();
    let pools = negatives.pools(&pool);
    for &entry in drawn.iter().chain(&hidden) {
        pairs.extend(negatives.like(entry, stage.graph.neighbors(entry).iter().copied(), &pools, rng));
    }
    TestSet { hidden, pairs, remaining, given: Vec::new() }
}
