//! What training may look at, stage by stage.

use std::sync::OnceLock;

use super::{Pair, PairClass};
use crate::columns::Preparation;
use crate::config::{Config, LinkWeights, Recency, TextVectors};
use crate::graph::{Attributes, Graph, NodeId, PLAIN, Roles, UNKNOWN_TIME};

/// Everything that may be used for training at one stage, and nothing else.
#[derive(Clone, Copy)]
pub struct TrainView<'a> {
    graph: &'a Graph,
    /// As they were loaded.
    loaded: &'a Attributes,
    visible: &'a [bool],
    /// What is fitted to them, where something is.
    preparation: Option<&'a Preparation>,
    roles: &'a Roles,
    /// What both make of the attributes, once these are looked at; none where they stay as they are.
    prepared: Option<&'a OnceLock<Attributes>>,
    /// The stage, where it has one.
    stage: Option<&'a Stage>,
}

impl<'a> TrainView<'a> {
    /// A view of a whole graph: nothing is held back.
    pub fn whole(graph: &'a Graph, attributes: &'a Attributes, all_visible: &'a [bool]) -> Self {
        let (preparation, prepared, stage) = (None, None, None);
        TrainView { graph, loaded: attributes, visible: all_visible, preparation, roles: &PLAIN, prepared, stage }
    }

    /// The same with links that count as settings say, where they have weights or times, and without vectors of texts where
    /// settings ignore them.
    pub fn by(self, config: &Config) -> Self {
        let weighed = self.stage.and_then(|stage| stage.weighed(config.weights, config.recency));
        let view = TrainView { graph: weighed.unwrap_or(self.graph), ..self };
        match self.stage.map(|stage| &stage.without_encoded) {
            Some((Some(preparation), prepared)) if config.text_vectors == TextVectors::Ignore => {
                TrainView { preparation: Some(preparation), prepared: Some(prepared), ..view }
            }
            _ => view,
        }
    }

    /// Whether texts have vectors, which settings may ignore.
    pub fn has_text_vectors(&self) -> bool {
        self.stage.is_some_and(|stage| stage.without_encoded.0.is_some())
    }

    /// The training graph, on the numbering of the whole: a hidden node has no link in it.
    pub fn graph(&self) -> &'a Graph {
        self.graph
    }

    /// The roles of its nodes.
    pub fn roles(&self) -> &'a Roles {
        self.roles
    }

    /// All attributes, prepared on the visible rows, for every role. Anything else that is *fitted* to them must use the rows of
    /// [`TrainView::is_visible`] nodes only.
    pub fn attributes(&self) -> &'a Attributes {
        let Some(prepared) = self.prepared else { return self.loaded };
        prepared.get_or_init(|| match self.preparation {
            Some(preparation) if self.roles.is_plain() => preparation.apply(self.loaded),
            Some(preparation) => preparation.apply(self.loaded).in_roles(self.roles),
            None => self.loaded.in_roles(self.roles),
        })
    }

    /// How many of the sparse attributes all roles share; they come first.
    pub fn shared_width(&self) -> usize {
        let width = self.attributes().sparse_width();
        if self.roles.is_plain() { width } else { width / (1 + self.roles.count()) }
    }

    /// The same of the dense attributes.
    pub fn shared_dense_width(&self) -> usize {
        let width = self.attributes().dense_width();
        if self.roles.is_plain() { width } else { width / (1 + self.roles.count()) }
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
    pub fn is_warm(&self, node: NodeId) -> bool {
        self.graph.degree(node) > 0
    }

    /// All warm nodes, in order.
    pub fn warm(&self) -> Vec<NodeId> {
        (0..self.graph.nodes() as NodeId).filter(|&node| self.is_warm(node)).collect()
    }

    /// Settings with a number of steps and of pairs in a batch that suit the training graph.
    pub fn sized(&self, config: &Config) -> Config {
        let warm = (0..self.graph.nodes() as NodeId).filter(|&node| self.is_warm(node)).count();
        config.sized(warm, self.graph.links())
    }

    /// Which ends of a pair are warm.
    pub fn class(&self, pair: Pair) -> PairClass {
        match (self.is_warm(pair.source), self.is_warm(pair.target)) {
            (true, true) => PairClass::WarmWarm,
            (false, false) => PairClass::ColdCold,
            _ => PairClass::ColdWarm,
        }
    }
}

/// One stage of training: the graph that is trained on and the nodes that may be looked at.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    pub graph: Graph,
    pub visible: Vec<bool>,
    /// What is fitted to the attributes, where something is.
    preparation: Option<Preparation>,
    roles: Roles,
    /// The attributes after that, made when they are first looked at.
    prepared: OnceLock<Attributes>,
    /// Both without vectors of texts, where there are any.
    without_encoded: (Option<Preparation>, OnceLock<Attributes>),
    /// The graph under each way in which weights and times may count, made when it is first asked for.
    weighed: [OnceLock<Graph>; LinkWeights::ALL.len() * Recency::ALL.len()],
}

impl PartialEq for Stage {
    fn eq(&self, other: &Self) -> bool {
        (&self.graph, &self.visible) == (&other.graph, &other.visible)
            && (&self.preparation, &self.roles) == (&other.preparation, &other.roles)
    }
}

impl Stage {
    pub(super) fn new(graph: Graph, visible: Vec<bool>) -> Self {
        let (prepared, without_encoded, weighed) = Default::default();
        Stage { graph, visible, preparation: None, roles: PLAIN.clone(), prepared, without_encoded, weighed }
    }

    /// The graph with links that count as settings say; none where all count the same anyway. What that takes is seen from the links of
    /// this stage alone.
    fn weighed(&self, weights: LinkWeights, recency: Recency) -> Option<&Graph> {
        let is_plain = self.graph.weights().is_none() && (self.graph.times().is_none() || recency == Recency::None);
        if is_plain {
            return None;
        }
        let place = weights as usize * Recency::ALL.len() + recency as usize;
        let weigh = || {
            let (by_weight, by_time) = (by_weight(&self.graph, weights), by_time(&self.graph, recency));
            self.graph.weighed(|weight, time| by_weight(weight) * by_time(time))
        };
        Some(self.weighed[place].get_or_init(weigh))
    }

    /// A graph of which every node may be looked at.
    pub(super) fn whole(graph: Graph) -> Self {
        let visible = vec![true; graph.nodes()];
        Stage::new(graph, visible)
    }

    /// Fits what the attributes ask for to the rows that may be looked at.
    pub(super) fn prepare(&mut self, attributes: &Attributes, roles: &Roles) {
        // A node may be looked at in all of its roles or in none.
        let visible: Vec<bool> = self.visible.iter().step_by(roles.count()).copied().collect();
        self.preparation = Preparation::fit(attributes, &visible);
        self.roles = roles.clone();
        self.prepared = OnceLock::new();
        self.without_encoded = (Preparation::fit_without_encoded(attributes, &visible), OnceLock::new());
    }

    /// How many attributes a model sees of these.
    pub(super) fn width(&self, attributes: &Attributes) -> usize {
        self.preparation.as_ref().map_or(attributes.width(), Preparation::width)
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
        let preparation = self.preparation.as_ref();
        let prepared = (preparation.is_some() || !self.roles.is_plain()).then_some(&self.prepared);
        TrainView {
            graph: &self.graph,
            loaded: attributes,
            visible: &self.visible,
            preparation,
            roles: &self.roles,
            prepared,
            stage: Some(self),
        }
    }
}

/// How much a link counts by its weight.
fn by_weight(graph: &Graph, how: LinkWeights) -> impl Fn(f32) -> f64 {
    let median = graph.weights().map_or(1.0, median);
    move |weight| match how {
        LinkWeights::Ignore => 1.0,
        LinkWeights::Raw => weight.into(),
        LinkWeights::Log => (f64::from(weight) / median).ln_1p(),
    }
}

/// How much a link counts by its time; without one, as much as the oldest.
fn by_time(graph: &Graph, recency: Recency) -> impl Fn(f64) -> f64 {
    let known = || graph.times().unwrap_or_default().iter().copied().filter(|&time| time != UNKNOWN_TIME);
    let (first, last) = (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
    let half_life = recency.half_life().map(|share| share * (last - first)).filter(|&half_life| half_life > 0.0);
    move |time| half_life.map_or(1.0, |half_life| (-(last - time.max(first)) / half_life).exp2())
}

/// The number in the middle.
fn median(weights: &[f32]) -> f64 {
    let mut weights = weights.to_vec();
    let middle = weights.len() / 2;
    f64::from(*weights.select_nth_unstable_by(middle, f32::total_cmp).1)
}
