//! New nodes as a model sees them.

use std::borrow::Cow;
use std::sync::Arc;

use super::Model;
use crate::graph::{Attributes, NodeId, NodeTypes};
use crate::kernel::Matrix;
use crate::network::Features;
use crate::score::{Embeddings, TfIdfRows, embed_attributes};

/// New nodes as a model sees them.
#[derive(Clone, Debug, PartialEq)]
pub struct EncodedNodes {
    /// Their embeddings; none is warm.
    pub embeddings: Embeddings,
    pub(super) words: Option<TfIdfRows>,
    /// Their kinds, where the model's nodes have kinds.
    pub types: Option<Arc<NodeTypes>>,
}

impl Model {
    /// Attributes of new nodes as the encoder sees them.
    pub(super) fn prepared<'a>(&self, attributes: &'a Attributes) -> Cow<'a, Attributes> {
        match &self.preparation {
            Some(preparation) => Cow::Owned(preparation.apply(attributes)),
            None => Cow::Borrowed(attributes),
        }
    }

    /// z_a of new nodes, whose attributes stand in [`Model::loaded_width`] columns.
    pub fn embed(&self, attributes: &Attributes) -> Matrix<f32> {
        self.embed_prepared(&self.prepared(attributes))
    }

    fn embed_prepared(&self, attributes: &Attributes) -> Matrix<f32> {
        let features = Features::new(attributes, self.config.scaling);
        let nodes: Vec<NodeId> = (0..attributes.rows() as NodeId).collect();
        embed_attributes(&self.encoder, self.config.similarity, &features, &nodes)
    }

    /// New nodes in the form that scores are computed from.
    pub fn encode(&self, attributes: &Attributes) -> EncodedNodes {
        let attributes = &*self.prepared(attributes);
        let embedded = self.embed_prepared(attributes);
        let warm = vec![false; embedded.rows()];
        let words = self.memory.as_ref().map(|memory| memory.words.of_new(attributes));
        let types = attributes.types().cloned();
        EncodedNodes {
            embeddings: Embeddings { structure: embedded.clone(), warm, attributes: embedded },
            words,
            types,
        }
    }
}
