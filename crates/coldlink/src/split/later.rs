//! Test sets by when links appeared: a moment divides them, and what came later is tested.
//!
//! Training knows no link from the moment on, whether it is tested or not, as if it had been the day before.

use super::draw::{tenth, validation_links, validation_nodes};
use super::validation::{self, ValidationSet};
use super::{Negatives, Pair, SplitError, SplitPurpose, Stage, TestSet, Whole, split_stream, strict};
use crate::config::Validation;
use crate::graph::{Graph, NodeId};

/// Nodes that have no link from before: all of their links are tested.
pub(super) fn new_nodes(whole: Whole<'_>, seed: u64) -> Result<TestSet, SplitError> {
    let later = Later::of_nodes(whole, whole.graph, tenth)?;
    strict::hiding_from(whole, later.known, later.nodes, seed)
}

/// What is validated on: the same again, with what the test set leaves.
pub(super) fn new_validation_nodes(whole: Whole<'_>, test: &TestSet, seed: u64) -> Result<ValidationSet, SplitError> {
    let later = Later::of_nodes(whole, &test.remaining.graph, validation_nodes)?;
    let known = Stage::new(later.known, test.remaining.visible.clone());
    validation::hiding_from(whole, &test.remaining, known, (&test.pairs, later.nodes, seed))
}

/// Later links between nodes that have links from before.
pub(super) fn links(whole: Whole<'_>, seed: u64) -> Result<TestSet, SplitError> {
    let later = Later::of_links(whole, whole.graph, tenth)?;
    // Nodes that come later are not known to anyone.
    let mut visible = vec![true; whole.graph.nodes()];
    later.nodes.iter().for_each(|&node| visible[node as usize] = false);
    let (links, remaining) = later.split(visible);
    let rng = &mut split_stream(seed, SplitPurpose::TestNegatives);
    let pairs = validation::with_as_many_negatives(links, &remaining, &mut Negatives::of(whole), rng);
    TestSet { hidden: Vec::new(), pairs, remaining, given: Vec::new() }.checked()
}

/// What is validated on: the same again, with what the test set leaves. Nodes that come in between are known to the test, so their
/// attributes may be looked at.
pub(super) fn validation_set(whole: Whole<'_>, test: &TestSet, seed: u64) -> Result<ValidationSet, SplitError> {
    let later = Later::of_links(whole, &test.remaining.graph, |links| validation_links(tenth(links)))?;
    let (links, search) = later.split(test.remaining.visible.clone());
    let rng = &mut split_stream(seed, SplitPurpose::ValidationNegatives);
    let pairs = validation::with_as_many_negatives(links, &search, &mut Negatives::avoiding(whole, &test.pairs), rng);
    ValidationSet { search, pairs }.checked(Validation::Edges)
}

/// What a moment leaves of a graph.
struct Later {
    /// The links from before.
    known: Graph,
    /// Those from later.
    links: Vec<(NodeId, NodeId)>,
    /// The nodes that have links, and none from before; role nodes, in order.
    nodes: Vec<NodeId>,
}

impl Later {
    /// The moment from which on about so many of the nodes with links are new.
    fn of_nodes(whole: Whole<'_>, graph: &Graph, share: fn(usize) -> usize) -> Result<Self, SplitError> {
        let entries = |node: NodeId| whole.roles.all_of(&[node]).into_iter().flat_map(|node| graph.entries(node));
        let times = graph.times().ok_or(SplitError::NoLinkTimes)?;
        let first = |node: NodeId| entries(node).map(|entry| times[entry]).min_by(f64::total_cmp);
        let nodes = (graph.nodes() / whole.roles.count()) as NodeId;
        let firsts: Vec<f64> = (0..nodes).filter_map(first).collect();
        let moment = moment(firsts, share).ok_or(SplitError::NothingLater { what: "node" })?;
        Ok(Later::from(whole, graph, moment))
    }

    /// The moment from which on there are about so many of the links.
    fn of_links(whole: Whole<'_>, graph: &Graph, share: fn(usize) -> usize) -> Result<Self, SplitError> {
        let times = graph.times().ok_or(SplitError::NoLinkTimes)?;
        let moment =
            moment(times.to_vec(), |both| 2 * share(both / 2)).ok_or(SplitError::NothingLater { what: "link" })?;
        Ok(Later::from(whole, graph, moment))
    }

    fn from(whole: Whole<'_>, graph: &Graph, moment: f64) -> Self {
        let known = graph.before(moment);
        let has_links =
            |graph: &Graph, node: NodeId| whole.roles.all_of(&[node]).into_iter().any(|node| graph.degree(node) > 0);
        let nodes = (graph.nodes() / whole.roles.count()) as NodeId;
        let new: Vec<NodeId> = (0..nodes).filter(|&node| has_links(graph, node) && !has_links(&known, node)).collect();
        let links = graph.iter_links().filter(|&(a, b)| !known.has_link(a, b)).collect();
        Later { links, nodes: whole.roles.all_of(&new), known }
    }

    /// The later links between nodes that are not new, and a stage without any later link.
    fn split(self, visible: Vec<bool>) -> (Vec<Pair>, Stage) {
        let is_known = |node: &NodeId| self.nodes.binary_search(node).is_err();
        let links = self.links.iter().filter(|(a, b)| is_known(a) && is_known(b));
        (links.copied().map(Pair::linked).collect(), Stage::new(self.known, visible))
    }
}

/// The moment from which on about so many of the times are; later than the first of them, or nothing where all are the same. Where many
/// are the same, it is the one that comes closest.
fn moment(mut times: Vec<f64>, share: impl Fn(usize) -> usize) -> Option<f64> {
    times.sort_unstable_by(f64::total_cmp);
    let (first, wanted) = (*times.first()?, share(times.len()));
    let at = times[times.len() - wanted.clamp(1, times.len())];
    let after = |time: f64| times[times.partition_point(|&other| other <= time)..].first().copied();
    let count = |time: f64| times.len() - times.partition_point(|&other| other < time);
    match (at > first, after(at)) {
        // As many times too many as there would be too few.
        (true, Some(next)) if count(at) * count(next) >= wanted * wanted => Some(next),
        (true, _) => Some(at),
        (false, next) => next,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_leaves_about_as_many_as_are_wanted_and_never_all() {
        let check =
            |times: &[f64], expected: Option<f64>| assert_eq!(moment(times.to_vec(), |_| 2), expected, "{times:?}");
        check(&[1.0, 2.0, 3.0, 4.0, 5.0], Some(4.0));
        check(&[5.0, 1.0, 3.0, 3.0, 3.0], Some(5.0));
        check(&[1.0, 3.0, 3.0, 3.0, 3.0], Some(3.0));
        check(&[1.0, 1.0, 1.0, 1.0, 9.0], Some(9.0));
        check(&[1.0, 2.0, 2.0, 3.0], Some(2.0));
        check(&[f64::NEG_INFINITY, f64::NEG_INFINITY, 3.0, 3.0], Some(3.0));
        check(&[7.0, 7.0, 7.0], None);
        check(&[7.0], None);
        check(&[], None);
    }
}
