//! The test set of the paper's authors, which is the one of Graph2Gauss: nodes drawn, and nodes left dangling by that.

use rand::Rng;

use super::validation::ValidationSet;
use super::{Negatives, Pair, SplitError, Stage, TestSet, Whole};
use crate::config::Validation;
use crate::graph::NodeId;
use crate::random::{SplitPurpose, split_stream};

pub(super) fn test_set(full: Whole<'_>, seed: u64) -> Result<TestSet, SplitError> {
    let nodes: Vec<NodeId> = (0..full.graph.nodes() as NodeId).collect();
    let drawn = full.draw(&nodes, &mut split_stream(seed, SplitPurpose::TestNodes));
    deal2020_from_drawn(full, &drawn, &mut split_stream(seed, SplitPurpose::TestNegatives))
}

/// The test set of given drawn nodes.
pub(super) fn deal2020_from_drawn(
    full: Whole<'_>,
    drawn: &[NodeId],
    rng: &mut impl Rng,
) -> Result<TestSet, SplitError> {
    hide(full, &Stage::whole(full.graph.clone()), drawn, (&mut Negatives::of(full), rng)).checked()
}

/// What is validated on: the same again, with what the test set leaves.
pub(super) fn validation_set(full: Whole<'_>, test: &TestSet, seed: u64) -> Result<ValidationSet, SplitError> {
    let visible = test.remaining.visible_nodes();
    let drawn = full.draw(&visible, &mut split_stream(seed, SplitPurpose::ValidationNodes));
    let rng = &mut split_stream(seed, SplitPurpose::ValidationNegatives);
    let TestSet { pairs, remaining, .. } =
        hide(full, &test.remaining, &drawn, (&mut Negatives::avoiding(full, &test.pairs), rng));
    ValidationSet { search: remaining, pairs }.checked(Validation::Nodes)
}

/// Hides the drawn nodes and all that have no link left without them.
///
/// Each *entry* of the hidden list asks for as many negatives as it has links, and a drawn node has two entries: its own
/// and the one as a node without links. So there are more than two negatives to a positive. Other than in the
/// authors' file, no pair is drawn twice and no node is its own negative.
///
/// A node goes in all of its roles, once it has no link left in any.
fn hide(
    full: Whole<'_>,
    stage: &Stage,
    drawn: &[NodeId],
    (negatives, rng): (&mut Negatives<'_>, &mut impl Rng),
) -> TestSet {
    let pool = stage.visible_nodes();
    let hidden: Vec<NodeId> = {
        let left = stage.hiding(drawn).graph;
        let roles = full.roles.count();
        let is_left = |of_node: &[NodeId]| of_node.iter().any(|&role_node| left.degree(role_node) > 0);
        pool.chunks(roles).filter(|of_node| !is_left(of_node)).flatten().copied().collect()
    };
    let remaining = stage.hiding(&hidden);
    let is_hidden = |node: NodeId| !remaining.visible[node as usize];
    let links = stage.graph.iter_links().filter(|&(a, b)| is_hidden(a) || is_hidden(b));
    let mut pairs: Vec<Pair> = links.map(|link| Pair::linked(link).new_end_first(is_hidden)).collect();
    let pools = negatives.pools(&pool);
    for &entry in drawn.iter().chain(&hidden) {
        pairs.extend(negatives.like(entry, stage.graph.neighbors(entry).iter().copied(), &pools, rng));
    }
    TestSet { hidden, pairs, remaining }
}
