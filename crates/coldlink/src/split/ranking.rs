//! Questions of the kind "which of all candidates are this node's links?", filtered.

use std::sync::Arc;

use super::Pair;
use crate::graph::{Graph, NodeId, NodeTypes, type_of};

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
    /// The candidates, sorted, where they are fewer than all: those of the targets' kind.
    pub among: Option<Arc<[NodeId]>>,
}

/// Who asks, who may be an answer, and what is known to be linked.
pub(super) struct Ranking<'a, Asks, Answers> {
    pub asks: Asks,
    pub answers: Answers,
    pub known: &'a [&'a Graph],
    /// Kinds of nodes: a query is about one of them.
    pub types: Option<&'a NodeTypes>,
}

impl<Asks: Fn(NodeId) -> bool, Answers: Fn(NodeId) -> bool> Ranking<'_, Asks, Answers> {
    /// One query for each node that asks and has a link among `pairs` to a candidate, and for each kind of these; in order of the
    /// nodes.
    pub(super) fn queries(&self, pairs: &[Pair]) -> Vec<RankingQuery> {
        let links = pairs.iter().filter(|pair| pair.linked && !pair.is_loop());
        let directed = links.flat_map(|pair| [(pair.source, pair.target), (pair.target, pair.source)]);
        let mut asked: Vec<_> = directed.filter(|&(ask, answer)| (self.asks)(ask) && (self.answers)(answer)).collect();
        let kind = |link: &(NodeId, NodeId)| (link.0, type_of(self.types, link.1));
        asked.sort_unstable_by_key(|link| (kind(link), link.1));
        asked.dedup();
        let among: Vec<Option<Arc<[NodeId]>>> = match self.types {
            Some(types) => {
                let all = (0..types.all().len() as NodeId).filter(|&node| (self.answers)(node)).collect::<Vec<_>>();
                types.group(&all).into_iter().map(|group| Some(group.into())).collect()
            }
            None => vec![None],
        };
        let query = |group: &[(NodeId, NodeId)]| {
            let (source, kind) = kind(&group[0]);
            self.query(source, group.iter().map(|link| link.1).collect(), among[kind].clone())
        };
        asked.chunk_by(|one, other| kind(one) == kind(other)).map(query).collect()
    }

    fn query(&self, source: NodeId, targets: Vec<NodeId>, among: Option<Arc<[NodeId]>>) -> RankingQuery {
        let known = self.known.iter().flat_map(|graph| graph.neighbors(source)).copied().chain([source]);
        let is_filtered = |node: &NodeId| (self.answers)(*node) && targets.binary_search(node).is_err();
        let mut exclude: Vec<NodeId> = known.filter(is_filtered).collect();
        exclude.sort_unstable();
        exclude.dedup();
        RankingQuery { source, targets, exclude, among }
    }
}
