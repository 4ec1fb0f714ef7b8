//! The most likely links of new nodes, and the scores of pairs.

use std::ops::Range;

use rayon::prelude::*;
use serde::Deserialize;

use super::{EncodedNodes, Model};
use crate::dataset::End;
use crate::graph::{NodeId, Roles};
use crate::index::{ExactIndex, Hit, best};
use crate::kernel::Matrix;
use crate::score::{EmbeddingScorer, Embeddings, LinkScorer, Scorer};

/// Where targets are looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Among {
    /// Among known nodes.
    #[default]
    Known,
    /// Among the other new nodes.
    New,
    /// Among all of them.
    Both,
}

/// Which links are looked for, and how they are ranked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan<'a> {
    /// How many links of each new node.
    pub count: usize,
    /// Where they are looked for.
    pub among: Among,
    /// How many of the links at least lead to new candidates, which are new nodes and nodes of the graph without links, as far as
    /// there are so many.
    pub explored: usize,
    /// Nodes that are passed over, in rising order; new ones are numbered after those of the graph.
    pub excluded: &'a [NodeId],
    /// The role of the new nodes.
    pub role: usize,
    /// The node type that is wanted; without it, types that are linked with the new node's. Without effect where all nodes are of
    /// one type.
    pub node_type: Option<usize>,
    /// From 1, as scored, down to 0, where a node's many links are no argument for it. Without effect on a score by λ.
    pub popularity: f32,
}

impl Plan<'_> {
    /// The best nodes of the graph, as scored.
    pub fn best(count: usize) -> Self {
        Plan { count, among: Among::Known, explored: 0, excluded: &[], role: 0, node_type: None, popularity: 1.0 }
    }

    /// The nodes that are looked through, where there are so many known and new ones in all roles.
    pub(super) fn candidates(&self, known: usize, new: usize, roles: &Roles) -> Vec<NodeId> {
        let range = match self.among {
            Among::Known => 0..known,
            Among::New => known..known + new,
            Among::Both => 0..known + new,
        };
        let all = range.skip(roles.opposite(self.role)).step_by(roles.count()).map(|node| node as NodeId);
        all.filter(|node| self.excluded.binary_search(node).is_err()).collect()
    }
}

impl Model {
    /// The scores of pairs of which each end is a new node or one of the graph.
    pub fn score_pairs(&self, new: &EncodedNodes, pairs: &[(End, End)]) -> Vec<f32> {
        let Some(scorer) = self.link_scorer(new) else { return self.score_by_lambda(new, pairs) };
        scorer.scores(&pairs.iter().map(|&(a, b)| (self.number(a), self.number(b))).collect::<Vec<_>>())
    }

    /// The likeliest links of some of the new nodes, best first by what is wanted; their scores are those of the model. New nodes
    /// that are found are numbered after those of the graph. Nodes of the graph are found through the index, where there is one.
    pub fn best_links(&self, new: &EncodedNodes, rows: Range<usize>, plan: Plan<'_>) -> Vec<Vec<Hit>> {
        let scorer = self.link_scorer(new);
        match &self.index {
            // New candidates need not be among the few that an index finds.
            Some(index) if plan.among == Among::Known && plan.explored == 0 => {
                let exact = |row: usize| self.best_of_all(scorer.as_ref(), new, row..row + 1, plan).remove(0);
                // Links of its own reach nodes that the index does not find.
                let is_linked =
                    |row: usize| new.given.of(self.number(End::New(self.roles.at(row as NodeId, plan.role)))).is_some();
                let find = |row| {
                    let found =
                        if is_linked(row) { None } else { self.retrieve(index, scorer.as_ref(), new, row, plan) };
                    found.unwrap_or_else(|| exact(row))
                };
                rows.into_par_iter().map(find).collect()
            }
            _ => self.best_of_all(scorer.as_ref(), new, rows, plan),
        }
    }

    /// The same by scoring every node.
    pub(super) fn best_of_all(
        &self,
        scorer: Option<&LinkScorer<'_>>,
        new: &EncodedNodes,
        rows: Range<usize>,
        plan: Plan<'_>,
    ) -> Vec<Vec<Hit>> {
        let candidates = plan.candidates(self.role_nodes(), new.embeddings.nodes(), &self.roles);
        if let Some(scorer) = scorer {
            let penalty = |node: NodeId| scorer.evidence.popularity(node) * (1.0 - plan.popularity);
            let own = |row: usize| self.number(End::New(self.roles.at(row as NodeId, plan.role)));
            let wanted = |row: usize, node: NodeId| {
                self.is_candidate(new, row, plan, node) && !self.is_ruled_out(new, own(row), node)
            };
            return self.best_of(scorer, (rows, plan), &candidates, penalty, wanted);
        }
        let is_simple = plan.among == Among::Known && plan.excluded.is_empty() && plan.explored == 0;
        if is_simple && self.types.is_none() && self.roles.is_plain() {
            return self.best_by_dense(new, rows, plan.count);
        }
        let all = Embeddings::concatenated(&[&self.embeddings(), &new.embeddings]).expect("all rows have one width");
        let scorer = EmbeddingScorer { embeddings: &all, lambda: self.lambda() };
        let wanted = |row: usize, node: NodeId| self.is_candidate(new, row, plan, node);
        self.best_of(&scorer, (rows, plan), &candidates, |_| 0.0, wanted)
    }

    /// The best nodes of the graph by the dense part of the score alone.
    pub fn best_by_dense(&self, new: &EncodedNodes, rows: Range<usize>, count: usize) -> Vec<Vec<Hit>> {
        let queries = &new.embeddings.attributes;
        let part = Matrix::from_fn(rows.len(), queries.columns(), |row, column| queries.row(rows.start + row)[column]);
        ExactIndex::new(self.search_vectors()).search(&self.query_vectors(&part), count)
    }

    /// The best candidates for each new node of `rows` that are wanted for it by their scores less a penalty, never the node
    /// itself.
    fn best_of(
        &self,
        scorer: &impl Scorer,
        (rows, plan): (Range<usize>, Plan<'_>),
        candidates: &[NodeId],
        penalty: impl Fn(NodeId) -> f32 + Sync,
        wanted: impl Fn(usize, NodeId) -> bool + Sync,
    ) -> Vec<Vec<Hit>> {
        let find = |scores: &mut Vec<f32>, row: usize| {
            let own = self.number(End::New(self.roles.at(row as NodeId, plan.role)));
            scorer.scores_against(own, candidates, scores);
            let places = (0..candidates.len()).filter(|&place| {
                self.roles.node(candidates[place]) != self.roles.node(own) && wanted(row, candidates[place])
            });
            let ranked = places.map(|place| (place as NodeId, scores[place] - penalty(candidates[place])));
            let hit = |hit: Hit| Hit { node: candidates[hit.node as usize], score: scores[hit.node as usize] };
            let found = match plan.explored {
                0 => best(ranked, plan.count),
                least => explored(ranked, plan.count, least, |place| self.is_new_candidate(candidates[place as usize])),
            };
            found.into_iter().map(hit).collect()
        };
        rows.into_par_iter().map_init(|| vec![0.0; candidates.len()], find).collect()
    }

    /// Whether a node has no links: a new one, or one of the graph that nobody is linked with, in any role.
    fn is_new_candidate(&self, node: NodeId) -> bool {
        let first = self.roles.at(self.roles.node(node), 0) as usize;
        let marks = self.embeddings.warm.get(first..first + self.roles.count());
        marks.is_none_or(|marks| marks.iter().all(|warm| !warm))
    }
}

/// The best `count` places, of which at least `least` are new ones as far as there are so many; best first.
fn explored(
    ranked: impl Iterator<Item = (NodeId, f32)>,
    count: usize,
    least: usize,
    is_new: impl Fn(NodeId) -> bool,
) -> Vec<Hit> {
    let (new, others): (Vec<_>, Vec<_>) = ranked.partition(|place| is_new(place.0));
    let (mut new, others) = (best(new.into_iter(), count), best(others.into_iter(), count));
    let kept = least.min(new.len());
    let rest = new.split_off(kept).into_iter().chain(others).map(|hit| (hit.node, hit.score));
    let all = best(rest, count - kept).into_iter().chain(new).map(|hit| (hit.node, hit.score));
    best(all, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_explores_has_the_best_new_ones_and_the_best_of_all() {
        let scores = [9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0];
        let check = |count: usize, least: usize, expected: &[NodeId]| {
            let ranked = (0..).zip(scores);
            let found = explored(ranked, count, least, |place| [1, 4, 6].contains(&place));
            let places: Vec<NodeId> = found.iter().map(|hit| hit.node).collect();
            assert_eq!(places, expected, "{least} of {count}");
        };
        check(4, 0, &[0, 1, 2, 3]);
        check(4, 1, &[0, 1, 2, 3]);
        check(4, 2, &[0, 1, 2, 4]);
        check(4, 3, &[0, 1, 4, 6]);
        check(4, 4, &[0, 1, 4, 6]);
        check(3, 3, &[1, 4, 6]);
        check(2, 2, &[1, 4]);
        check(9, 2, &[0, 1, 2, 3, 4, 5, 6]);
        check(0, 0, &[]);
    }
}
