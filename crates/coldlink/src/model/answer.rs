//! What a model answers: likely links, with names, in the one form that every front end hands out.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Asked, Direction, Model, QueryError, Resolved, ScoreParts};
use crate::dataset::{End, PairQuery};
use crate::graph::NodeId;
use crate::index::Hit;

/// A likely link, or a pair that was scored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Link {
    /// The node that was asked about.
    pub source: String,
    /// What is shown beside its name, where that is asked for and known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_title: Option<String>,
    /// Its place among the links of its source, of one relation and direction, from 1; pairs have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
    /// The other node.
    pub target: String,
    /// What is shown beside its name, where that is asked for and known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_title: Option<String>,
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

/// A score taken apart. What the attributes, own links, similar nodes, popularity and the baseline add sums to the score; with what the
/// base rate adds, to the log-odds of the probability that stands beside it.
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
    /// What the base rate adds, far below 0 where links are rare; none where there are no probabilities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_rate: Option<f64>,
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

/// What an answer tells of links beside their scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Told {
    /// The share of linked pairs that probabilities are stated for.
    pub base_rate: f64,
    /// How many attributes an explanation names at most; without it, links are not explained.
    pub explain: Option<usize>,
    /// Whether links have the titles of both ends, where nodes have any.
    pub show: bool,
}

impl Told {
    /// Probabilities for a base rate, and nothing else.
    pub fn at(base_rate: f64) -> Self {
        Told { base_rate, explain: None, show: false }
    }
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
        let ends: Vec<End> = hits.iter().map(|hit| self.end(hit.node)).collect();
        let mut explanations = query.told.explain.map(|most| {
            let explained = self.explain_links(asked, row, &ends, most);
            explained.into_iter().map(|explanation| self.at_base_rate(explanation, query.told.base_rate))
        });
        let role = |hit: &Hit| self.roles.role(hit.node);
        let first_of_role = |hit: &Hit| hits.iter().position(|other| role(other) == role(hit)).unwrap_or(0);
        let named = |((place, hit), &end): ((usize, &Hit), &End)| Link {
            rank: Some(place - first_of_role(hit) + 1),
            explanation: explanations.as_mut().and_then(Iterator::next),
            ..self.link(asked, (End::New(self.roles.at(row as NodeId, 0)), end), hit.score, query.told)
        };
        hits.iter().enumerate().zip(&ends).map(named).collect()
    }

    /// A link between two ends, with names and a probability.
    fn link(&self, asked: &Asked, (source, target): (End, End), score: f32, told: Told) -> Link {
        let (relation, direction) = self.meaning(self.role_of(target));
        let title = |end: End| self.title_of(asked, end).filter(|_| told.show);
        Link {
            source: self.name_of(asked, source),
            source_title: title(source),
            rank: None,
            target: self.name_of(asked, target),
            target_title: title(target),
            known: matches!(target, End::Known(_)),
            relation,
            direction,
            score,
            probability: self.probability(score, told.base_rate),
            explanation: None,
        }
    }

    /// The scores of pairs, with names. Pairs of a new node and any other are explained where that is asked for; those of known nodes are
    /// not.
    pub fn scored_pairs(&self, asked: &Asked, pairs: &[PairQuery], told: Told) -> Result<Vec<Link>, QueryError> {
        let told = Told { base_rate: self.checked_base_rate(Some(told.base_rate))?, ..told };
        let ends = self.resolve_pairs(asked, pairs)?;
        let scores = self.score_pairs(asked.encoded(), &ends);
        let link = |(&ends, &score): (&(End, End), &f32)| self.link(asked, ends, score, told);
        let mut links: Vec<Link> = ends.iter().zip(&scores).map(link).collect();
        if let Some(most) = told.explain {
            let mut rest = &mut links[..];
            for ends in ends.chunk_by(|one, other| one.0 == other.0) {
                let (these, others) = rest.split_at_mut(ends.len());
                self.explain_pairs(asked, ends, most, these, told.base_rate);
                rest = others;
            }
        }
        Ok(links)
    }

    /// Explains pairs of one source, where it is a new node.
    fn explain_pairs(&self, asked: &Asked, ends: &[(End, End)], most: usize, links: &mut [Link], base_rate: f64) {
        let End::New(source) = ends[0].0 else { return };
        let targets: Vec<End> = ends.iter().map(|ends| ends.1).collect();
        let explanations = self.explain_links(asked, self.roles.node(source) as usize, &targets, most);
        for (link, explanation) in links.iter_mut().zip(explanations) {
            link.explanation = Some(self.at_base_rate(explanation, base_rate));
        }
    }

    /// Explanations of links of one new node, which name at most so many attributes each. What they share is done once. What the base
    /// rate adds is left to whoever states probabilities.
    pub fn explain_links(&self, asked: &Asked, row: usize, targets: &[End], most: usize) -> Vec<Explanation> {
        let parts = targets.chunk_by(|one, other| self.role_of(*one) == self.role_of(*other)).flat_map(|targets| {
            let own = self.roles.at(row as NodeId, self.roles.opposite(self.role_of(targets[0])));
            self.score_parts(&asked.new_nodes().attributes, asked.encoded(), own, targets)
        });
        parts.map(|parts| self.explanation(parts, most)).collect()
    }

    /// The parts of a score by their names.
    fn explanation(&self, parts: ScoreParts, most: usize) -> Explanation {
        let (first, others) = parts.attributes.split_at(parts.attributes.len().min(most));
        let reason = |&(column, adds): &(u32, f64)| Reason { name: self.attribute_name(column), adds };
        let similar = |&(node, cosine): &(NodeId, f32)| SimilarNode { name: self.name(node), cosine };
        Explanation {
            attributes: first.iter().map(reason).collect(),
            other_attributes: others.iter().map(|amount| amount.1).sum::<f64>() + parts.undivided,
            own_links: parts.own_links,
            similar_nodes: parts.similar_nodes,
            popularity: parts.popularity,
            baseline: parts.baseline,
            base_rate: None,
            most_similar: parts.most_similar.iter().map(similar).collect(),
        }
    }

    /// The same with what a base rate adds.
    fn at_base_rate(&self, explanation: Explanation, base_rate: f64) -> Explanation {
        Explanation { base_rate: self.shift_to(base_rate), ..explanation }
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
