//! New nodes as a model sees them.

use std::borrow::Cow;
use std::sync::Arc;

use super::Model;
use crate::graph::{Attributes, NodeId, NodeTypes};
use crate::kernel::Matrix;
use crate::network::Features;
use crate::score::{Embeddings, Given, TfIdfRows, embed_attributes};

/// New nodes as a model sees them.
#[derive(Clone, Debug, PartialEq)]
pub struct EncodedNodes {
    /// Their embeddings, in each role; none is warm.
    pub embeddings: Embeddings,
    pub(super) words: Option<TfIdfRows>,
    /// Their types, where the model's nodes have types.
    pub types: Option<Arc<NodeTypes>>,
    /// Links that they have.
    pub(super) given: Given,
}

impl Model {
    /// Attributes of new nodes as the encoder sees them, in each role.
    pub(super) fn prepared<'a>(&self, attributes: &'a Attributes) -> Cow<'a, Attributes> {
        let prepared = match &self.preparation {
            Some(preparation) => Cow::Owned(preparation.apply(attributes)),
            None => Cow::Borrowed(attributes),
        };
        if self.roles.is_plain() { prepared } else { Cow::Owned(prepared.in_roles(&self.roles)) }
    }

    /// z_a of new nodes, whose attributes stand in [`Model::loaded_width`] columns: as sources of the first relation.
    pub fn embed(&self, attributes: &Attributes) -> Matrix<f32> {
        self.in_role(self.embed_prepared(&self.prepared(attributes)), self.roles.ends(0).0)
    }

    /// z_a of new nodes that were encoded, as sources of the first relation.
    pub fn source_embeddings(&self, new: &EncodedNodes) -> Matrix<f32> {
        self.in_role(new.embeddings.attributes.clone(), self.roles.ends(0).0)
    }

    /// Both embeddings of known nodes as targets of the first relation, which new nodes are compared with.
    pub fn target_embeddings(&self) -> Cow<'_, Embeddings> {
        let all = self.embeddings();
        if self.roles.is_plain() {
            return all;
        }
        let role = self.roles.ends(0).1;
        let Embeddings { attributes, structure, warm } = all.into_owned();
        Cow::Owned(Embeddings {
            attributes: self.in_role(attributes, role),
            structure: self.in_role(structure, role),
            warm: warm.iter().copied().skip(role).step_by(self.roles.count()).collect(),
        })
    }

    /// The rows of nodes in one role.
    pub(super) fn in_role(&self, rows: Matrix<f32>, role: usize) -> Matrix<f32> {
        if self.roles.is_plain() {
            return rows;
        }
        let count = self.roles.count();
        Matrix::from_fn(rows.rows() / count, rows.columns(), |row, column| rows.row(row * count + role)[column])
    }

    fn embed_prepared(&self, attributes: &Attributes) -> Matrix<f32> {
        let features = Features::new(attributes, self.config.scaling);
        let nodes: Vec<NodeId> = (0..attributes.rows() as NodeId).collect();
        embed_attributes(&self.encoder, self.config.similarity, &features, &nodes)
    }

    /// New nodes in the form that scores are computed from.
    pub fn encode(&self, attributes: &Attributes) -> EncodedNodes {
        let types = attributes.types().cloned();
        let attributes = &*self.prepared(attributes);
        let embedded = self.embed_prepared(attributes);
        let words = self.memory.as_ref().map(|memory| memory.words.of_new(attributes));
        EncodedNodes { embeddings: Embeddings::of_cold(embedded), words, types, given: Given::default() }
    }
}
