//! Scores pairs by weighted terms.

use rayon::prelude::*;

use super::{Evidence, Given, GivenTerms, GivenWeights, ScoreWeights, Scorer, Source, Terms};
use crate::graph::NodeId;

/// Evidence and weights together.
pub struct LinkScorer<'a> {
    /// What is known.
    pub evidence: Evidence<'a>,
    /// What it is worth.
    pub weights: &'a ScoreWeights,
    /// 1 leaves scores as they are. Below, a target's log-degree is taken off, at 0 as much as popularity alone would explain.
    pub popularity: f32,
}

impl LinkScorer<'_> {
    fn score(&self, source: NodeId, target: NodeId, terms: &Terms) -> f32 {
        let role = self.evidence.looking_role(source, target);
        let score = self.weights.of(self.evidence.class(source, target), role).score(terms) as f32;
        if self.popularity < 1.0 { score - (1.0 - self.popularity) * self.evidence.popularity(target) } else { score }
    }
}

impl LinkScorer<'_> {
    /// The scores of a source with each candidate.
    pub(crate) fn scores_of(&self, source: &Source<'_>, candidates: &[NodeId]) -> Vec<f32> {
        let mut terms = vec![Terms::default(); candidates.len()];
        self.evidence.terms_of(source, candidates, &mut terms);
        let both = candidates.iter().zip(&terms);
        match self.given_weights(source) {
            None => both.map(|(&candidate, terms)| self.score(source.node, candidate, terms)).collect(),
            Some(weights) => {
                let given = self.evidence.given_terms(source, candidates);
                let score =
                    |((&candidate, terms), given)| self.given_score(weights, (source, candidate), (terms, given));
                both.zip(&given).map(score).collect()
            }
        }
    }

    /// The weights of a source's given links, where it has any that count.
    pub(crate) fn given_weights(&self, source: &Source<'_>) -> Option<&GivenWeights> {
        source.given.as_ref().and_then(|_| self.weights.given(self.evidence.role(source.node)))
    }

    fn given_score(
        &self,
        weights: &GivenWeights,
        (source, candidate): (&Source<'_>, NodeId),
        (terms, given): (&Terms, &GivenTerms),
    ) -> f32 {
        if !self.evidence.is_warm(candidate) {
            return self.score(source.node, candidate, terms);
        }
        let score = weights.score(terms, given) as f32;
        if self.popularity < 1.0 {
            score - (1.0 - self.popularity) * self.evidence.popularity(candidate)
        } else {
            score
        }
    }

    /// The scores of pairs of which some have an end that is given links: with a warm node, this end looks for it.
    fn scores_with_given(&self, pairs: &[(NodeId, NodeId)], given: &Given) -> Vec<f32> {
        let looking = |&(a, b): &(NodeId, NodeId)| match (given.of(a), given.of(b)) {
            (Some(_), _) if self.evidence.is_warm(b) => Some((a, b)),
            (_, Some(_)) if self.evidence.is_warm(a) => Some((b, a)),
            _ => None,
        };
        let all: Vec<Option<(NodeId, NodeId)>> = pairs.iter().map(looking).collect();
        let others: Vec<(NodeId, NodeId)> =
            pairs.iter().zip(&all).filter(|(_, looking)| looking.is_none()).map(|(pair, _)| *pair).collect();
        let terms = self.evidence.terms(&others);
        let mut scores = others.iter().zip(&terms).map(|(&(a, b), terms)| self.score(a, b, terms));
        let mut out: Vec<f32> =
            all.iter().map(|looking| if looking.is_none() { scores.next().unwrap_or(0.0) } else { 0.0 }).collect();
        let mut order: Vec<(NodeId, NodeId, usize)> = Vec::new();
        order.extend(all.iter().enumerate().filter_map(|(place, looking)| looking.map(|(a, b)| (a, b, place))));
        order.sort_unstable();
        let groups: Vec<_> = order.chunk_by(|a, b| a.0 == b.0).collect();
        self.evidence.expect(&groups.iter().map(|group| group[0].0).collect::<Vec<_>>());
        let of_group = |group: &&[(NodeId, NodeId, usize)]| {
            let targets: Vec<NodeId> = group.iter().map(|looking| looking.1).collect();
            self.scores_of(&self.evidence.source(group[0].0), &targets)
        };
        let scores: Vec<Vec<f32>> = groups.par_iter().map(of_group).collect();
        order.iter().zip(scores.into_iter().flatten()).for_each(|(looking, score)| out[looking.2] = score);
        out
    }
}

impl Scorer for LinkScorer<'_> {
    fn scores(&self, pairs: &[(NodeId, NodeId)]) -> Vec<f32> {
        if let Some(given) = self.evidence.given {
            return self.scores_with_given(pairs, given);
        }
        let terms = self.evidence.terms(pairs);
        pairs.iter().zip(terms).map(|(&(source, target), terms)| self.score(source, target, &terms)).collect()
    }

    fn expect(&self, sources: &[NodeId]) {
        self.evidence.expect(sources);
    }

    fn scores_against(&self, source: NodeId, candidates: &[NodeId], out: &mut [f32]) {
        out.copy_from_slice(&self.scores_of(&self.evidence.source(source), candidates));
    }
}
