//! New nodes that stay: they join those that links are looked for among, without training.

use std::borrow::Cow;
use std::collections::HashSet;

use super::cached::Cached;
use super::{Memory, Model, Summary};
use crate::dataset::NewNodes;
use crate::graph::{Names, NodeId};
use crate::hint::Hint;

/// Why nodes could not join a model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddError {
    /// The model has a node of that name.
    #[error("the model already has a node `{name}`")]
    Known {
        /// The name.
        name: String,
    },
    /// Two of the new nodes have one name.
    #[error("two new nodes are named `{name}`")]
    Repeated {
        /// The name.
        name: String,
    },
    /// A node without a name could not be told from others.
    #[error("new node {row} has no name")]
    NoName {
        /// Its place, from 1.
        row: usize,
    },
    /// Attributes of another graph.
    #[error("new nodes have {found} attribute columns, expected {expected}")]
    Width {
        /// Columns of the model.
        expected: usize,
        /// Columns of the new nodes.
        found: usize,
    },
    /// More than can be numbered.
    #[error("{nodes} nodes are too many: a model holds up to {}", NodeId::MAX)]
    TooMany {
        /// All nodes together.
        nodes: usize,
    },
}

impl AddError {
    /// What to do about it, where there is something.
    pub fn hint(&self) -> Option<Hint> {
        Some(Hint::new(match self {
            AddError::Known { .. } => "give the new node another name | leave it out",
            AddError::Repeated { .. } => "rename one of the two | leave it out",
            AddError::NoName { .. } => "give every new node a name",
            AddError::Width { .. } => "encode new nodes the way the graph's nodes were encoded",
            AddError::TooMany { .. } => return None,
        }))
    }
}

impl Model {
    /// The model with new nodes among its own, as nodes without links. Scores of other nodes stay as they are.
    ///
    /// Where both the model's nodes and the new ones are known by number only, the new ones go on counting.
    pub fn add(&self, new: &NewNodes) -> Result<Model, AddError> {
        let (expected, found) = (self.loaded_width(), new.attributes.width());
        if expected != found {
            return Err(AddError::Width { expected, found });
        }
        let nodes = self.summary.nodes + new.names.len();
        if nodes.saturating_mul(self.roles.count()) > NodeId::MAX as usize {
            return Err(AddError::TooMany { nodes });
        }
        let names = self.names_followed_by(&new.names)?;
        let encoded = self.encode(&new.attributes);
        let memory = self.memory.as_ref().map(|memory| Memory {
            graph: memory.graph.with_unlinked(new.names.len() * self.roles.count()),
            words: memory.words.followed_by(&memory.words.of_new(&self.prepared(&new.attributes))),
            weights: memory.weights.clone(),
        });
        Ok(Model {
            config: self.config.clone(),
            summary: Summary { nodes, added: self.summary.added + new.names.len(), ..self.summary.clone() },
            names,
            schema: self.schema.clone(),
            preparation: self.preparation.clone(),
            roles: self.roles.clone(),
            types: self.types.as_ref().map(|types| types.followed_by(encoded.types.as_deref(), new.names.len())),
            embeddings: self.embeddings.followed_by(&encoded.embeddings),
            memory,
            encoder: self.encoder.clone(),
            // It covers the first nodes still; those that came later are looked through beside it.
            index: self.index.clone(),
            cached: Cached::default(),
        })
    }

    /// Its names and those of new nodes, if all are different.
    fn names_followed_by(&self, new: &Names) -> Result<Names, AddError> {
        if let (Names::Numbered(known), Names::Numbered(new)) = (&self.names, new) {
            return Ok(Names::Numbered(known + new));
        }
        let mut taken = HashSet::new();
        for node in 0..new.len() as NodeId {
            let name = new.get(node);
            if name.is_empty() {
                return Err(AddError::NoName { row: node as usize + 1 });
            }
            if self.find(&name).is_some() {
                return Err(AddError::Known { name: name.into_owned() });
            }
            if !taken.insert(name.clone()) {
                return Err(AddError::Repeated { name: name.into_owned() });
            }
        }
        Ok(Names::from_texts(all(&self.names).chain(all(new))))
    }
}

fn all(names: &Names) -> impl Iterator<Item = Cow<'_, str>> {
    (0..names.len() as NodeId).map(|node| names.get(node))
}
