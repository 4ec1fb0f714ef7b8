//! From a dataset to what is trained on, what is selected on, and what is tested on.
//!
//! A [`Split`] is made in one place only and audited there. Training receives a [`TrainView`], from which validation
//! and test links cannot be reached.

mod error;

use std::path::PathBuf;

pub use error::SplitError;

use crate::graph::{Attributes, Graph, NodeId};

/// Which test set is made; see `docs/evaluation.md` for each in detail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// The split of Graph2Gauss that the paper's authors used.
    Deal2020,
    /// A tenth of the nodes, and for each of their links one negative that keeps the new node.
    Strict,
    /// 80 / 10 / 10 % of the links.
    Transductive,
    /// A split given as files.
    Files(PathBuf),
}

/// What settings and the number of steps are chosen on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Validation {
    /// A tenth of the remaining links, both ends visible.
    Edges,
    /// A further tenth of the nodes, hidden; the final model is fitted again with them.
    Nodes,
}

/// Two nodes, and whether they are linked in the full graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// One end; the new one where only one is new.
    pub source: NodeId,
    /// The other end.
    pub target: NodeId,
    /// Whether there is a link between them.
    pub linked: bool,
}

/// Which ends of a pair were seen in training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairKind {
    /// Both.
    OldOld,
    /// One.
    NewOld,
    /// Neither.
    NewNew,
}

/// Everything that may be used for training at one stage, and nothing else.
#[derive(Clone, Copy)]
pub struct TrainView<'a> {
    graph: &'a Graph,
    attributes: &'a Attributes,
    visible: &'a [bool],
}

impl<'a> TrainView<'a> {
    /// A view of a whole graph: nothing is held back.
    pub fn whole(graph: &'a Graph, attributes: &'a Attributes, all_visible: &'a [bool]) -> Self {
        TrainView { graph, attributes, visible: all_visible }
    }

    /// The training graph, on the numbering of the whole: a hidden node has no link in it.
    pub fn graph(&self) -> &'a Graph {
        self.graph
    }

    /// All attributes. Anything *fitted* to them must use the rows of [`TrainView::is_visible`] nodes only.
    pub fn attributes(&self) -> &'a Attributes {
        self.attributes
    }

    /// Whether a node's attributes may be used for fitting (hidden nodes' may not).
    pub fn is_visible(&self, node: NodeId) -> bool {
        self.visible[node as usize]
    }

    /// Whether a node has a link in the training graph, and so a structure embedding.
    pub fn is_seen(&self, node: NodeId) -> bool {
        self.graph.degree(node) > 0
    }

    /// All seen nodes, in order.
    pub fn seen(&self) -> Vec<NodeId> {
        (0..self.graph.nodes() as NodeId).filter(|&node| self.is_seen(node)).collect()
    }

    /// Which ends of a pair are seen.
    pub fn kind(&self, pair: Pair) -> PairKind {
        match (self.is_seen(pair.source), self.is_seen(pair.target)) {
            (true, true) => PairKind::OldOld,
            (false, false) => PairKind::NewNew,
            _ => PairKind::NewOld,
        }
    }
}

/// One stage of training: the graph that is trained on and the nodes that may be looked at.
pub(crate) struct Stage {
    pub graph: Graph,
    pub visible: Vec<bool>,
}

impl Stage {
    pub(crate) fn view<'a>(&'a self, attributes: &'a Attributes) -> TrainView<'a> {
        TrainView { graph: &self.graph, attributes, visible: &self.visible }
    }
}
