//! What is known of pairs of two known nodes where no link between such was held back: validation nodes join the graph with most of
//! their links, as known nodes, and are asked for the others.

use rand::RngExt;

use super::fit::{Examples, FEWEST};
use super::{Embeddings, Evidence, Side, Terms};
use crate::graph::{Graph, NodeId};
use crate::random::{Purpose, seed_for, stream};
use crate::split::RankingQuery;

/// A node joins without one in so many of its links, and is asked for these; then without the next.
const FOLDS: u64 = 10;
/// Linked pairs that are enough: with these a weight's standard error is a tenth of what moves a score by 1.
const ENOUGH: usize = 1_000;
/// Unlinked pairs for each that is linked: as probabilities are asked for where links are rare, the fit shall be good there.
const UNLINKED: usize = 4;
/// Draws for an unlinked pair, before there is taken to be none.
const TRIES: usize = 20;

/// A pair of known nodes: the role of the one that looks, the terms, and whether the two are linked.
pub(super) type KnownPair = (usize, Terms, bool);

/// Pairs of validation nodes that joined and nodes that were known before; none where they are too few. Of the linked ones each has the
/// same chance to be here, and of the unlinked ones too.
pub(super) fn known_pairs(evidence: &Evidence<'_>, examples: &Examples<'_>) -> Vec<KnownPair> {
    let mut pairs = Vec::new();
    let mut linked = 0;
    for fold in 0..FOLDS {
        let found = Fold::of(evidence, examples, fold).pairs(evidence);
        linked += found.iter().filter(|pair| pair.2).count();
        pairs.extend(found);
        if linked >= ENOUGH {
            break;
        }
    }
    if linked < FEWEST { Vec::new() } else { pairs }
}

/// Links that nodes join with, and pairs that are asked about then.
struct Fold {
    given: Vec<(NodeId, NodeId)>,
    asked: Vec<(NodeId, NodeId)>,
    linked: Vec<bool>,
}

impl Fold {
    fn of(evidence: &Evidence<'_>, examples: &Examples<'_>, fold: u64) -> Self {
        let fold_of = |source: NodeId, target: NodeId| {
            seed_for(examples.seed, Purpose::JoiningLinks, source.into(), target.into()) % FOLDS
        };
        let (mut given, mut asked, mut asking) = (Vec::new(), Vec::new(), Vec::new());
        for query in examples.joining.iter().filter(|query| !evidence.is_warm(query.source)) {
            let is_held = |target: &NodeId| fold_of(query.source, *target) == fold;
            let (held, kept): (Vec<NodeId>, Vec<NodeId>) = query.targets.iter().copied().partition(is_held);
            // Without a link it would be a new node still. And it is the source that looks for targets.
            if !kept.is_empty() && evidence.role(query.source) <= evidence.opposite_role(query.source) {
                asked.extend(held.into_iter().map(|target| (query.source, target)));
                asking.push(query);
            }
            given.extend(kept.into_iter().map(|target| (query.source, target)));
        }
        // Those that join have links with one another, too.
        let mut joined: Vec<NodeId> = given.iter().map(|link: &(NodeId, NodeId)| link.0).collect();
        joined.sort_unstable();
        joined.dedup();
        let is_joined = |node: NodeId| joined.binary_search(&node).is_ok();
        let between =
            examples.pairs.iter().filter(|pair| pair.linked && is_joined(pair.source) && is_joined(pair.target));
        given.extend(between.flat_map(|pair| [(pair.source, pair.target), (pair.target, pair.source)]));
        let mut linked = vec![true; asked.len()];
        let random = &mut stream(examples.seed, Purpose::JoiningLinks, u64::MAX, fold);
        let each = (UNLINKED * linked.len()).div_ceil(asking.len().max(1));
        for query in asking {
            asked.extend((0..each).filter_map(|_| Some((query.source, unlinked(evidence, query, random)?))));
        }
        linked.resize(asked.len(), false);
        Fold { given, asked, linked }
    }

    /// The pairs as they are in the graph that all have joined.
    fn pairs(&self, evidence: &Evidence<'_>) -> Vec<KnownPair> {
        if !self.linked.contains(&true) {
            return Vec::new();
        }
        let links = evidence.graph.iter_links().chain(self.given.iter().copied());
        let graph = Graph::from_links(evidence.graph.nodes(), links).carrying_as(evidence.graph);
        let embeddings = self.embeddings(evidence);
        let side = Side { embeddings: &embeddings, words: evidence.known.words };
        let joined = Evidence::new(&graph, side).in_roles(evidence.roles);
        let terms = joined.terms(&self.asked);
        let pairs = self.asked.iter().zip(terms).zip(&self.linked);
        pairs.map(|((&(source, _), terms), &linked)| (evidence.role(source), terms, linked)).collect()
    }

    /// All embeddings, with structure embeddings by fold-in for nodes that joined.
    fn embeddings(&self, evidence: &Evidence<'_>) -> Embeddings {
        let mut embeddings = evidence.known.embeddings.clone();
        let mut given = self.given.clone();
        given.sort_unstable();
        for links in given.chunk_by(|one, other| one.0 == other.0) {
            let (node, linked): (NodeId, Vec<NodeId>) = (links[0].0, links.iter().map(|link| link.1).collect());
            let structure = evidence.fold_in(node, &linked);
            embeddings.structure.chunk_row_mut(node as usize).copy_from_slice(&structure);
            embeddings.warm[node as usize] = true;
        }
        embeddings
    }
}

/// A candidate of a question that is not linked with its node.
fn unlinked(evidence: &Evidence<'_>, query: &RankingQuery, random: &mut impl rand::Rng) -> Option<NodeId> {
    let candidates = query.among.as_deref().unwrap_or_else(|| evidence.warm.nodes());
    let is_other = |node: &NodeId| {
        *node != query.source
            && evidence.is_warm(*node)
            && query.targets.binary_search(node).is_err()
            && query.exclude.binary_search(node).is_err()
    };
    let draw = |_| (!candidates.is_empty()).then(|| candidates[random.random_range(0..candidates.len())]);
    (0..TRIES).filter_map(draw).find(is_other)
}
