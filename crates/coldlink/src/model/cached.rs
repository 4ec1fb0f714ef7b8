//! What follows from a model and is made when it is first needed, once.

use std::sync::OnceLock;

use super::Model;
use crate::graph::{Graph, NameOrder, NodeId};
use crate::score::WarmNodes;

/// Two models are equal whatever was asked of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Cached {
    derived: OnceLock<Box<Derived>>,
    names: OnceLock<NameOrder>,
    attribute_names: OnceLock<Vec<String>>,
}

/// What scores need beside the model's arrays.
#[derive(Clone, Debug)]
pub(super) struct Derived {
    pub warm: WarmNodes,
    /// What is added to any pair of a new node with each node.
    pub biases: Vec<f32>,
}

impl PartialEq for Cached {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Model {
    pub(super) fn derived(&self) -> &Derived {
        self.cached.derived.get_or_init(|| {
            let empty = Graph::from_links(self.embeddings.nodes(), []);
            let graph = self.memory.as_ref().map_or(&empty, |memory| &memory.graph);
            Box::new(Derived { warm: WarmNodes::of(graph, &self.embeddings), biases: self.dense_biases() })
        })
    }

    fn name_order(&self) -> &NameOrder {
        self.cached.names.get_or_init(|| NameOrder::new(&self.names))
    }

    /// The known node of that name.
    pub fn find(&self, name: &str) -> Option<NodeId> {
        self.name_order().find(&self.names, name)
    }

    /// Up to `most` known nodes whose names begin with `prefix`, in the order of their names.
    pub fn starting_with(&self, prefix: &str, most: usize) -> Vec<NodeId> {
        self.name_order().starting_with(&self.names, prefix, most)
    }

    /// What the attributes are called that explanations name; nothing where that is not known.
    pub fn attribute_names(&self) -> &[String] {
        self.cached.attribute_names.get_or_init(|| {
            let loaded = self.schema.as_ref().map(crate::columns::Schema::attribute_names).unwrap_or_default();
            self.preparation.as_ref().map(|preparation| preparation.names(&loaded)).unwrap_or(loaded)
        })
    }
}
