//! Nodes that have links: known nodes with all of theirs, and new nodes that are given some.

use std::sync::Arc;

use super::{Asked, EncodedNodes, Memory, Model, QueryError};
use crate::columns::Mismatches;
use crate::dataset::{End, GivenLink, LinkProblem, NewNodes};
use crate::graph::{Attributes, NameIndex, Names, NodeId};
use crate::kernel::Matrix;
use crate::score::{Embeddings, Given, GivenLinks};

impl Model {
    /// Takes up known nodes: they are asked about as new nodes are, but with all of their links, and for links they do not have.
    pub fn ask_known(&self, names: &[String]) -> Result<Asked, QueryError> {
        let Some(memory) = &self.memory else { return Err(QueryError::KeepsNoLinks) };
        let find = |(place, name): (usize, &String)| {
            self.find(name).ok_or_else(|| QueryError::NotKnown { place: place + 1, name: name.clone() })
        };
        let nodes = names.iter().enumerate().map(find).collect::<Result<Vec<NodeId>, _>>()?;
        let role_nodes = self.roles.all_of(&nodes);
        let first = self.role_nodes() as NodeId;
        let links = role_nodes.iter().zip(first..).map(|(&node, number)| {
            (number, GivenLinks { linked: memory.graph.neighbors(node).to_vec(), held: Some(node) })
        });
        let encoded = EncodedNodes { given: Given::new(links), ..self.as_if_new(&role_nodes) };
        let attributes = Attributes::from_rows(self.loaded_width(), &vec![Vec::new(); nodes.len()]);
        let attributes = attributes.map_err(|_| QueryError::KeepsNoLinks)?;
        let (names, titles) = (Names::from_texts(names), self.titles_of(&nodes));
        let new = NewNodes { names, titles, attributes, mismatches: Mismatches::default() };
        Ok(Asked::new(new, encoded))
    }

    /// Takes up new nodes that have some links already.
    pub fn ask_linked(&self, new: NewNodes, links: &[GivenLink]) -> Result<Asked, QueryError> {
        self.with_links(self.ask(new)?, links)
    }

    /// The same for new nodes that were taken up without links.
    pub fn with_links(&self, mut asked: Asked, links: &[GivenLink]) -> Result<Asked, QueryError> {
        if links.is_empty() {
            return Ok(asked);
        }
        if self.memory.is_none() {
            return Err(QueryError::KeepsNoLinks);
        }
        let index = asked.new_nodes().names.index();
        let found = links.iter().enumerate().map(|(place, link)| {
            self.given_link(&index, link).map_err(|problem| QueryError::Link { link: place + 1, problem })
        });
        let found = found.collect::<Result<Vec<_>, _>>()?;
        drop(index);
        asked.give(Given::of_links(found));
        Ok(asked)
    }

    /// The numbers of both ends of a link, the new one first.
    fn given_link(&self, new: &NameIndex<'_>, link: &GivenLink) -> Result<(NodeId, NodeId), LinkProblem> {
        let find = |name: &str, new_first: bool| {
            let ends = [new.find(name).map(End::New), self.find(name).map(End::Known)];
            let [first, second] = if new_first { ends } else { [ends[1], ends[0]] };
            first.or(second).ok_or_else(|| LinkProblem::UnknownNode { name: name.to_owned() })
        };
        let source = find(&link.source, true)?;
        let target = find(&link.target, matches!(source, End::Known(_)))?;
        let (source_role, target_role) = self.roles.ends(self.given_relation(link.relation.as_deref())?);
        let first_new = self.role_nodes() as NodeId;
        match (source, target) {
            (End::New(new), End::Known(known)) => {
                Ok((first_new + self.roles.at(new, source_role), self.roles.at(known, target_role)))
            }
            (End::Known(known), End::New(new)) => {
                Ok((first_new + self.roles.at(new, target_role), self.roles.at(known, source_role)))
            }
            (End::Known(_), End::Known(_)) => {
                Err(LinkProblem::BothKnown { source_name: link.source.clone(), target: link.target.clone() })
            }
            (End::New(_), End::New(_)) => {
                Err(LinkProblem::BothNew { source_name: link.source.clone(), target: link.target.clone() })
            }
        }
    }

    /// The number of a link's relation, which must be named where there are several.
    pub(super) fn given_relation(&self, name: Option<&str>) -> Result<usize, LinkProblem> {
        let relations = self.roles.relations();
        let known = || {
            let named = relations.iter().map(|relation| relation.name.clone());
            named.filter(|name| !name.is_empty()).collect::<Vec<_>>()
        };
        match name.filter(|name| !name.is_empty()) {
            None if relations.len() > 1 => Err(LinkProblem::NoRelation { known: known() }),
            None => Ok(0),
            Some(name) => relations
                .iter()
                .position(|relation| relation.name == name)
                .ok_or_else(|| LinkProblem::UnknownRelation { name: name.to_owned(), known: known() }),
        }
    }

    /// Known role nodes as they would be met without their links, but with their structure embeddings.
    pub(super) fn as_if_new(&self, role_nodes: &[NodeId]) -> EncodedNodes {
        let mut attributes = Matrix::zeros(role_nodes.len(), self.config.width);
        for (row, &role_node) in role_nodes.iter().enumerate() {
            attributes.row_mut(row).copy_from_slice(self.attribute_embedding(role_node));
        }
        let of_rows =
            |memory: &Memory| memory.words.of_rows(role_nodes.iter().map(|&node| self.words_of(memory, node)));
        let words = self.memory.as_ref().map(of_rows);
        let nodes = role_nodes.iter().step_by(self.roles.count()).map(|&role_node| self.roles.node(role_node));
        let nodes: Vec<NodeId> = nodes.collect();
        EncodedNodes {
            embeddings: Embeddings::of_cold(attributes),
            words,
            types: self.types.as_ref().map(|types| Arc::new(types.types.select(&nodes))),
            given: Given::default(),
        }
    }

    /// Whether a node is no candidate for one that is asked about: it is the same node, or linked with it already.
    pub(super) fn is_ruled_out(&self, new: &EncodedNodes, own: NodeId, node: NodeId) -> bool {
        if new.given.is_empty() {
            return false;
        }
        let held = new.given.of(own).and_then(|links| links.held);
        held.is_some_and(|held| self.roles.node(held) == self.roles.node(node)) || new.given.rules_out(own, node)
    }
}
