//! What a model answers: likely links, with names, in the one form that every front end hands out.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Asked, Model, QueryError, Resolved};
use crate::dataset::{End, PairQuery};
use crate::graph::NodeId;
use crate::index::Hit;

/// A likely link, or a pair that was scored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Link {
    /// The node that was asked about.
    pub source: String,
    /// Its place among the links of its source, from 1; pairs have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
    /// The other node.
    pub target: String,
    /// Whether the target is a known node, or else another new one.
    pub known: bool,
    /// The log-odds of the link; of models without probabilities, a number that is larger for likelier links.
    pub score: f32,
    /// Its probability, where the model has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
    /// Why, where that is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
}

/// A score taken apart. What the attributes, similar nodes, popularity and the baseline add sums to the score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Explanation {
    /// The attributes of the new node that add or take most.
    pub attributes: Vec<Reason>,
    /// What all its other attributes add.
    pub other_attributes: f64,
    /// What links of similar nodes add.
    pub similar_nodes: f64,
    /// What the target's popularity adds.
    pub popularity: f64,
    /// What every pair of this class gets.
    pub baseline: f64,
    /// The warm nodes whose attributes are most similar to the new node's.
    pub most_similar: Vec<SimilarNode>,
}

/// What an attribute adds to a score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Reason {
    /// The attribute.
    pub name: String,
    /// What it adds; below 0 it speaks against the link.
    pub adds: f64,
}

/// A known node that is similar to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SimilarNode {
    /// Its name.
    pub name: String,
    /// The cosine of both attribute embeddings.
    pub cosine: f32,
}

impl Model {
    /// The most likely links of some of the new nodes, as numbers: best first, new nodes numbered after known ones.
    pub fn hits(&self, asked: &Asked, query: &Resolved, rows: Range<usize>) -> Vec<Vec<Hit>> {
        self.best_links(asked.encoded(), rows, query.plan())
    }

    /// The most likely links of some of the new nodes, best first, with names.
    pub fn links(&self, asked: &Asked, query: &Resolved, rows: Range<usize>) -> Vec<Vec<Link>> {
        let hits = self.hits(asked, query, rows.clone());
        rows.zip(hits).map(|(row, hits)| self.named_links(asked, query, row, &hits)).collect()
    }

    /// Links that [`Model::hits`] found for one new node, with names, probabilities and explanations.
    pub fn named_links(&self, asked: &Asked, query: &Resolved, row: usize, hits: &[Hit]) -> Vec<Link> {
        let source = asked.new_nodes().names.get(row as NodeId);
        let ends: Vec<End> = hits.iter().map(|hit| self.end(hit.node)).collect();
        let mut explanations = query.explain.map(|most| self.explain_links(asked, row, &ends, most).into_iter());
        let named = |((place, hit), end): ((usize, &Hit), &End)| Link {
            source: source.clone().into_owned(),
            rank: Some(place + 1),
            target: self.name_of(asked, *end),
            known: matches!(end, End::Known(_)),
            score: hit.score,
            probability: self.probability(hit.score, query.base_rate),
            explanation: explanations.as_mut().and_then(Iterator::next),
        };
        hits.iter().enumerate().zip(&ends).map(named).collect()
    }

    /// The scores of pairs, with names.
    pub fn scored_pairs(
        &self,
        asked: &Asked,
        pairs: &[PairQuery],
        base_rate: Option<f64>,
    ) -> Result<Vec<Link>, QueryError> {
        let base_rate = self.checked_base_rate(base_rate)?;
        let ends = self.resolve_pairs(asked, pairs)?;
        let scores = self.score_pairs(asked.encoded(), &ends);
        let link = |((&(source, target), _), score): ((&(End, End), &PairQuery), f32)| Link {
            source: self.name_of(asked, source),
            rank: None,
            target: self.name_of(asked, target),
            known: matches!(target, End::Known(_)),
            score,
            probability: self.probability(score, base_rate),
            explanation: None,
        };
        Ok(ends.iter().zip(pairs).zip(scores).map(link).collect())
    }

    /// Explanations of links of one new node, which name at most so many attributes each. What they share is done once.
    pub fn explain_links(&self, asked: &Asked, row: usize, targets: &[End], most: usize) -> Vec<Explanation> {
        let parts = self.score_parts(&asked.new_nodes().attributes, asked.encoded(), row as NodeId, targets);
        let explanation = |parts: super::ScoreParts| {
            let (first, others) = parts.attributes.split_at(parts.attributes.len().min(most));
            Explanation {
                attributes: first
                    .iter()
                    .map(|&(column, adds)| Reason { name: self.attribute_name(column), adds })
                    .collect(),
                other_attributes: others.iter().map(|amount| amount.1).sum(),
                similar_nodes: parts.similar_nodes,
                popularity: parts.popularity,
                baseline: parts.baseline,
                most_similar: parts
                    .most_similar
                    .iter()
                    .map(|&(node, cosine)| SimilarNode { name: self.names.get(node).into_owned(), cosine })
                    .collect(),
            }
        };
        parts.into_iter().map(explanation).collect()
    }

    /// The end that a number stands for, where new nodes are numbered after known ones.
    pub fn end(&self, node: NodeId) -> End {
        let known = self.summary.nodes as NodeId;
        if node < known { End::Known(node) } else { End::New(node - known) }
    }

    fn name_of(&self, asked: &Asked, end: End) -> String {
        match end {
            End::Known(node) => self.names.get(node).into_owned(),
            End::New(node) => asked.new_nodes().names.get(node).into_owned(),
        }
    }
}
