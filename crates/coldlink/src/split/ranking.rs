//! Questions of the kind "which of all candidates are this node's links?", filtered.

use super::Pair;
use crate::graph::{Graph, NodeId};

/// A node that ranks all candidates, and which of them are right.
///
/// While one target is ranked, the other targets and `exclude` are no candidates: they are right too, or known already.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankingQuery {
    /// The node that asks.
    pub source: NodeId,
    /// The right answers, sorted; each is a candidate.
    pub targets: Vec<NodeId>,
    /// Candidates that count neither as right nor as wrong: known links and the source itself. Sorted, apart from `targets`.
    pub exclude: Vec<NodeId>,
}

/// Who asks, who may be an answer, and what is known to be linked.
pub(super) struct Ranking<'a, Asks, Answers> {
    pub asks: Asks,
    pub answers: Answers,
    pub known: &'a [&'a Graph],
}

impl<Asks: Fn(NodeId) -> bool, Answers: Fn(NodeId) -> bool> Ranking<'_, Asks, Answers> {
    /// One query for each node that asks and has a link among `pairs` to a candidate; in order of the nodes.
    pub(super) fn queries(&self, pairs: &[Pair]) -> Vec<RankingQuery> {
        let links = pairs.iter().filter(|pair| pair.linked && !pair.is_loop());
        let directed = links.flat_map(|pair| [(pair.source, pair.target), (pair.target, pair.source)]);
        let mut asked: Vec<_> = directed.filter(|&(ask, answer)| (self.asks)(ask) && (self.answers)(answer)).collect();
        asked.sort_unstable();
        asked.dedup();
        let by_source = asked.chunk_by(|one, other| one.0 == other.0);
        by_source.map(|group| self.query(group[0].0, group.iter().map(|link| link.1).collect())).collect()
    }

    fn query(&self, source: NodeId, targets: Vec<NodeId>) -> RankingQuery {
        let known = self.known.iter().flat_map(|graph| graph.neighbors(source)).copied().chain([source]);
        let is_filtered = |node: &NodeId| (self.answers)(*node) && targets.binary_search(node).is_err();
        let mut exclude: Vec<NodeId> = known.filter(is_filtered).collect();
        exclude.sort_unstable();
        exclude.dedup();
        RankingQuery { source, targets, exclude }
    }
}
