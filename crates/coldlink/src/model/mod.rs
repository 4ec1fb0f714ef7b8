//! A trained model as it is served: it encodes new nodes, finds and scores their links, says why, and is kept in one file.

mod add;
mod added;
mod answer;
mod cached;
mod dense;
mod explain;
mod facts;
mod file;
mod filters;
mod given;
mod held_out;
mod indexed;
mod links;
mod new_nodes;
mod query;
mod retrieve;
mod scorer;
mod similar;
mod summary;
#[cfg(test)]
mod tests;
mod types;

use std::borrow::Cow;
use std::sync::Arc;

pub use add::AddError;
pub use answer::{Explanation, Link, Reason, SimilarNode, Told};
pub use explain::ScoreParts;
pub use filters::FilterError;
pub(crate) use held_out::HeldOutLink;
pub use indexed::IndexProblem;
pub use links::{Among, Plan};
pub use new_nodes::EncodedNodes;
pub use query::{
    Asked, BASE_RATES, Direction, EXPLORES, NAMED_ATTRIBUTES, POPULARITIES, Query, QueryError, Resolved,
    checked_popularity,
};
pub use summary::Summary;
pub use types::LinkedTypes;

use added::AddedNodes;
use cached::Cached;
pub(crate) use facts::NodeFacts;
use file::Stored;

use crate::columns::{Preparation, Schema};
use crate::config::Config;
use crate::graph::{Graph, Names, NodeId, Roles};
use crate::index::LinkIndex;
use crate::kernel::Matrix;
use crate::network::AttributeEncoder;
use crate::score::{Embeddings, ScoreWeights, TfIdfRows};

/// A trained model.
#[derive(Clone, Debug)]
pub struct Model {
    /// All settings.
    pub(crate) config: Config,
    /// How it came to be.
    pub(crate) summary: Summary,
    /// The names of the nodes it knows.
    pub(crate) names: Names,
    /// How tables become attributes, where it was trained on tables.
    pub(crate) schema: Option<Arc<Schema>>,
    /// What was fitted to these attributes.
    pub(crate) preparation: Option<Arc<Preparation>>,
    /// The roles of its nodes.
    pub(crate) roles: Roles,
    /// Types of nodes, where there are several.
    pub(crate) types: Option<LinkedTypes>,
    /// Both embeddings of the nodes it knows, in each role, apart from those that were added.
    embeddings: Embeddings,
    /// Titles and numbers of the nodes it knows, apart from those that were added.
    facts: NodeFacts,
    /// What else it knows of them, where its score is made of fitted terms.
    pub(crate) memory: Option<Memory>,
    /// Nodes that were added, which are the last ones.
    added: Option<Arc<AddedNodes>>,
    encoder: AttributeEncoder<Matrix<f32>>,
    /// Through which links are found, where there is one.
    index: Option<Arc<LinkIndex>>,
    /// What a file holds of it.
    stored: Option<Stored>,
    cached: Cached,
}

/// What a score of fitted terms needs beside embeddings.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Memory {
    /// The links of all nodes.
    pub graph: Graph,
    /// tf-idf rows of the nodes, apart from those that were added.
    pub words: TfIdfRows,
    /// The weights of the terms.
    pub weights: ScoreWeights,
}

/// What a model is made of, when its training is over.
pub(crate) struct Parts {
    pub config: Config,
    pub summary: Summary,
    pub names: Names,
    pub schema: Option<Schema>,
    pub preparation: Option<Preparation>,
    pub roles: Roles,
    pub types: Option<LinkedTypes>,
    pub embeddings: Embeddings,
    pub facts: NodeFacts,
    pub memory: Option<Memory>,
    pub encoder: AttributeEncoder<Matrix<f32>>,
}

impl From<Parts> for Model {
    fn from(parts: Parts) -> Self {
        let Parts { config, summary, names, schema, preparation, roles, types, embeddings, facts, memory, encoder } =
            parts;
        let (schema, preparation) = (schema.map(Arc::new), preparation.map(Arc::new));
        let (added, index, stored, cached) = (None, None, None, Cached::default());
        Model {
            config,
            summary,
            names,
            schema,
            preparation,
            roles,
            types,
            embeddings,
            facts,
            memory,
            added,
            encoder,
            index,
            stored,
            cached,
        }
    }
}

/// Two models are equal whatever was asked of them, and however their nodes came to them.
impl PartialEq for Model {
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (self.in_one(), other.in_one());
        let of_nodes = a.names == b.names && a.types == b.types && a.embeddings == b.embeddings && a.memory == b.memory;
        let of_nodes = of_nodes && a.facts == b.facts;
        let of_attributes = a.schema == b.schema && a.preparation == b.preparation && a.encoder == b.encoder;
        of_nodes
            && of_attributes
            && a.config == b.config
            && a.summary == b.summary
            && a.roles == b.roles
            && a.index == b.index
    }
}

impl Model {
    /// All settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// How it came to be.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// The names of the nodes it knows.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// How tables become attributes, where it was trained on tables.
    pub fn schema(&self) -> Option<&Schema> {
        self.schema.as_deref()
    }

    /// The roles of its nodes. Embeddings, links and tf-idf rows are those of role nodes.
    pub fn roles(&self) -> &Roles {
        &self.roles
    }

    /// How many role nodes it knows.
    pub(crate) fn role_nodes(&self) -> usize {
        self.summary.nodes * self.roles.count()
    }

    /// Both embeddings of the role nodes it knows.
    pub fn embeddings(&self) -> Cow<'_, Embeddings> {
        match self.in_one() {
            Cow::Borrowed(model) => Cow::Borrowed(&model.embeddings),
            Cow::Owned(model) => Cow::Owned(model.embeddings),
        }
    }

    /// The links it was trained on, where its score is made of fitted terms.
    pub fn graph(&self) -> Option<&Graph> {
        self.memory.as_ref().map(|memory| &memory.graph)
    }

    /// The tf-idf rows of the nodes it was trained with, where its score is made of fitted terms.
    pub fn words(&self) -> Option<&TfIdfRows> {
        self.memory.as_ref().map(|memory| &memory.words)
    }

    /// The weights of the score, where it is made of fitted terms.
    pub fn weights(&self) -> Option<&ScoreWeights> {
        self.memory.as_ref().map(|memory| &memory.weights)
    }

    /// λ of Eq. 10.
    pub fn lambda(&self) -> [f32; 3] {
        self.config.lambda.map(|weight| weight as f32)
    }

    /// How many columns attributes of new nodes have.
    pub fn loaded_width(&self) -> usize {
        self.preparation.as_ref().map_or(self.summary.attributes, |preparation| preparation.loaded_width())
    }

    /// Whether scores give probabilities: they do where their weights are fitted.
    pub fn gives_probabilities(&self) -> bool {
        self.memory.is_some()
    }

    /// The probability of a link, given its score and the share of linked pairs among all; `None` where the score is none of
    /// fitted terms.
    pub fn probability(&self, score: f32, base_rate: f64) -> Option<f64> {
        Some(self.memory.as_ref()?.weights.probability(f64::from(score), base_rate))
    }

    /// What moves a score to a base rate, as log-odds; `None` where the score is none of fitted terms.
    pub fn shift_to(&self, base_rate: f64) -> Option<f64> {
        Some(self.memory.as_ref()?.weights.shift_to(base_rate))
    }

    /// The share of linked pairs among all pairs of the training graph whose node types are linked at all. Nodes that were added
    /// had no chance of a link yet, so they do not make links rarer.
    pub fn base_rate(&self) -> f64 {
        let nodes = self.summary.nodes.saturating_sub(self.summary.added);
        if let Some(types) = &self.types {
            let links = self.memory.as_ref().map_or(self.summary.links, |memory| memory.graph.links());
            return 2.0 * links as f64 / types.pairs(nodes).max(1.0);
        }
        let nodes = nodes as f64;
        let pairs = (nodes * (nodes - 1.0)).max(1.0);
        match &self.memory {
            // A directed relation has a pair for either direction.
            Some(memory) if !self.roles.is_plain() => {
                2.0 * memory.graph.links() as f64 / (self.roles.count() as f64 * pairs)
            }
            _ => 2.0 * self.summary.links as f64 / pairs,
        }
    }

    /// The known nodes that a known node is linked with, in any role and relation, in rising order.
    pub fn neighbors(&self, node: NodeId) -> Vec<NodeId> {
        let Some(memory) = &self.memory else { return Vec::new() };
        let of = self.roles.all_of(&[node]);
        let linked = of.iter().flat_map(|&role_node| memory.graph.neighbors(role_node));
        let mut neighbors: Vec<NodeId> = linked.map(|&other| self.roles.node(other)).collect();
        neighbors.sort_unstable();
        neighbors.dedup();
        neighbors
    }

    /// Whether a known node has a training link, in any role.
    pub fn is_warm(&self, node: NodeId) -> bool {
        self.roles.all_of(&[node]).into_iter().any(|role_node| self.is_warm_in_role(role_node))
    }

    /// How many links a known node has, in all roles; none where the model keeps no links.
    pub fn degree(&self, node: NodeId) -> Option<usize> {
        let memory = self.memory.as_ref()?;
        Some(self.roles.all_of(&[node]).into_iter().map(|role_node| memory.graph.degree(role_node)).sum())
    }
}
