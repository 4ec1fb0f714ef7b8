//! What follows from a model and is made when it is first needed, once.

use std::sync::{Arc, OnceLock};

use super::Model;
use crate::graph::{Graph, NameOrder, Names, NodeId};
use crate::score::{Room, WarmNodes};

/// Models that differ in added nodes alone share what does not depend on these.
#[derive(Clone, Debug, Default)]
pub(super) struct Cached {
    derived: Arc<OnceLock<Derived>>,
    names: OnceLock<NameOrder>,
    attribute_names: Arc<OnceLock<Vec<String>>>,
    /// Where questions count walks and votes, one after the other.
    pub room: Room,
}

/// What scores need beside the model's arrays, apart from added nodes.
#[derive(Debug)]
pub(super) struct Derived {
    pub warm: WarmNodes,
    /// What is added to any pair of a new node with each node.
    pub biases: Vec<f32>,
}

impl Cached {
    /// Of a model to which further nodes are added, with the names of all.
    pub fn with_more(&self, names: &Names) -> Self {
        let order = self.names.get().map(|order| OnceLock::from(order.of_more(names)));
        Cached { names: order.unwrap_or_default(), ..self.clone() }
    }
}

impl Model {
    pub(super) fn derived(&self) -> &Derived {
        self.cached.derived.get_or_init(|| {
            let empty = Graph::from_links(self.embeddings.nodes(), []);
            let graph = self.memory.as_ref().map_or(&empty, |memory| &memory.graph);
            Derived { warm: WarmNodes::of(graph, &self.embeddings), biases: self.dense_biases() }
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

    /// Makes at once what is otherwise made when it is first needed, so that the first query takes no longer than the next.
    pub fn prepare(&self) {
        self.derived();
        self.name_order();
        self.attribute_names();
        if let Some(memory) = &self.memory {
            memory.words.prepare();
        }
    }

    /// Bytes of memory that a model from a file takes beside that file, once it is prepared: what follows from its arrays, and the
    /// few that are not used from the file.
    pub fn held_bytes(&self) -> usize {
        let Derived { warm, biases } = self.derived();
        let of_scores = size_of_val(warm.nodes()) + 2 * size_of_val(&biases[..]);
        let of_later = if let Names::Texts(texts) = &self.names { texts.later_bytes() } else { 0 };
        let of_names = self.name_order().held_bytes() + of_later;
        let of_attributes = self.attribute_names().iter().map(|name| size_of::<String>() + name.len()).sum::<usize>();
        let of_words = self.memory.as_ref().map_or(0, |memory| memory.words.held_bytes());
        let of_types = self.types.as_ref().map_or(0, |types| types.types.all().len());
        let of_added = self.added.as_ref().map_or(0, |added| added.held_bytes());
        // The offsets of links are made anew for them.
        let of_added = of_added + if of_added > 0 { self.role_nodes() * size_of::<u64>() } else { 0 };
        of_scores + of_names + of_attributes + of_words + of_types + of_added + self.embeddings.warm.len()
    }

    /// What an attribute is called that explanations name.
    pub fn attribute_name(&self, column: u32) -> String {
        let known = self.attribute_names().get(column as usize).cloned();
        known.unwrap_or_else(|| format!("attribute {column}"))
    }

    /// What the attributes are called that explanations name; nothing where that is not known.
    pub fn attribute_names(&self) -> &[String] {
        self.cached.attribute_names.get_or_init(|| {
            let loaded = self.schema.as_ref().map(|schema| schema.attribute_names()).unwrap_or_default();
            self.preparation.as_ref().map(|preparation| preparation.names(&loaded)).unwrap_or(loaded)
        })
    }
}
