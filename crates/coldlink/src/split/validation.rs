//! What steps and settings are chosen on, taken from what the test set leaves.

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use super::draw::{validation_links, validation_nodes};
use super::{Contents, Negatives, Pair, SplitError, Stage, Whole, strict};
use crate::config::Validation;
use crate::graph::{Graph, NodeId};
use crate::random::{SplitPurpose, split_stream};

/// Pairs to choose on, and what may be trained on meanwhile.
pub(super) struct ValidationSet {
    pub search: Stage,
    pub pairs: Vec<Pair>,
}

impl ValidationSet {
    /// The same, if there is something to train on and something to choose on.
    pub(super) fn checked(self, rule: Validation) -> Result<Self, SplitError> {
        if !self.pairs.iter().any(|pair| pair.linked) {
            return Err(SplitError::NoValidationLinks { rule });
        }
        if self.pairs.iter().all(|pair| pair.linked) {
            return Err(SplitError::NoUnlinkedPairs { set: "validation" });
        }
        if self.search.graph.links() == 0 {
            return Err(SplitError::NothingToTrainOn { set: "validation" });
        }
        Ok(self)
    }
}

/// Pairs that something is chosen or fitted on at the most: with half of them linked, the standard error of an AUC of .9 is .001
/// (Hanley and McNeil, 1982).
const MOST_PAIRS: usize = 100_000;

/// A tenth of the remaining links, rounded up as the authors did, but never a node's last one; where that leaves too
/// few, as many as there are. And as many unlinked pairs of visible nodes.
pub(super) fn edges(full: Whole<'_>, remaining: &Stage, test: &[Pair], seed: u64) -> Result<ValidationSet, SplitError> {
    let links = spare_links(&remaining.graph, &mut split_stream(seed, SplitPurpose::ValidationLinks));
    let search = remaining.without(&links);
    let rng = &mut split_stream(seed, SplitPurpose::ValidationNegatives);
    let pairs = with_as_many_negatives(links, remaining, &mut Negatives::avoiding(full, test), rng);
    ValidationSet { search, pairs }.checked(Validation::Edges)
}

fn spare_links(graph: &Graph, rng: &mut impl Rng) -> Vec<Pair> {
    let wanted = validation_links(graph.links().div_ceil(10));
    let mut degrees: Vec<usize> = (0..graph.nodes() as NodeId).map(|node| graph.degree(node)).collect();
    let mut links: Vec<(NodeId, NodeId)> = graph.iter_links().collect();
    links.shuffle(rng);
    let is_spare = |&(a, b): &(NodeId, NodeId)| {
        let spare = degrees[a as usize] > 1 && degrees[b as usize] > 1;
        if spare {
            degrees[a as usize] -= 1;
            degrees[b as usize] -= 1;
        }
        spare
    };
    links.into_iter().filter(is_spare).take(wanted).map(Pair::linked).collect()
}

/// The links, followed by as many unlinked pairs of nodes that are visible in `stage`.
pub(super) fn with_as_many_negatives(
    links: Vec<Pair>,
    stage: &Stage,
    negatives: &mut Negatives<'_>,
    rng: &mut impl Rng,
) -> Vec<Pair> {
    let unlinked = negatives.as_many_as(&links, &stage.visible_nodes(), rng);
    links.into_iter().chain(unlinked).collect()
}

/// A tenth of the visible nodes is hidden as well, and their links to warm nodes and to one another are asked for; a negative
/// to each keeps the new node, and no pair has a test node.
pub(super) fn nodes(full: Whole<'_>, remaining: &Stage, test: &[Pair], seed: u64) -> Result<ValidationSet, SplitError> {
    let visible = remaining.visible_nodes();
    let new = full.draw(&visible, validation_nodes, &mut split_stream(seed, SplitPurpose::ValidationNodes));
    hiding(full, remaining, test, (new, seed))
}

/// The same for given nodes.
pub(super) fn hiding(
    full: Whole<'_>,
    remaining: &Stage,
    test: &[Pair],
    (new, seed): (Vec<NodeId>, u64),
) -> Result<ValidationSet, SplitError> {
    let known = Stage::new(remaining.graph.clone(), remaining.visible.clone());
    hiding_from(full, remaining, known, (test, new, seed))
}

/// The same where the search knows some of the remaining links alone, even between other nodes.
pub(super) fn hiding_from(
    full: Whole<'_>,
    remaining: &Stage,
    known: Stage,
    (test, mut new, seed): (&[Pair], Vec<NodeId>, u64),
) -> Result<ValidationSet, SplitError> {
    new.sort_unstable();
    let search = known.hiding(&new);
    let pool = strict::seen_and(&search.graph, &new);
    let links = strict::links_of_new_nodes(&remaining.graph, &new, |node| pool.binary_search(&node).is_ok());
    let rng = &mut split_stream(seed, SplitPurpose::ValidationNegatives);
    let pairs = strict::with_negatives(links, &new, &pool, &mut Negatives::avoiding(full, test), rng);
    ValidationSet { search, pairs }.checked(Validation::Nodes)
}

/// See [`super::Split::validation_halves`].
pub(super) fn halves(contents: &Contents) -> [Vec<Pair>; 2] {
    let rng = &mut split_stream(contents.seed, SplitPurpose::ValidationHalves);
    let roles = &contents.roles;
    let half_of_node: Vec<bool> = (0..contents.full.nodes() / roles.count()).map(|_| rng.random()).collect();
    let mut halves = [Vec::new(), Vec::new()];
    for &pair in &contents.validation {
        let new = [pair.source, pair.target].into_iter().filter(|&end| !contents.search.visible[end as usize]);
        let mut of_ends = new.map(|end| half_of_node[roles.node(end) as usize]);
        let half = match (of_ends.next(), of_ends.next()) {
            (Some(one), Some(other)) if one != other => continue,
            (Some(half), _) => half,
            (None, _) => rng.random(),
        };
        halves[usize::from(half)].push(pair);
    }
    halves.map(|half| sample(contents, half))
}

/// About [`MOST_PAIRS`] of some validation pairs where there are more: those of nodes drawn at random, of each all.
pub(super) fn sample(contents: &Contents, pairs: Vec<Pair>) -> Vec<Pair> {
    if pairs.len() <= MOST_PAIRS {
        return pairs;
    }
    let share = MOST_PAIRS as f64 / pairs.len() as f64;
    let rng = &mut split_stream(contents.seed, SplitPurpose::ValidationSample);
    let roles = &contents.roles;
    let drawn: Vec<bool> = (0..contents.full.nodes() / roles.count()).map(|_| rng.random_bool(share)).collect();
    let asks = |pair: &Pair| {
        let is_new = |end: &NodeId| !contents.search.visible[*end as usize];
        [pair.source, pair.target].into_iter().find(is_new).unwrap_or(pair.source)
    };
    pairs.into_iter().filter(|pair| drawn[roles.node(asks(pair)) as usize]).collect()
}
