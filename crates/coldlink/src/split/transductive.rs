//! Links between known nodes: a tenth of them for the test, a tenth for validation, the rest to train on.

use rand::seq::SliceRandom;

use super::draw::{tenth, validation_links};
use super::validation::{self, ValidationSet};
use super::{Negatives, Pair, SplitError, Stage, TestSet, Whole};
use crate::graph::{Graph, NodeId};
use crate::random::{SplitPurpose, split_stream};

pub(super) fn test_set(full: Whole<'_>, seed: u64) -> Result<TestSet, SplitError> {
    let whole = Stage::whole(full.graph.clone());
    let links = draw_links(full.graph, tenth(full.graph.links()), seed, SplitPurpose::TestLinks);
    let remaining = whole.without(&links);
    let rng = &mut split_stream(seed, SplitPurpose::TestNegatives);
    let pairs = validation::with_as_many_negatives(links, &whole, &mut Negatives::of(full), rng);
    TestSet { hidden: Vec::new(), pairs, remaining, given: Vec::new() }.checked()
}

/// As many links as are tested on; a node may lose its last one.
pub(super) fn validation_set(full: Whole<'_>, test: &TestSet, seed: u64) -> Result<ValidationSet, SplitError> {
    let count = validation_links(tenth(full.graph.links()));
    let links = draw_links(&test.remaining.graph, count, seed, SplitPurpose::ValidationLinks);
    let search = test.remaining.without(&links);
    let rng = &mut split_stream(seed, SplitPurpose::ValidationNegatives);
    let negatives = &mut Negatives::avoiding(full, &test.pairs);
    let pairs = validation::with_as_many_negatives(links, &test.remaining, negatives, rng);
    ValidationSet { search, pairs }.checked(super::Validation::Edges)
}

fn draw_links(graph: &Graph, count: usize, seed: u64, purpose: SplitPurpose) -> Vec<Pair> {
    let mut links: Vec<(NodeId, NodeId)> = graph.iter_links().collect();
    let (drawn, _) = links.partial_shuffle(&mut split_stream(seed, purpose), count);
    drawn.iter().copied().map(Pair::linked).collect()
}
