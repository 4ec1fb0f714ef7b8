//! The simplest good answer: the nodes that are most alike vote for what they link to.

use std::cmp::Ordering;

use rayon::prelude::*;

use super::baselines::TfIdf;
use crate::graph::{Graph, NodeId, Roles};
use crate::score::{Given, Scorer};
use crate::split::TrainView;

/// Nodes that vote.
const VOTERS: usize = 50;
/// How much ln(1 + degree) counts, so that it decides between candidates without a vote alone.
const POPULARITY: f32 = 1e-6;

/// The warm nodes, in the role that asks, whose tf-idf vectors have the largest cosines with a node's give these to each node they
/// link to, times the weights of the links, and in graphs without directions to themselves as well.
pub struct Neighbours<'a> {
    graph: &'a Graph,
    roles: &'a Roles,
    /// The cosines of tf-idf vectors.
    cosine: Box<dyn Scorer + 'a>,
    /// The warm nodes of each role.
    warm: Vec<Vec<NodeId>>,
    /// What a node has before anyone votes.
    popularities: Vec<f32>,
    /// Links that sources have.
    given: Option<&'a Given>,
}

impl<'a> Neighbours<'a> {
    /// Of the training graph and the visible rows.
    pub fn new(view: &TrainView<'a>) -> Self {
        Neighbours::of(view.graph(), view.roles(), TfIdf::new(view))
    }

    /// Of a graph whose nodes are alike as this scorer says.
    pub fn of(graph: &'a Graph, roles: &'a Roles, cosine: impl Scorer + 'a) -> Self {
        let mut warm = vec![Vec::new(); roles.count()];
        let nodes = 0..graph.nodes() as NodeId;
        nodes.clone().filter(|&node| graph.degree(node) > 0).for_each(|node| warm[roles.role(node)].push(node));
        let popularities = nodes.map(|node| POPULARITY * graph.popularity(node)).collect();
        Neighbours { graph, roles, cosine: Box::new(cosine), warm, popularities, given: None }
    }

    /// The same where some sources have links: who is linked with the same nodes is alike as well. To the cosine of words comes that
    /// of links.
    pub fn with_given(self, given: Option<&'a Given>) -> Self {
        Neighbours { given, ..self }
    }

    /// Adds the cosines of links to those of words.
    fn add_cosines_of_links(&self, source: NodeId, warm: &[NodeId], cosines: &mut [f32]) {
        let Some(given) = self.given.and_then(|given| given.of(source)) else { return };
        for &end in &given.linked {
            for &other in self.graph.neighbors(end) {
                if let Ok(place) = warm.binary_search(&other) {
                    cosines[place] += 1.0 / ((given.linked.len() * self.graph.degree(other)) as f32).sqrt();
                }
            }
        }
    }

    /// The votes for every node from those that are most like a source.
    fn votes(&self, source: NodeId) -> Vec<f32> {
        let warm = &self.warm[self.roles.role(source)];
        let mut cosines = vec![0.0; warm.len()];
        self.cosine.scores_against(source, warm, &mut cosines);
        self.add_cosines_of_links(source, warm, &mut cosines);
        let mut voters: Vec<(NodeId, f32)> = warm.iter().copied().zip(cosines).collect();
        let held = self.given.and_then(|given| given.of(source)).and_then(|links| links.held);
        voters.retain(|&(node, cosine)| node != source && Some(node) != held && cosine > 0.0);
        let better = |a: &(NodeId, f32), b: &(NodeId, f32)| -> Ordering { b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)) };
        if voters.len() > VOTERS {
            voters.select_nth_unstable_by(VOTERS - 1, better);
            voters.truncate(VOTERS);
        }
        voters.sort_unstable_by_key(|voter| voter.0);
        let mut votes = self.popularities.clone();
        for (voter, cosine) in voters {
            self.graph.each_neighbor(voter, |node, weight| votes[node as usize] += cosine * weight);
            if self.roles.is_plain() {
                votes[voter as usize] += cosine;
            }
        }
        votes
    }
}

impl Scorer for Neighbours<'_> {
    /// Of two warm nodes the first asks.
    fn scores(&self, pairs: &[(NodeId, NodeId)]) -> Vec<f32> {
        let is_warm = |node: NodeId| self.graph.degree(node) > 0;
        let asks = |&(a, b): &(NodeId, NodeId)| if is_warm(a) && !is_warm(b) { (b, a) } else { (a, b) };
        let asked: Vec<(NodeId, NodeId)> = pairs.iter().map(asks).collect();
        let score = |group: &[(NodeId, NodeId)]| {
            let votes = self.votes(group[0].0);
            group.iter().map(|&(_, target)| votes[target as usize]).collect::<Vec<f32>>()
        };
        asked.par_chunk_by(|a, b| a.0 == b.0).map(score).collect::<Vec<_>>().concat()
    }

    fn scores_against(&self, source: NodeId, candidates: &[NodeId], out: &mut [f32]) {
        let votes = self.votes(source);
        out.iter_mut().zip(candidates).for_each(|(score, &candidate)| *score = votes[candidate as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Attributes;

    #[test]
    fn nodes_that_are_alike_vote_for_what_they_link_to_and_for_themselves() {
        let rows: [&[(u32, f32)]; 6] =
            [&[(0, 1.0)], &[(0, 1.0), (1, 1.0)], &[(1, 1.0)], &[(2, 1.0)], &[(2, 1.0)], &[(0, 1.0)]];
        let attributes = Attributes::from_rows(3, &rows.map(<[_]>::to_vec)).unwrap();
        let graph = Graph::from_links(6, [(0, 3), (1, 3), (2, 4)]);
        let visible = [true, true, true, true, true, false];
        let view = TrainView::whole(&graph, &attributes, &visible);
        let (scorer, cosine) = (Neighbours::new(&view), TfIdf::new(&view));
        let near = cosine.scores(&[(5, 1)])[0];
        let mut scores = [0.0; 5];
        scorer.scores_against(5, &[0, 1, 2, 3, 4], &mut scores);
        let expected = [1.0, near, 0.0, 1.0 + near, 0.0];
        for (score, expected) in scores.iter().zip(expected) {
            assert!((score - expected).abs() < 1e-5, "{scores:?}");
        }
        assert!(scores[2] > 0.0 && scores[2] == scores[4], "popularity decides where nobody votes");
        assert_eq!(scorer.scores(&[(5, 3), (5, 1), (0, 5)]), [scores[3], scores[1], scores[0]]);
    }
}
