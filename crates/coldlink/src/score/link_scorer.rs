//! Scores pairs by weighted terms.

use super::{Evidence, ScoreWeights, Scorer, Source, Terms};
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
        both.map(|(&candidate, terms)| self.score(source.node, candidate, terms)).collect()
    }
}

impl Scorer for LinkScorer<'_> {
    fn scores(&self, pairs: &[(NodeId, NodeId)]) -> Vec<f32> {
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
