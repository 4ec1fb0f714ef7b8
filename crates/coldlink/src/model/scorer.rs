//! What scores pairs of new and known nodes.

use std::borrow::Cow;

use super::{EncodedNodes, Memory, Model};
use crate::config::Term;
use crate::dataset::End;
use crate::graph::NodeId;
use crate::index::LinkIndex;
use crate::kernel::{Entry, Matrix};
use crate::score::{EmbeddingScorer, Embeddings, Evidence, GivenWeights, LinkScorer, PairWeights, Scorer, Side};
use crate::split::PairClass;

impl Model {
    pub(super) fn link_scorer<'a>(&'a self, new: &'a EncodedNodes) -> Option<LinkScorer<'a>> {
        self.link_scorer_through(new, self.index.as_deref())
    }

    /// What scores pairs of new nodes. All that is said of a pair with one index is said from the same walk.
    pub(super) fn link_scorer_through<'a>(
        &'a self,
        new: &'a EncodedNodes,
        index: Option<&'a LinkIndex>,
    ) -> Option<LinkScorer<'a>> {
        let (memory, words) = (self.memory.as_ref()?, new.words.as_ref()?);
        let known = Side { embeddings: &self.embeddings, words: &memory.words };
        let evidence =
            Evidence::with_warm(&memory.graph, known, Cow::Borrowed(&self.derived().warm)).in_roles(&self.roles);
        let evidence = evidence.with_added(self.added_side()).in_room(self.cached.room.clone());
        let similar = index.and_then(LinkIndex::similar_nodes);
        let evidence = evidence.with_new(Side { embeddings: &new.embeddings, words }).through(similar);
        let evidence = evidence.voting(memory.weights.uses(Term::Votes)).with_given(Some(&new.given));
        Some(LinkScorer { evidence, weights: &memory.weights, popularity: 1.0 })
    }

    /// The class of a pair of a new node and another.
    pub(super) fn class_with(&self, other: End) -> PairClass {
        match other {
            End::Known(node) if self.is_warm_in_role(node) => PairClass::ColdWarm,
            _ => PairClass::ColdCold,
        }
    }

    /// The weights of a pair of a new node and another.
    pub(super) fn weights_with<'a>(
        &self,
        memory: &'a Memory,
        new: &EncodedNodes,
        (node, other): (NodeId, End),
    ) -> &'a PairWeights {
        let class = self.class_with(other);
        let given = self.given_weights(memory, new, (node, other));
        given.map_or_else(|| memory.weights.of(class, self.looking_role(node, other)), |given| &given.pair)
    }

    /// The weights of a new node's own links in a pair with another, where it has any that count.
    pub(super) fn given_weights<'a>(
        &self,
        memory: &'a Memory,
        new: &EncodedNodes,
        (node, other): (NodeId, End),
    ) -> Option<&'a GivenWeights> {
        let links = new.given.of(self.number(End::New(node)))?;
        let counts = self.class_with(other) == PairClass::ColdWarm && !links.linked.is_empty();
        memory.weights.given(self.roles.role(node)).filter(|_| counts)
    }

    /// The role whose weights count for a pair of a new node and another: the new node's, or the source's where both are new.
    pub(super) fn looking_role(&self, node: NodeId, other: End) -> usize {
        let own = self.roles.role(node);
        match other {
            End::Known(other) if self.is_warm_in_role(other) => own,
            End::Known(other) | End::New(other) => own.min(self.roles.role(other)),
        }
    }

    /// The products of the tf-idf weights that a new node shares with another, by their columns.
    pub(super) fn shared_words(&self, new: &EncodedNodes, node: NodeId, other: End) -> Vec<(u32, f64)> {
        let (Some(memory), Some(words)) = (&self.memory, &new.words) else { return Vec::new() };
        let other = match other {
            End::Known(node) => self.words_of(memory, node),
            End::New(node) => words.row(node as usize),
        };
        let shared = |entry: &Entry<f32>| {
            let place = other.binary_search_by_key(&entry.index, |other| other.index).ok()?;
            Some((entry.index, f64::from(entry.weight) * f64::from(other[place].weight)))
        };
        words.row(node as usize).iter().filter_map(shared).collect()
    }

    /// The number of a node where new ones come after those of the graph.
    pub(super) fn number(&self, end: End) -> NodeId {
        match end {
            End::Known(node) => node,
            End::New(node) => self.role_nodes() as NodeId + node,
        }
    }

    pub(super) fn score_by_lambda(&self, new: &EncodedNodes, pairs: &[(End, End)]) -> Vec<f32> {
        let width = self.config.width;
        let mut ends = Embeddings {
            attributes: Matrix::zeros(2 * pairs.len(), width),
            structure: Matrix::zeros(2 * pairs.len(), width),
            warm: Vec::with_capacity(2 * pairs.len()),
        };
        for (row, end) in pairs.iter().flat_map(|&(source, target)| [source, target]).enumerate() {
            let (from, node) = match end {
                End::Known(node) => self.row_of(node),
                End::New(node) => (&new.embeddings, node as usize),
            };
            ends.attributes.row_mut(row).copy_from_slice(from.attributes.row(node));
            ends.structure.row_mut(row).copy_from_slice(from.structure.row(node));
            ends.warm.push(from.warm[node]);
        }
        let rows: Vec<(NodeId, NodeId)> = (0..pairs.len() as NodeId).map(|pair| (2 * pair, 2 * pair + 1)).collect();
        EmbeddingScorer { embeddings: &ends, lambda: self.lambda() }.scores(&rows)
    }
}
