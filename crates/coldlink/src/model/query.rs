//! What is asked of a model, by names and values.

use serde::{Deserialize, Serialize};

use super::filters::conditions_in_words;
use super::{Among, FilterError, Model, Plan, Told};
use crate::dataset::{End, LinkProblem, NewNodes, PairQuery};
use crate::graph::{NameIndex, Names, NodeId};
use crate::hint::Hint;
use crate::model::EncodedNodes;
use crate::score::Given;
use crate::text::quoted;

/// The base rates that a probability may be stated for.
pub const BASE_RATES: std::ops::RangeInclusive<f64> = 1e-12..=0.999_999;

/// The popularity weights that links may be ranked by.
pub const POPULARITIES: std::ops::RangeInclusive<f64> = 0.0..=1.0;

/// The shares of a list that may be kept for new candidates.
pub const EXPLORES: std::ops::RangeInclusive<f64> = 0.0..=1.0;

/// How many attributes an explanation names, where nobody says how many.
pub const NAMED_ATTRIBUTES: usize = 5;

/// Which links are asked for: of each new node the most likely ones.
///
/// ```
/// use coldlink::{Among, Query};
///
/// let query = Query { count: 5, among: Among::Both, exclude: vec!["p7".into()], ..Query::default() };
/// assert_eq!(query.popularity, 1.0);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// How many links of each new node.
    pub count: usize,
    /// Where to look for targets.
    pub among: Among,
    /// The share of links that lead to new candidates at least: to other new nodes or, among known ones, to nodes without links.
    pub explore: f64,
    /// Which relation; all of them unless given.
    pub relation: Option<String>,
    /// Which direction of directed relations; out of the new nodes unless given.
    pub direction: Option<Direction>,
    /// Names of nodes that are no candidates.
    pub exclude: Vec<String>,
    /// The node type of targets; without it, types that are linked with the new node's.
    pub node_type: Option<String>,
    /// Columns, each with a condition on what known candidates have there: a value, several as `a,b` of which one will do, or of numbers
    /// `<20`, `>=20` or `10..20`.
    pub filters: Vec<(String, String)>,
    /// The popularity weight: from 1, which leaves the order as scored, down to 0, which ranks as if popularity had no effect.
    pub popularity: f64,
    /// The share of linked pairs that probabilities are stated for; the training graph's unless given.
    pub base_rate: Option<f64>,
    /// How many attributes an explanation names at most; without it, links are not explained.
    pub explain: Option<usize>,
    /// Whether links have the titles of both ends, where nodes have any.
    pub show: bool,
}

impl Default for Query {
    fn default() -> Self {
        Query {
            count: 10,
            among: Among::Known,
            explore: 0.0,
            relation: None,
            direction: None,
            exclude: Vec::new(),
            node_type: None,
            filters: Vec::new(),
            popularity: 1.0,
            base_rate: None,
            explain: None,
            show: false,
        }
    }
}

/// Which way links run, seen from the node that is asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Out of it: it is their source.
    #[default]
    Out,
    /// Into it: it is their target.
    In,
    /// Either.
    Both,
}

impl Direction {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Out => "out",
            Direction::In => "in",
            Direction::Both => "both",
        }
    }
}

/// Why a query cannot be answered.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// Not a share.
    #[error("`popularity` must be from 0 to 1, got {value}")]
    Popularity {
        /// As it was given.
        value: f64,
    },
    /// Not a share of a list.
    #[error("`explore` must be from 0 to 1, got {value}")]
    Explore {
        /// As it was given.
        value: f64,
    },
    /// Not a share that probabilities can be stated for.
    #[error("`base_rate` must be from {start:e} to {end}, got {value}", start = BASE_RATES.start(), end = BASE_RATES.end())]
    BaseRate {
        /// As it was given.
        value: f64,
    },
    /// No probability to state.
    #[error("this model gives no probabilities")]
    NoProbability,
    /// No such relation.
    #[error("there is no relation `{name}`")]
    UnknownRelation {
        /// As it was asked for.
        name: String,
        /// Those there are.
        known: Vec<String>,
    },
    /// A direction where there is none.
    #[error("the links of this model have no direction")]
    NoDirection,
    /// A new node whose numbers are beyond what can be embedded.
    #[error("the numbers of new node `{}` are too large", quoted(.name))]
    NotFinite {
        /// The node.
        name: String,
    },
    /// Attributes of another graph.
    #[error("the new nodes have {found} attribute columns, but the model expects {expected}")]
    Width {
        /// Columns of the model.
        expected: usize,
        /// Columns of the new nodes.
        found: usize,
    },
    /// A pair with a node that nobody knows.
    #[error("pair {pair}: there is no {what} `{}`", quoted(.name))]
    UnknownNode {
        /// Which pair, from 1.
        pair: usize,
        /// `node`, `new node` or `known node`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A known node is asked about that is none.
    #[error("there is no known node `{}`", quoted(.name))]
    NotKnown {
        /// Its place among those that are asked about, from 1.
        place: usize,
        /// The name.
        name: String,
    },
    /// A link of a new node that cannot be used.
    #[error("link {link}: {problem}")]
    Link {
        /// Which link, from 1.
        link: usize,
        /// What is wrong with it.
        problem: LinkProblem,
    },
    /// A model that has forgotten its links cannot weigh others.
    #[error("this model keeps no links: it can be asked about new nodes without links only")]
    KeepsNoLinks,
    /// Known nodes look for known ones.
    #[error("known nodes are asked about, so there are no new nodes to find")]
    NothingNew,
    /// Candidates that cannot be chosen so.
    #[error(transparent)]
    Filter(#[from] FilterError),
}

impl QueryError {
    /// What to do about it.
    pub fn hint(&self) -> Option<Hint> {
        Some(match self {
            QueryError::Popularity { .. } => Hint::new("1 ranks as scored, 0 ranks as if popularity had no effect"),
            QueryError::Explore { .. } => Hint::new("0.3 keeps 3 of 10 places for new candidates, 0 keeps none"),
            QueryError::BaseRate { .. } => {
                Hint::new("it is the share of linked pairs among all pairs; leave it out for the training graph's")
            }
            QueryError::NoProbability => {
                Hint::new("the presets `auto` and `default` give probabilities, given enough links")
            }
            QueryError::UnknownRelation { known, .. } if known.is_empty() => {
                Hint::new("this model has one relation without a name; ask without one")
            }
            QueryError::UnknownRelation { known, .. } => Hint::text(format!("relations are `{}`", known.join("`, `"))),
            QueryError::NoDirection => Hint::new("ask without a direction"),
            QueryError::NotFinite { .. } => Hint::new("give numbers in the range of the graph's"),
            QueryError::Width { .. } => Hint::new("make the new nodes' attributes the way the graph's were made"),
            QueryError::UnknownNode { .. } => {
                Hint::new("a source is a new node, or else a known one; a target is a known node, or else a new one")
            }
            QueryError::NotKnown { .. } => Hint::new("name a node that the model was trained on"),
            QueryError::Link { problem, .. } => return problem.hint(),
            QueryError::KeepsNoLinks => Hint::new("the presets `auto` and `default` keep them, given enough links"),
            QueryError::NothingNew => Hint::new("look for targets among known nodes"),
            QueryError::Filter(error) => return error.hint(),
        })
    }
}

/// New nodes that a model is asked about, or known ones: encoded once, for any number of queries.
#[derive(Clone, Debug)]
pub struct Asked {
    new: NewNodes,
    encoded: EncodedNodes,
}

/// A query with its names and values looked up.
#[derive(Clone, Debug)]
pub struct Resolved {
    pub(super) count: usize,
    pub(super) among: Among,
    /// How many links lead to new candidates at least.
    pub(super) explored: usize,
    pub(super) excluded: Vec<NodeId>,
    /// The roles of the new nodes that links are asked of.
    pub(super) roles: Vec<usize>,
    pub(super) node_type: Option<usize>,
    pub(super) popularity: f32,
    pub(super) told: Told,
    notes: Vec<String>,
}

impl Asked {
    /// The new nodes.
    pub fn new_nodes(&self) -> &NewNodes {
        &self.new
    }

    /// The new nodes as the model sees them.
    pub fn encoded(&self) -> &EncodedNodes {
        &self.encoded
    }

    /// How many new nodes there are.
    pub fn len(&self) -> usize {
        self.new.names.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn new(new: NewNodes, encoded: EncodedNodes) -> Self {
        Asked { new, encoded }
    }

    pub(super) fn give(&mut self, links: Given) {
        self.encoded.given = links;
    }

    /// Whether these are known nodes.
    pub fn are_known(&self) -> bool {
        self.encoded.given.any_held()
    }
}

/// A popularity weight that links can be ranked by.
pub fn checked_popularity(value: f64) -> Result<f32, QueryError> {
    if POPULARITIES.contains(&value) { Ok(value as f32) } else { Err(QueryError::Popularity { value }) }
}

/// How many of `count` places a share of them is, rounded up.
fn explored(share: f64, count: usize) -> Result<usize, QueryError> {
    if !EXPLORES.contains(&share) {
        return Err(QueryError::Explore { value: share });
    }
    // A share such as .3 is no binary fraction: three tenths of ten places are three.
    Ok(((share * count as f64) * (1.0 - 1e-9)).ceil() as usize)
}

impl Resolved {
    /// What the user should know about the query.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The share of linked pairs that probabilities are stated for.
    pub fn base_rate(&self) -> f64 {
        self.told.base_rate
    }

    /// How many lists of links each new node gets: one per relation and direction.
    pub fn lists(&self) -> usize {
        self.roles.len()
    }

    /// What is looked for from each role of the new nodes.
    pub(super) fn plans(&self) -> impl Iterator<Item = Plan<'_>> {
        let Resolved { count, among, explored, node_type, popularity, .. } = *self;
        let excluded = &self.excluded[..];
        self.roles.iter().map(move |&role| Plan { count, among, explored, excluded, role, node_type, popularity })
    }
}

impl Model {
    /// Takes up new nodes. Numbers so large that a node has no embedding are refused.
    pub fn ask(&self, new: NewNodes) -> Result<Asked, QueryError> {
        let (expected, found) = (self.loaded_width(), new.attributes.width());
        if expected != found {
            return Err(QueryError::Width { expected, found });
        }
        let encoded = self.encode(&new.attributes);
        let rows = &encoded.embeddings.attributes;
        match (0..rows.rows()).find(|&row| rows.row(row).iter().any(|value| !value.is_finite())) {
            Some(row) => {
                Err(QueryError::NotFinite { name: new.names.get(self.roles.node(row as NodeId)).into_owned() })
            }
            None => Ok(Asked { new, encoded }),
        }
    }

    /// Looks up the names and values of a query, and checks its numbers.
    pub fn resolve(&self, asked: &Asked, query: &Query) -> Result<Resolved, QueryError> {
        let popularity = checked_popularity(query.popularity)?;
        let explored = explored(query.explore, query.count)?;
        if query.among != Among::Known && asked.are_known() {
            return Err(QueryError::NothingNew);
        }
        let (mut excluded, unknown) = self.excluded(asked, &query.exclude);
        for (column, condition) in &query.filters {
            excluded.extend(self.without_value(column, condition)?);
        }
        excluded.sort_unstable();
        excluded.dedup();
        let (s, belong) = if unknown == 1 { ("", "belongs") } else { ("s", "belong") };
        let excluded_note = (unknown > 0).then(|| format!("{unknown} excluded name{s} {belong} to no node"));
        let none_left = !query.filters.is_empty() && excluded.len() == self.role_nodes();
        let none_note = none_left.then(|| format!("no known node has {}", conditions_in_words(&query.filters)));
        let notes = excluded_note.into_iter().chain(none_note).chain(self.known_among(asked)).collect();
        Ok(Resolved {
            count: query.count,
            among: query.among,
            explored,
            excluded,
            roles: self.asked_roles(query.relation.as_deref(), query.direction)?,
            node_type: query.node_type.as_deref().map(|name| self.node_type(name)).transpose()?,
            popularity,
            told: Told {
                base_rate: self.checked_base_rate(query.base_rate)?,
                explain: query.explain,
                show: query.show,
            },
            notes,
        })
    }

    /// A note on new nodes that have the names of known ones.
    fn known_among(&self, asked: &Asked) -> Option<String> {
        let names = &asked.new.names;
        if asked.are_known() || matches!(names, Names::Numbered(_)) {
            return None;
        }
        let mut known = names.iter().filter(|name| self.find(name).is_some());
        let first = known.next()?;
        let example = quoted(&first);
        Some(match known.count() {
            0 => format!("new node `{example}` has the name of a known one, but is asked about as a new one"),
            more => format!(
                "{} new nodes have the names of known ones, such as `{example}`, but are asked about as new ones",
                more + 1
            ),
        })
    }

    /// The number of a relation; the first unless given.
    fn relation(&self, name: &str) -> Result<usize, QueryError> {
        let relations = self.roles.relations();
        let found = relations.iter().position(|relation| relation.name == name);
        found.ok_or_else(|| {
            let names = relations.iter().map(|relation| relation.name.clone());
            QueryError::UnknownRelation {
                name: name.to_owned(),
                known: names.filter(|name| !name.is_empty()).collect(),
            }
        })
    }

    /// The roles of new nodes that a relation and a direction are about.
    fn asked_roles(&self, relation: Option<&str>, direction: Option<Direction>) -> Result<Vec<usize>, QueryError> {
        let relations = match relation {
            Some(name) => vec![self.relation(name)?],
            None => (0..self.roles.relations().len().max(1)).collect(),
        };
        let ends: Vec<(usize, usize)> = relations.into_iter().map(|relation| self.roles.ends(relation)).collect();
        if direction.is_some() && ends.iter().all(|(source, target)| source == target) {
            return Err(QueryError::NoDirection);
        }
        let of = |(source, target): (usize, usize)| match direction.unwrap_or_default() {
            _ if source == target => vec![source],
            Direction::Out => vec![source],
            Direction::In => vec![target],
            Direction::Both => vec![source, target],
        };
        Ok(ends.into_iter().flat_map(of).collect())
    }

    /// The base rate that is asked for, or else the training graph's.
    pub fn checked_base_rate(&self, asked: Option<f64>) -> Result<f64, QueryError> {
        match asked {
            Some(value) if !BASE_RATES.contains(&value) => Err(QueryError::BaseRate { value }),
            Some(value) => Ok(value),
            None => Ok(self.base_rate()),
        }
    }

    /// The numbers of excluded nodes, where new ones come after known ones, and how many names belong to no node.
    fn excluded(&self, asked: &Asked, names: &[String]) -> (Vec<NodeId>, usize) {
        let first_new = self.summary.nodes as NodeId;
        let new = if names.is_empty() { NameIndex::Numbered(0) } else { asked.new.names.index() };
        let (mut nodes, mut unknown) = (Vec::new(), 0);
        for name in names {
            let found = [self.find(name), new.find(name).map(|node| first_new + node)];
            unknown += usize::from(found == [None, None]);
            nodes.extend(self.roles.all_of(&found.into_iter().flatten().collect::<Vec<_>>()));
        }
        (nodes, unknown)
    }

    /// The ends of pairs.
    pub fn resolve_pairs(&self, asked: &Asked, pairs: &[PairQuery]) -> Result<Vec<(End, End)>, QueryError> {
        let new = asked.new.names.index();
        let known_end = |name: &str| self.find(name).map(End::Known);
        let new_end = |name: &str| new.find(name).map(End::New);
        let ends = |(place, pair): (usize, &PairQuery)| {
            let missing = |what, name: &String| QueryError::UnknownNode { pair: place + 1, what, name: name.clone() };
            let source = new_end(&pair.source).or_else(|| known_end(&pair.source));
            let (target, what) = match pair.known {
                Some(true) => (known_end(&pair.target), "known node"),
                Some(false) => (new_end(&pair.target), "new node"),
                None => (known_end(&pair.target).or_else(|| new_end(&pair.target)), "node"),
            };
            let source = source.ok_or_else(|| missing("node", &pair.source))?;
            let target = target.ok_or_else(|| missing(what, &pair.target))?;
            let relation = pair.relation.as_deref().map_or(Ok(0), |name| self.relation(name))?;
            let (source_role, target_role) = self.roles.ends(relation);
            let at = |end: End, role: usize| match end {
                End::Known(node) => End::Known(self.roles.at(node, role)),
                End::New(node) => End::New(self.roles.at(node, role)),
            };
            Ok((at(source, source_role), at(target, target_role)))
        };
        pairs.iter().enumerate().map(ends).collect()
    }
}
