//! New nodes that stay: they join those that links are looked for among, without training.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use super::added::AddedNodes;
use super::{LinkedTypes, Memory, Model, Summary};
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
        self.check_names(&new.names)?;
        // Where nodes had numbers and have names from now on, all are written out.
        let (model, names) = match self.names.followed_by(&new.names) {
            Some(names) => (Cow::Borrowed(self), names),
            None => {
                let model = Model { stored: None, ..self.in_one().into_owned() };
                (Cow::Owned(model), Names::from_texts(self.names.iter().chain(new.names.iter())))
            }
        };
        let encoded = model.encode(&new.attributes);
        let types = model.types.as_ref().map(|types| types.followed_by(encoded.types.as_deref(), new.names.len()));
        let facts = model.facts.of_new(model.schema(), new);
        Ok(model.with_added(AddedNodes::of_new(encoded, facts), names, types, new.names.len()))
    }

    /// The model with these nodes after its own.
    pub(super) fn with_added(&self, new: AddedNodes, names: Names, types: Option<LinkedTypes>, count: usize) -> Self {
        let parts: Vec<&AddedNodes> = self.added.as_deref().into_iter().chain([&new]).collect();
        let with_more = |memory: &Memory| Memory {
            graph: memory.graph.with_unlinked(count * self.roles.count()),
            ..memory.clone()
        };
        Model {
            summary: Summary {
                nodes: self.summary.nodes + count,
                added: self.summary.added + count,
                ..self.summary.clone()
            },
            cached: self.cached.with_more(&names),
            names,
            types,
            memory: self.memory.as_ref().map(with_more),
            added: AddedNodes::of(&parts).map(Arc::new),
            // The index covers the first nodes still; those that came later are looked through beside it.
            ..self.clone()
        }
    }

    /// Whether the names of new nodes are neither taken nor missing.
    fn check_names(&self, new: &Names) -> Result<(), AddError> {
        if matches!((&self.names, new), (Names::Numbered(_), Names::Numbered(_))) {
            return Ok(());
        }
        let mut taken = HashSet::new();
        for (row, name) in new.iter().enumerate() {
            if name.is_empty() {
                return Err(AddError::NoName { row: row + 1 });
            }
            if self.find(&name).is_some() {
                return Err(AddError::Known { name: name.into_owned() });
            }
            if !taken.insert(name.clone()) {
                return Err(AddError::Repeated { name: name.into_owned() });
            }
        }
        Ok(())
    }
}
