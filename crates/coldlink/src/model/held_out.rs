//! What an evaluation on held-out links asks of a model: who asks for what, among whom, and what scores that.

use super::{Asked, EncodedNodes, Model, Plan};
use crate::dataset::{End, GivenLink, LinkProblem};
use crate::graph::{Graph, NameIndex, Names, NodeId};
use crate::score::{EmbeddingScorer, Embeddings, Given, Scorer, TfIdfRows};

/// A held-out link as a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeldOutLink {
    /// A node that asks, and the known node that it should find, both in their roles.
    Asked(End, NodeId),
    /// A node and itself.
    SelfLoop,
    /// Two new nodes.
    BetweenNew,
}

/// A score by λ of nodes that ask with all others.
struct ByLambda {
    embeddings: Embeddings,
    lambda: [f32; 3],
}

impl Scorer for ByLambda {
    fn scores(&self, pairs: &[(NodeId, NodeId)]) -> Vec<f32> {
        EmbeddingScorer { embeddings: &self.embeddings, lambda: self.lambda }.scores(pairs)
    }
}

impl Model {
    /// What a held-out link asks: a new end asks for the known one, of two known ends the source asks.
    pub(crate) fn held_out_link(&self, new: &NameIndex<'_>, link: &GivenLink) -> Result<HeldOutLink, LinkProblem> {
        let nobody = |name: &str| LinkProblem::NoSuchNode { name: name.to_owned() };
        let (new_end, known_end) = (|name: &str| new.find(name), |name: &str| self.find(name));
        let (of_source, of_target) = self.roles().ends(self.given_relation(link.relation.as_deref())?);
        let known = |name: &str, role: usize| known_end(name).map(|node| self.roles.at(node, role));
        let asks = |node: NodeId, role: usize| End::New(self.roles.at(node, role));
        if let Some(source) = new_end(&link.source) {
            // Numbers of new nodes are others than those of known ones.
            let is_same = link.source == link.target && !matches!(new, NameIndex::Numbered(_));
            return match (known(&link.target, of_target), new_end(&link.target)) {
                _ if is_same => Ok(HeldOutLink::SelfLoop),
                (Some(target), _) => Ok(HeldOutLink::Asked(asks(source, of_source), target)),
                (None, Some(_)) => Ok(HeldOutLink::BetweenNew),
                (None, None) => Err(nobody(&link.target)),
            };
        }
        let source = known(&link.source, of_source).ok_or_else(|| nobody(&link.source))?;
        match (known(&link.target, of_target), new_end(&link.target)) {
            _ if link.source == link.target => Ok(HeldOutLink::SelfLoop),
            (Some(target), _) => Ok(HeldOutLink::Asked(End::Known(source), target)),
            (None, Some(target)) => Ok(HeldOutLink::Asked(asks(target, of_target), source)),
            (None, None) => Err(nobody(&link.target)),
        }
    }

    /// The known node, in the same role, that a new one has the name of.
    pub(crate) fn namesake(&self, asked: &Asked, asks: NodeId) -> Option<NodeId> {
        let names = &asked.new_nodes().names;
        if matches!(names, Names::Numbered(_)) {
            return None;
        }
        let node = self.find(&names.get(self.roles.node(asks)))?;
        Some(self.roles.at(node, self.roles.role(asks)))
    }

    /// What a known role node must not find, in rising order: itself, and what it is linked with.
    pub(crate) fn not_to_find(&self, known: NodeId) -> Vec<NodeId> {
        let itself = self.roles.at(self.roles.node(known), self.roles.opposite(self.roles.role(known)));
        let linked = self.memory.as_ref().map_or(&[][..], |memory| memory.graph.neighbors(known));
        let mut all = [linked, &[itself]].concat();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Whether training saw a link between two known role nodes.
    pub(crate) fn was_trained_on(&self, a: NodeId, b: NodeId) -> bool {
        self.memory.as_ref().is_some_and(|memory| memory.graph.has_link(a, b))
    }

    /// Who is asked the same: nodes in one role and of one type choose among the same known ones.
    pub(crate) fn kind_that_asks(&self, asked: &Asked, asks: NodeId) -> (usize, usize) {
        let of = |types: &crate::graph::NodeTypes| types.of(self.roles.node(asks));
        (self.roles.role(asks), asked.encoded().types.as_deref().map_or(0, of))
    }

    /// The known role nodes that lists of a node choose from, in rising order.
    pub(crate) fn choices(&self, asked: &Asked, asks: NodeId) -> Vec<NodeId> {
        let plan = Plan { role: self.roles.role(asks), ..Plan::best(0) };
        let row = self.roles.node(asks) as usize;
        let of_role = plan.candidates(self.role_nodes(), 0, &self.roles);
        of_role.into_iter().filter(|&node| self.is_candidate(asked.encoded(), row, plan, node)).collect()
    }

    /// Scores nodes that ask, which are numbered after the known ones, as lists do where every node is scored.
    pub(crate) fn scorer<'a>(&'a self, asked: &'a Asked) -> Box<dyn Scorer + 'a> {
        let new: &EncodedNodes = asked.encoded();
        match self.link_scorer_through(new, None) {
            Some(scorer) => Box::new(scorer),
            None => {
                let embeddings = Embeddings::concatenated(&[&self.embeddings(), &new.embeddings]);
                Box::new(ByLambda { embeddings: embeddings.expect("all rows have one width"), lambda: self.lambda() })
            }
        }
    }

    /// The links that nodes have when they ask.
    pub(crate) fn given<'a>(&self, asked: &'a Asked) -> &'a Given {
        &asked.encoded().given
    }

    /// The links and the tf-idf rows of all nodes, those that ask after the known ones, where the model keeps them.
    pub(crate) fn kept_with(&self, asked: &Asked) -> Option<(Graph, TfIdfRows)> {
        let (memory, words) = (self.memory.as_ref()?, asked.encoded().words.as_ref()?);
        let added = self.added.as_ref().and_then(|added| added.words.as_ref());
        let parts: Vec<&TfIdfRows> = [Some(&memory.words), added, Some(words)].into_iter().flatten().collect();
        Some((memory.graph.with_unlinked(words.rows()), TfIdfRows::concatenated(&parts)?))
    }
}
