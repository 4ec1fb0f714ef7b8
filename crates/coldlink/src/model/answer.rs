//! What a model answers: likely links, with names, in the one form that every front end hands out.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Asked, Direction, Model, QueryError, Resolved};
use crate::dataset::{End, PairQuery};
use crate::graph::NodeId;
use crate::index::Hit;

/// A likely link, or a pair that was scored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Link {
    /// The node that was asked about.
    pub source: String,
    /// Its place among the links of its source, of one relation and direction, from 1; pairs have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
    /// The other node.
    pub target: String,
    /// Whether the target is a known node, or else another new one.
    pub known: bool,
    /// What the link means, where links mean several things.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relation: Option<String>,
    /// Which way it runs, seen from the source, where links have a direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// The log-odds of the link; of models without probabilities, a number that is larger for likelier links.
    pub score: f32,
    /// Its probability, where the model has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
    /// Why, where that is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
}

/// A score taken apart. What the attributes, own links, similar nodes, popularity and the baseline add sums to the score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Explanation {
    /// The attributes of the new node that add or take most.
    pub attributes: Vec<Reason>,
    /// What all its other attributes add.
    pub other_attributes: f64,
    /// What its own links add, where it has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_links: Option<f64>,
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
    /// The most likely links of some of the new nodes, as numbers of role nodes, the new ones after the known ones: relation by
    /// relation, best first.
    pub fn hits(&self, asked: &Asked, query: &Resolved, rows: Range<usize>) -> Vec<Vec<Hit>> {
        let mut all: Vec<Vec<Hit>> = rows.clone().map(|_| Vec::new()).collect();
        for plan in query.plans() {
            let found = self.best_links(asked.encoded(), rows.clone(), plan);
            all.iter_mut().zip(found).for_each(|(all, found)| all.extend(found));
        }
        all
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
        let role = |hit: &Hit| self.roles.role(hit.node);
        let first_of_role = |hit: &Hit| hits.iter().position(|other| role(other) == role(hit)).unwrap_or(0);
        let named = |((place, hit), end): ((usize, &Hit), &End)| Link {
            source: source.clone().into_owned(),
            rank: Some(place - first_of_role(hit) + 1),
            target: self.name_of(asked, *end),
            known: matches!(end, End::Known(_)),
            relation: self.meaning(self.role_of(*end)).0,
            direction: self.meaning(self.role_of(*end)).1,
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
            relation: self.meaning(self.role_of(target)).0,
            direction: self.meaning(self.role_of(target)).1,
            score,
            probability: self.probability(score, base_rate),
            explanation: None,
        };
        Ok(ends.iter().zip(pairs).zip(scores).map(link).collect())
    }

    /// Explanations of links of one new node, which name at most so many attributes each. What they share is done once.
    pub fn explain_links(&self, asked: &Asked, row: usize, targets: &[End], most: usize) -> Vec<Explanation> {
        let parts = targets.chunk_by(|one, other| self.role_of(*one) == self.role_of(*other)).flat_map(|targets| {
            let own = self.roles.at(row as NodeId, self.roles.opposite(self.role_of(targets[0])));
            self.score_parts(&asked.new_nodes().attributes, asked.encoded(), own, targets)
        });
        let explanation = |parts: super::ScoreParts| {
            let (first, others) = parts.attributes.split_at(parts.attributes.len().min(most));
            Explanation {
                attributes: first
                    .iter()
                    .map(|&(column, adds)| Reason { name: self.attribute_name(column), adds })
                    .collect(),
                other_attributes: others.iter().map(|amount| amount.1).sum::<f64>() + parts.undivided,
                own_links: parts.own_links,
                similar_nodes: parts.similar_nodes,
                popularity: parts.popularity,
                baseline: parts.baseline,
                most_similar: parts
                    .most_similar
                    .iter()
                    .map(|&(node, cosine)| SimilarNode { name: self.name(node), cosine })
                    .collect(),
            }
        };
        parts.map(explanation).collect()
    }

    fn role_of(&self, end: End) -> usize {
        match end {
            End::Known(node) | End::New(node) => self.roles.role(node),
        }
    }

    /// What a link to a node in this role means, where it has a name, and which way it runs, where it has a direction.
    pub fn meaning(&self, target_role: usize) -> (Option<String>, Option<Direction>) {
        let (relation, is_target) = self.roles.relation_of(target_role);
        let Some(relation) = self.roles.relations().get(relation) else { return (None, None) };
        let direction = if is_target { Direction::Out } else { Direction::In };
        let name = Some(relation.name.clone()).filter(|name| !name.is_empty());
        (name, relation.directed.then_some(direction))
    }

    /// The end that a number stands for, where new nodes are numbered after known ones.
    pub fn end(&self, node: NodeId) -> End {
        let known = self.role_nodes() as NodeId;
        if node < known { End::Known(node) } else { End::New(node - known) }
    }

    fn name_of(&self, asked: &Asked, end: End) -> String {
        match end {
            End::Known(node) => self.name(node),
            End::New(node) => asked.new_nodes().names.get(self.roles.node(node)).into_owned(),
        }
    }
}
