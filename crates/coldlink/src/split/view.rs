//! What training may look at, stage by stage.

use super::{Pair, PairKind, Preparation};
use crate::graph::{Attributes, Graph, NodeId};

/// Everything that may be used for training at one stage, and nothing else.
#[derive(Clone, Copy)]
pub struct TrainView<'a> {
    graph: &'a Graph,
    attributes: &'a Attributes,
    visible: &'a [bool],
    preparation: Option<&'a Preparation>,
}

impl<'a> TrainView<'a> {
    /// A view of a whole graph: nothing is held back.
    pub fn whole(graph: &'a Graph, attributes: &'a Attributes, all_visible: &'a [bool]) -> Self {
        TrainView { graph, attributes, visible: all_visible, preparation: None }
    }

    /// The same with attributes that something was fitted to.
    pub(crate) fn prepared(
        graph: &'a Graph,
        attributes: &'a Attributes,
        all_visible: &'a [bool],
        preparation: Option<&'a Preparation>,
    ) -> Self {
        TrainView { graph, attributes, visible: all_visible, preparation }
    }

    /// The training graph, on the numbering of the whole: a hidden node has no link in it.
    pub fn graph(&self) -> &'a Graph {
        self.graph
    }

    /// All attributes, prepared on the visible rows. Anything else that is *fitted* to them must use the rows of
    /// [`TrainView::is_visible`] nodes only.
    pub fn attributes(&self) -> &'a Attributes {
        self.attributes
    }

    /// What was fitted to them, where something was.
    pub fn preparation(&self) -> Option<&'a Preparation> {
        self.preparation
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
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stage {
    pub graph: Graph,
    pub visible: Vec<bool>,
    /// The attributes, where something had to be fitted to them.
    prepared: Option<(Preparation, Attributes)>,
}

impl Stage {
    pub(super) fn new(graph: Graph, visible: Vec<bool>) -> Self {
        Stage { graph, visible, prepared: None }
    }

    /// A graph of which every node may be looked at.
    pub(super) fn whole(graph: Graph) -> Self {
        let visible = vec![true; graph.nodes()];
        Stage::new(graph, visible)
    }

    /// Fits what the attributes ask for to the rows that may be looked at.
    pub(super) fn prepare(&mut self, attributes: &Attributes) {
        let fitted = Preparation::fit(attributes, &self.visible);
        self.prepared = fitted.map(|preparation| {
            let prepared = preparation.apply(attributes);
            (preparation, prepared)
        });
    }

    /// The same without `nodes` and their links.
    pub(super) fn hiding(&self, nodes: &[NodeId]) -> Stage {
        let mut visible = self.visible.clone();
        for &node in nodes {
            visible[node as usize] = false;
        }
        Stage::new(self.graph.filter(|a, b| visible[a as usize] && visible[b as usize]), visible)
    }

    /// The same without some links.
    pub(super) fn without(&self, links: &[Pair]) -> Stage {
        let left_out = Graph::from_links(self.graph.nodes(), links.iter().map(|pair| (pair.source, pair.target)));
        Stage::new(self.graph.filter(|a, b| !left_out.has_link(a, b)), self.visible.clone())
    }

    /// The nodes that may be looked at, in order.
    pub(super) fn visible_nodes(&self) -> Vec<NodeId> {
        (0..self.graph.nodes() as NodeId).filter(|&node| self.visible[node as usize]).collect()
    }

    pub(crate) fn view<'a>(&'a self, attributes: &'a Attributes) -> TrainView<'a> {
        let prepared = self.prepared.as_ref();
        TrainView {
            graph: &self.graph,
            attributes: prepared.map_or(attributes, |prepared| &prepared.1),
            visible: &self.visible,
            preparation: prepared.map(|prepared| &prepared.0),
        }
    }
}
