//! Nodes that were added to a model, kept apart from the others: so adding costs what is added, not what the model is.

use std::borrow::Cow;

use super::cached::Cached;
use super::{EncodedNodes, Memory, Model, NodeFacts};
use crate::graph::{Names, NodeId};
use crate::kernel::{Entry, Matrix};
use crate::score::{Embeddings, Side, TfIdfRows};

/// All that is known of such nodes apart from names and types. They have no links.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AddedNodes {
    /// In each role.
    pub embeddings: Embeddings,
    /// Once for each node.
    pub facts: NodeFacts,
    /// In each role.
    pub words: Option<TfIdfRows>,
}

impl AddedNodes {
    /// New nodes as the model sees them, with what it keeps of their rows.
    pub fn of_new(encoded: EncodedNodes, facts: NodeFacts) -> Self {
        AddedNodes { embeddings: encoded.embeddings, facts, words: encoded.words }
    }

    /// Of several, one after the other.
    pub fn of(parts: &[&AddedNodes]) -> Option<Self> {
        let rows = parts.iter().map(|part| part.embeddings.attributes.chunks()).collect::<Vec<_>>().concat();
        let (nodes, width) =
            (parts.iter().map(|part| part.embeddings.nodes()).sum(), parts.first()?.embeddings.attributes.columns());
        let words: Option<Vec<_>> = parts.iter().map(|part| part.words.as_ref()).collect();
        let embeddings = Embeddings::of_cold(Matrix::from_chunks(nodes, width, rows)?);
        let facts = NodeFacts::concatenated(&parts.iter().map(|part| &part.facts).collect::<Vec<_>>());
        Some(AddedNodes { embeddings, facts, words: words.and_then(|words| TfIdfRows::concatenated(&words)) })
    }

    /// The last of them, each in so many roles.
    pub fn last(&self, nodes: usize, roles: usize) -> Self {
        let count = nodes * roles;
        let (rows, first) = (&self.embeddings.attributes, self.embeddings.nodes() - count);
        let chunks = rows.chunks()[first * rows.row_chunks()..].to_vec();
        let rows = Matrix::from_chunks(count, rows.columns(), chunks).expect("whole rows");
        let words = |words: &TfIdfRows| words.of_rows((first..words.rows()).map(|row| words.row(row)));
        let facts = self.facts.after(self.embeddings.nodes() / roles - nodes);
        AddedNodes { embeddings: Embeddings::of_cold(rows), facts, words: self.words.as_ref().map(words) }
    }

    /// Bytes of memory that they take.
    pub fn held_bytes(&self) -> usize {
        let of_words =
            |words: &TfIdfRows| size_of_val(words.offsets()) + size_of_val(words.entries()) + words.held_bytes();
        let of_rows = size_of_val(self.embeddings.attributes.chunks()) + self.embeddings.nodes();
        of_rows + self.facts.held_bytes() + self.words.as_ref().map_or(0, of_words)
    }
}

impl Model {
    /// The same model with all of its nodes in one place, as files and whatever goes through all of them want it.
    pub(super) fn in_one(&self) -> Cow<'_, Model> {
        let Some(added) = self.added.as_deref() else { return Cow::Borrowed(self) };
        let embeddings = Embeddings::concatenated(&[&self.embeddings, &added.embeddings]);
        let memory = self.memory.as_ref().zip(added.words.as_ref()).map(|(memory, words)| Memory {
            words: TfIdfRows::concatenated(&[&memory.words, words]).expect("two parts"),
            ..memory.clone()
        });
        let names = match &self.names {
            Names::Numbered(count) => Names::Numbered(*count),
            names => Names::from_texts(names.iter()),
        };
        let (embeddings, facts) = (embeddings.expect("all rows have one width"), self.all_facts().into_owned());
        Cow::Owned(Model { names, embeddings, facts, memory, added: None, cached: Cached::default(), ..self.clone() })
    }

    /// The embeddings that a role node is among, and its place there.
    pub(super) fn row_of(&self, role_node: NodeId) -> (&Embeddings, usize) {
        let row = role_node as usize;
        match (row.checked_sub(self.embeddings.nodes()), &self.added) {
            (Some(row), Some(added)) => (&added.embeddings, row),
            _ => (&self.embeddings, row),
        }
    }

    /// The attribute embedding of a known role node.
    pub fn attribute_embedding(&self, role_node: NodeId) -> &[f32] {
        let (embeddings, row) = self.row_of(role_node);
        embeddings.attributes.row(row)
    }

    /// Whether a known role node has a training link.
    pub(super) fn is_warm_in_role(&self, role_node: NodeId) -> bool {
        self.embeddings.warm.get(role_node as usize) == Some(&true)
    }

    /// The tf-idf row of a known role node.
    pub(super) fn words_of<'a>(&'a self, memory: &'a Memory, role_node: NodeId) -> &'a [Entry<f32>] {
        let row = role_node as usize;
        let added = self.added.as_ref().and_then(|added| added.words.as_ref());
        match (row.checked_sub(memory.words.rows()), added) {
            (Some(row), Some(words)) => words.row(row),
            _ => memory.words.row(row),
        }
    }

    /// What scores need of added nodes.
    pub(super) fn added_side(&self) -> Option<Side<'_>> {
        let added = self.added.as_deref()?;
        Some(Side { embeddings: &added.embeddings, words: added.words.as_ref()? })
    }
}
