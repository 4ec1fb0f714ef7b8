//! Lists of every relation and direction apart.

use serde::Serialize;

use super::report::{Statistic, mean};
use super::{Calibration, MetricError, Ranks, SeedResult, Test, prevalence};
use crate::graph::{NodeId, Roles};
use crate::score::ScoreWeights;
use crate::split::Pair;

/// Places of true links in lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Lists {
    /// The mean reciprocal rank of a true link.
    pub mrr: Option<f64>,
    /// The share of a node's true links among its first ten.
    #[serde(rename = "recall@10")]
    pub recall_at_10: Option<f64>,
    /// The mean of 1 / place of the true link that stands highest.
    pub first_hit: Option<f64>,
}

impl Lists {
    pub(super) fn of(ranks: &Ranks) -> Self {
        Lists { mrr: ranks.mrr(), recall_at_10: ranks.recall(), first_hit: ranks.first_hit() }
    }

    pub(super) fn mean(lists: &[Lists]) -> Self {
        Lists::summary(lists, mean)
    }

    fn summary(lists: &[Lists], statistic: Statistic) -> Self {
        let over = |field: fn(&Lists) -> Option<f64>| statistic(&mut lists.iter().map(field));
        Lists {
            mrr: over(|lists| lists.mrr),
            recall_at_10: over(|lists| lists.recall_at_10),
            first_hit: over(|lists| lists.first_hit),
        }
    }
}

/// One relation in one direction: what new nodes link to (`out`), or what links to them (`in`).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoleResult {
    /// The relation; empty where it has no name.
    pub relation: String,
    /// `out`, `in`, or `both` where links have no direction.
    pub direction: &'static str,
    /// How many nodes ask.
    pub queries: usize,
    /// How many links they have.
    pub links: usize,
    /// The lists of the scorer that is measured.
    #[serde(flatten)]
    pub lists: Lists,
    /// The expected calibration error; `None` where scores give no probabilities.
    pub ece: Option<f64>,
    /// The lists of [`super::Neighbours`].
    pub knn: Lists,
}

impl RoleResult {
    /// Ranks by relation and direction, where there are several.
    pub(super) fn of(roles: &Roles, ranks: &Ranks, neighbours: &Ranks) -> Vec<Self> {
        let result = |role: usize| {
            let of_role = |node: NodeId| roles.role(node) == role;
            let (ranks, neighbours) = (ranks.only(of_role), neighbours.only(of_role));
            let (relation, direction) = named(roles, role);
            RoleResult {
                relation: relation.to_owned(),
                direction,
                queries: ranks.queries(),
                links: ranks.targets(),
                lists: Lists::of(&ranks),
                ece: None,
                knn: Lists::of(&neighbours),
            }
        };
        let all = if roles.is_plain() { 0 } else { roles.count() };
        (0..all).map(result).filter(|role| role.queries > 0).collect()
    }

    /// Fills in how far probabilities are off on the test pairs in which a node of this role asks, at their own share of linked
    /// pairs.
    pub(super) fn calibrate(&mut self, weights: &ScoreWeights, test: &Test, scores: &[f32]) -> Result<(), MetricError> {
        let roles = test.view.roles();
        let of_role = |pair: &Pair| named(roles, roles.role(pair.source)) == (&self.relation[..], self.direction);
        let places: Vec<usize> = (0..test.pairs.len()).filter(|&place| of_role(&test.pairs[place])).collect();
        let linked: Vec<bool> = places.iter().map(|&place| test.pairs[place].linked).collect();
        if let Some(base_rate) = prevalence(&linked).filter(|share| *share > 0.0 && *share < 1.0) {
            let probability = |&place: &usize| weights.probability(f64::from(scores[place]), base_rate);
            self.ece = Some(Calibration::of(&places.iter().map(probability).collect::<Vec<_>>(), &linked)?.error);
        }
        Ok(())
    }

    /// The mean over seeds, by relation and direction.
    pub(super) fn mean(seeds: &[SeedResult]) -> Vec<Self> {
        let Some(first) = seeds.iter().max_by_key(|seed| seed.roles.len()) else { return Vec::new() };
        let mean_of = |role: &RoleResult| {
            let same = |other: &&RoleResult| (&other.relation, other.direction) == (&role.relation, role.direction);
            let all: Vec<&RoleResult> = seeds.iter().flat_map(|seed| seed.roles.iter().filter(same)).collect();
            let lists = |pick: fn(&RoleResult) -> Lists| {
                Lists::summary(&all.iter().map(|role| pick(role)).collect::<Vec<_>>(), mean)
            };
            RoleResult {
                queries: all.iter().map(|role| role.queries).sum(),
                links: all.iter().map(|role| role.links).sum(),
                lists: lists(|role| role.lists),
                ece: mean(&mut all.iter().map(|role| role.ece)),
                knn: lists(|role| role.knn),
                ..role.clone()
            }
        };
        first.roles.iter().map(mean_of).collect()
    }
}

/// The relation of a role, and the direction in which a node in it asks.
fn named(roles: &Roles, role: usize) -> (&str, &'static str) {
    let (relation, is_target) = roles.relation_of(role);
    let Some(relation) = roles.relations().get(relation) else { return ("", "both") };
    let direction = match (relation.directed, is_target) {
        (false, _) => "both",
        (true, false) => "out",
        (true, true) => "in",
    };
    (&relation.name, direction)
}
