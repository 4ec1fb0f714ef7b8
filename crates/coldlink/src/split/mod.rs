//! From a dataset to what is trained on, what is selected on, and what is tested on.
//!
//! A [`Split`] is made in one place only and audited there. Training receives a [`TrainView`], from which validation
//! and test links cannot be reached; test links are reached through [`Split::test`] and nowhere else.

mod audit;
mod candidates;
mod deal2020;
mod draw;
mod error;
mod few;
mod files;
mod later;
mod negatives;
mod npz;
mod pairs;
mod ranking;
mod strict;
mod temporal;
#[cfg(test)]
mod tests;
mod transductive;
mod validation;
mod view;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

pub use audit::{Audit, AuditStatus, Fault, Finding, HeldOut};
pub(crate) use candidates::Candidates;
pub use candidates::MOST_CANDIDATES;
pub use error::SplitError;
pub use files::files_of;
pub use pairs::{Pair, PairClass};

pub use ranking::RankingQuery;
pub use view::TrainView;

use negatives::Negatives;
use rand::Rng;
use ranking::Ranking;
pub(crate) use view::Stage;

use crate::config::Validation;
use crate::dataset::Dataset;
use crate::graph::{Attributes, Graph, NodeId, NodeTypes, Roles};
use crate::random::{SplitPurpose, split_stream};

/// How a temporal protocol with a column begins.
const TEMPORAL: &str = "temporal:";
/// How a protocol of new nodes with a few links begins.
const FEW: &str = "few:";
/// The most links that such a protocol may leave a test node.
const MOST_GIVEN: usize = 1_000;

/// Which test set is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// The split of Graph2Gauss that the paper's authors used.
    Deal2020,
    /// A tenth of the nodes, and for each of their links one negative that keeps the new node.
    Strict,
    /// The newest tenth of the nodes, by when they appear in links, or else by a column of times or numbers; otherwise as `Strict`.
    Temporal {
        /// The column; without it, the times of links or, where they have none, the only column of dates.
        column: Option<String>,
    },
    /// As `Strict`, but each test node keeps some of its links, in every role; of so few that none would be left to test, all but one.
    Few {
        /// How many.
        links: usize,
    },
    /// The newest tenth of the links, as far as they join nodes with older ones.
    TemporalLinks,
    /// 80 / 10 / 10 % of the links.
    Transductive,
    /// A split given as files.
    Files(PathBuf),
}

impl Protocol {
    /// What is selected on where nothing else is asked for: what the protocol goes with, or else `preferred`.
    pub fn validation(&self, preferred: Validation) -> Result<Validation, SplitError> {
        match self {
            Protocol::Deal2020 => Ok(preferred),
            Protocol::Strict | Protocol::Temporal { .. } | Protocol::Few { .. } => Ok(Validation::Nodes),
            Protocol::Transductive | Protocol::TemporalLinks => Ok(Validation::Edges),
            Protocol::Files(path) if path.is_dir() => files::recorded_rule(path),
            Protocol::Files(path) if npz::has_hidden_nodes(path)? => Ok(preferred),
            Protocol::Files(_) => Ok(Validation::Edges),
        }
    }
}

impl Protocol {
    /// What a report calls it: its name with its column, or the path of a split.
    pub(crate) fn in_words(&self) -> String {
        match self {
            Protocol::Files(path) => path.display().to_string(),
            Protocol::Temporal { column: Some(column) } => format!("{TEMPORAL}{column}"),
            named => named.to_string(),
        }
    }

    /// Whether it is one of the paper's, which judges pairs and not lists; so are splits in arrays, as others publish them.
    pub fn is_about_pairs(&self) -> Result<bool, SplitError> {
        Ok(match self {
            Protocol::Deal2020 | Protocol::Transductive => true,
            Protocol::Strict | Protocol::Temporal { .. } | Protocol::TemporalLinks | Protocol::Few { .. } => false,
            Protocol::Files(path) if path.is_dir() => [Protocol::Deal2020, Protocol::Transductive]
                .map(|named| named.to_string())
                .contains(&files::recorded_protocol(path)?),
            Protocol::Files(_) => true,
        })
    }
}

impl FromStr for Protocol {
    type Err = SplitError;

    /// The protocol of that name, or a split at that path.
    fn from_str(text: &str) -> Result<Self, SplitError> {
        match text {
            "deal2020" => Ok(Protocol::Deal2020),
            "strict" => Ok(Protocol::Strict),
            "temporal" => Ok(Protocol::Temporal { column: None }),
            "temporal:links" => Ok(Protocol::TemporalLinks),
            "transductive" => Ok(Protocol::Transductive),
            other if other.starts_with(TEMPORAL) => {
                Ok(Protocol::Temporal { column: Some(other[TEMPORAL.len()..].to_owned()) })
            }
            other if other.starts_with(FEW) => {
                let links = other[FEW.len()..].parse().ok().filter(|links| (1..=MOST_GIVEN).contains(links));
                links
                    .map(|links| Protocol::Few { links })
                    .ok_or_else(|| SplitError::GivenCount { protocol: other.to_owned(), most: MOST_GIVEN })
            }
            path if Path::new(path).exists() => Ok(Protocol::Files(path.into())),
            other => Err(SplitError::UnknownProtocol { name: other.to_owned() }),
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Protocol::Few { links } => return write!(f, "{FEW}{links}"),
            Protocol::Deal2020 => "deal2020",
            Protocol::Strict => "strict",
            Protocol::Temporal { .. } => "temporal",
            Protocol::TemporalLinks => "temporal:links",
            Protocol::Transductive => "transductive",
            Protocol::Files(_) => "files",
        })
    }
}

/// A graph divided into what is trained on, what is selected on, and what is tested on.
///
/// ```
/// use coldlink::{Protocol, Split};
///
/// # let dataset = coldlink::synthetic::World { nodes: 300, ..Default::default() }.dataset();
/// let split = Split::make(&dataset, &Protocol::Strict, None, 0)?;
/// assert_eq!(split.audit().to_string(), "passed");
/// let new = split.test().hidden()[0];
/// assert!(!split.final_view().is_warm(new));
/// # Ok::<(), coldlink::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    attributes: Attributes,
    contents: Contents,
    audit: Audit,
}

/// A split before its audit.
#[derive(Clone, Debug, PartialEq)]
struct Contents {
    /// The protocol's name, "files" for one from elsewhere, "none" where nothing is tested.
    protocol: String,
    /// Whether the test pairs were chosen elsewhere.
    outside: bool,
    seed: u64,
    rule: Validation,
    /// What is trained on while the number of steps is chosen.
    search: Stage,
    validation: Vec<Pair>,
    /// What the final model is trained on, where that is more than `search`.
    refit: Option<Stage>,
    test: Vec<Pair>,
    /// Links that test nodes keep, node by node in the order in which they are given: trained on by nobody, and told to the model
    /// once it is asked.
    given: Vec<(NodeId, NodeId)>,
    /// The test nodes, sorted.
    hidden: Vec<NodeId>,
    full: Graph,
    roles: Roles,
}

/// All links, with the node types where there are several. Nodes are role nodes.
#[derive(Clone, Copy)]
struct Whole<'a> {
    graph: &'a Graph,
    roles: &'a Roles,
    types: Option<&'a NodeTypes>,
}

impl<'a> Whole<'a> {
    fn of(dataset: &'a Dataset, types: &'a Option<Arc<NodeTypes>>) -> Self {
        let (graph, roles) = dataset.links();
        Whole { graph, roles, types: types.as_deref() }
    }

    /// Some nodes, drawn uniformly, in all of their roles; `share` says how many of so many.
    fn draw(&self, pool: &[NodeId], share: fn(usize) -> usize, rng: &mut impl Rng) -> Vec<NodeId> {
        let nodes = self.roles.nodes_of(pool);
        self.roles.all_of(&draw::draw(&nodes, share(nodes.len()), rng))
    }
}

/// The types of role nodes, where negatives and candidates are to be told apart by them.
fn types_of(dataset: &Dataset) -> Option<Arc<NodeTypes>> {
    let types = dataset.attributes.types();
    match dataset.links().1 {
        roles if roles.is_plain() => types.cloned(),
        roles => Some(Arc::new(NodeTypes::in_roles(types.map(|types| &**types), dataset.names.len(), roles))),
    }
}

/// What is tested on, and what that leaves.
struct TestSet {
    hidden: Vec<NodeId>,
    pairs: Vec<Pair>,
    remaining: Stage,
    given: Vec<(NodeId, NodeId)>,
}

impl TestSet {
    /// The same, if there is something to train on and something to test on.
    fn checked(self) -> Result<Self, SplitError> {
        if !self.pairs.iter().any(|pair| pair.linked) {
            return Err(SplitError::NoTestLinks { hidden: self.hidden.len() });
        }
        if self.pairs.iter().all(|pair| pair.linked) {
            return Err(SplitError::NoUnlinkedPairs { set: "test" });
        }
        if self.remaining.graph.links() == 0 {
            return Err(SplitError::NothingToTrainOn { set: "test" });
        }
        Ok(self)
    }
}

impl Split {
    /// Splits a dataset by a protocol.
    ///
    /// Without a `validation` rule it is [`Validation::Nodes`] where test nodes are hidden, and [`Validation::Edges`]
    /// where test links join known nodes. The test set depends on protocol and seed alone. A split that was written by
    /// [`Split::write`] is read as it was made, and `seed` plays no part.
    pub fn make(
        dataset: &Dataset,
        protocol: &Protocol,
        validation: Option<Validation>,
        seed: u64,
    ) -> Result<Split, SplitError> {
        check_sizes(dataset)?;
        let types = types_of(dataset);
        let whole = Whole::of(dataset, &types);
        let forced = |rule| match validation {
            Some(asked) if asked != rule => {
                Err(SplitError::ValidationForced { protocol: protocol.to_string(), asked, forced: rule })
            }
            _ => Ok(rule),
        };
        let (rule, test) = match protocol {
            Protocol::Deal2020 if !whole.roles.is_plain() => return Err(SplitError::UndirectedProtocol),
            Protocol::Deal2020 => (validation.unwrap_or(Validation::Nodes), deal2020::test_set(whole, seed)?),
            Protocol::Strict => (forced(Validation::Nodes)?, strict::test_set(whole, seed)?),
            Protocol::Few { links } => (forced(Validation::Nodes)?, few::test_set(whole, *links, seed)?),
            Protocol::Temporal { column } => {
                (forced(Validation::Nodes)?, temporal::test_set(dataset, whole, column.as_deref(), seed)?)
            }
            Protocol::TemporalLinks => (forced(Validation::Edges)?, later::links(whole, seed)?),
            Protocol::Transductive => (forced(Validation::Edges)?, transductive::test_set(whole, seed)?),
            Protocol::Files(path) if path.is_dir() => return files::read(dataset, path, validation),
            Protocol::Files(path) => return npz::read(dataset, path, validation, seed),
        };
        let selected = match (protocol, rule) {
            (Protocol::Transductive, _) => transductive::validation_set(whole, &test, seed)?,
            (Protocol::TemporalLinks, _) => later::validation_set(whole, &test, seed)?,
            (_, Validation::Edges) => validation::edges(whole, &test.remaining, &test.pairs, seed)?,
            (Protocol::Deal2020, Validation::Nodes) => deal2020::validation_set(whole, &test, seed)?,
            (Protocol::Temporal { column }, Validation::Nodes) => {
                temporal::validation_set(dataset, whole, column.as_deref(), (&test, seed))?
            }
            (_, Validation::Nodes) => validation::nodes(whole, &test.remaining, &test.pairs, seed)?,
        };
        Split::prepared(
            &dataset.attributes,
            Contents {
                protocol: protocol.to_string(),
                outside: false,
                seed,
                rule,
                search: selected.search,
                validation: selected.pairs,
                refit: (rule == Validation::Nodes).then_some(test.remaining),
                test: test.pairs,
                given: test.given,
                hidden: test.hidden,
                full: whole.graph.clone(),
                roles: whole.roles.clone(),
            },
        )
    }

    /// For a model that is to be used rather than measured: nothing is tested, and the final model is fitted on everything.
    pub fn for_training(dataset: &Dataset, validation: Validation, seed: u64) -> Result<Split, SplitError> {
        check_sizes(dataset)?;
        let types = types_of(dataset);
        let full = Whole::of(dataset, &types);
        let whole = Stage::whole(full.graph.clone());
        let selected = match validation {
            Validation::Edges => validation::edges(full, &whole, &[], seed)?,
            Validation::Nodes => validation::nodes(full, &whole, &[], seed)?,
        };
        Split::prepared(
            &dataset.attributes,
            Contents {
                protocol: "none".to_owned(),
                outside: false,
                seed,
                rule: validation,
                search: selected.search,
                validation: selected.pairs,
                refit: Some(whole),
                test: Vec::new(),
                given: Vec::new(),
                hidden: Vec::new(),
                full: full.graph.clone(),
                roles: full.roles.clone(),
            },
        )
    }

    /// Fits what the attributes ask for in each stage, and audits the whole.
    fn prepared(attributes: &Attributes, mut contents: Contents) -> Result<Split, SplitError> {
        for stage in [Some(&mut contents.search), contents.refit.as_mut()].into_iter().flatten() {
            stage.prepare(attributes, &contents.roles);
            if stage.width(attributes) == 0 {
                return Err(SplitError::NoAttributes);
            }
        }
        Ok(Split { attributes: attributes.clone(), audit: Audit::of(&contents), contents })
    }

    /// The protocol's name: `deal2020`, `strict`, `temporal`, `temporal:links`, `few:2`, `transductive`, `files`, or `none` where
    /// nothing is tested.
    pub fn protocol(&self) -> &str {
        &self.contents.protocol
    }

    /// The seed that all choices came from.
    pub fn seed(&self) -> u64 {
        self.contents.seed
    }

    /// What is selected on.
    pub fn validation_rule(&self) -> Validation {
        self.contents.rule
    }

    /// What was found when the split was checked.
    pub fn audit(&self) -> &Audit {
        &self.audit
    }

    /// What is trained on while settings and the number of steps are chosen.
    pub fn search(&self) -> TrainView<'_> {
        self.contents.search.view(&self.attributes)
    }

    /// The attributes as they were loaded. A clone of a dataset's shares them.
    pub(crate) fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// The pairs that settings and the number of steps are chosen on.
    pub fn validation(&self) -> &[Pair] {
        &self.contents.validation
    }

    /// Some of them where they are very many: those of some nodes.
    pub fn validation_sample(&self) -> Vec<Pair> {
        validation::sample(&self.contents, self.contents.validation.clone())
    }

    /// The same in two halves that share no new node, one to choose on and one to fit a score's weights on. A pair of new nodes
    /// of different halves is in neither. Where no node is new, pairs are halved instead.
    pub fn validation_halves(&self) -> [Vec<Pair>; 2] {
        validation::halves(&self.contents)
    }

    /// Ranking questions about some of the validation pairs: new nodes ask for their links to warm ones or, where no node is new,
    /// either end of a link for the other. Candidates are those that training may know.
    pub fn validation_queries(&self, pairs: &[Pair]) -> Vec<RankingQuery> {
        let Contents { search, validation, rule, .. } = &self.contents;
        let (view, new) = (self.search(), *rule == Validation::Nodes);
        let links = validation.iter().filter(|pair| pair.linked).map(|pair| (pair.source, pair.target));
        let links = Graph::from_links(search.graph.nodes(), links);
        let asks = |node: NodeId| !new || !search.visible[node as usize];
        // Where test nodes are hidden but links validated on, these stand among all others.
        let all = !self.contents.hidden.is_empty();
        let answers = |node: NodeId| if new { view.is_warm(node) } else { all || view.is_visible(node) };
        let types = view.attributes().types().map(|types| &**types);
        Ranking { asks, answers, known: &[&search.graph, &links], types }.queries(pairs)
    }

    /// What the final model is fitted on again, where it is.
    pub fn refit(&self) -> Option<TrainView<'_>> {
        self.contents.refit.as_ref().map(|stage| stage.view(&self.attributes))
    }

    /// What the final model is trained on: the refit where there is one, else what was searched on.
    pub fn final_view(&self) -> TrainView<'_> {
        self.refit().unwrap_or_else(|| self.search())
    }

    /// The answers: for reporting alone.
    pub fn test(&self) -> TestView<'_> {
        TestView { contents: &self.contents }
    }
}

/// What only a report may look at.
#[derive(Clone, Copy)]
pub struct TestView<'a> {
    contents: &'a Contents,
}

impl<'a> TestView<'a> {
    /// The pairs to score.
    pub fn pairs(&self) -> &'a [Pair] {
        &self.contents.test
    }

    /// The test nodes, sorted; none where test links join known nodes.
    pub fn hidden(&self) -> &'a [NodeId] {
        &self.contents.hidden
    }

    /// The links that test nodes keep, as the test node and the other end: up to `most` of each node, in the order in which they are
    /// given.
    pub fn given(&self, most: usize) -> Vec<(NodeId, NodeId)> {
        let of_nodes = self.contents.given.chunk_by(|one, other| one.0 == other.0);
        of_nodes.flat_map(|links| links.iter().take(most).copied()).collect()
    }

    /// Whether the test asks about new nodes.
    pub fn is_inductive(&self) -> bool {
        !self.contents.hidden.is_empty()
    }

    /// What each query chooses from: all warm nodes, or all visible nodes where test links join known ones.
    pub fn candidates(&self, view: &TrainView<'_>) -> Vec<NodeId> {
        (0..self.contents.full.nodes() as NodeId).filter(|&node| self.answers(view, node)).collect()
    }

    /// Ranking questions about the test links: each new node with a link to a warm one asks for those; or each end of a
    /// test link for the other, where these are known nodes. All links of the full graph are filtered.
    pub fn queries(&self, view: &TrainView<'_>) -> Vec<RankingQuery> {
        let asks = |node| !self.is_inductive() || self.contents.hidden.binary_search(&node).is_ok();
        let known = &[&self.contents.full];
        let types = view.attributes().types().map(|types| &**types);
        Ranking { asks, answers: |node| self.answers(view, node), known, types }.queries(&self.contents.test)
    }

    /// The same questions where the other new nodes are candidates as well; and all candidates.
    pub fn queries_of_both(&self, view: &TrainView<'_>) -> (Vec<RankingQuery>, Vec<NodeId>) {
        let is_new = |node: NodeId| self.contents.hidden.binary_search(&node).is_ok();
        let answers = |node: NodeId| view.is_warm(node) || is_new(node);
        let known = &[&self.contents.full];
        let types = view.attributes().types().map(|types| &**types);
        let queries = Ranking { asks: is_new, answers, known, types }.queries(&self.contents.test);
        (queries, (0..self.contents.full.nodes() as NodeId).filter(|&node| answers(node)).collect())
    }

    fn answers(&self, view: &TrainView<'_>, node: NodeId) -> bool {
        if self.is_inductive() { view.is_warm(node) } else { view.is_visible(node) }
    }
}

fn check_sizes(dataset: &Dataset) -> Result<(), SplitError> {
    let Dataset { graph, attributes, .. } = dataset;
    let (nodes, links) = (graph.nodes(), graph.links());
    if attributes.rows() != nodes {
        return Err(SplitError::AttributeRows { rows: attributes.rows(), nodes });
    }
    if links == 0 {
        return Err(SplitError::TooSmall { nodes, links });
    }
    Ok(())
}
