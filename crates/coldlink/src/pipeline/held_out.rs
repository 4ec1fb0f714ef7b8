//! How well a trained model finds links that it was not told of.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use crate::dataset::{End, GivenLink, NewNodes};
use crate::error::Error;
use crate::evaluate::{
    AllAsked, HeldOutAnswers, HeldOutError, HeldOutPart, HeldOutReport, Kept, LeftOut, some_queries,
};
use crate::graph::{NameIndex, NodeId};
use crate::model::{Asked, HeldOutLink, Model, QueryError};
use crate::split::RankingQuery;

/// A trained model and links that it was not told of, of new nodes and of known ones.
///
/// New nodes ask for their known ends; of two known nodes the source asks, with all links that it has. Nothing is trained.
///
/// ```
/// use coldlink::dataset::GivenLink;
/// use coldlink::{HeldOut, Settings, Silent, Training};
///
/// # let dataset = coldlink::synthetic::World { nodes: 300, ..Default::default() }.dataset();
/// let settings = Settings::of_preset("default", 0.0)?.set("steps=20")?;
/// let model = Training::new(&dataset, &settings, 0).run(&mut Silent)?;
/// let known: Vec<String> = model.neighbors(7).iter().map(|node| node.to_string()).collect();
/// let unlinked = (0..300).map(|node| node.to_string()).find(|name| name != "7" && !known.contains(name)).unwrap();
/// let links = [GivenLink { source: "7".into(), target: unlinked, relation: None }];
/// let report = HeldOut { model: &model, new: None, links: &links, seed: 0 }.run()?;
/// assert_eq!((report.links, report.questions), (1, 1));
/// # Ok::<(), coldlink::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct HeldOut<'a> {
    /// The model.
    pub model: &'a Model,
    /// New nodes that links may name.
    pub new: Option<NewNodes>,
    /// The links.
    pub links: &'a [GivenLink],
    /// Where the unlinked pairs come from that AUC and AP compare links with.
    pub seed: u64,
}

impl HeldOut<'_> {
    /// Asks the model and trivial methods for all links.
    pub fn run(&self) -> Result<HeldOutReport, Error> {
        if self.links.is_empty() {
            return Err(HeldOutError::NoLinks.into());
        }
        let asked_new = self.new.clone().map(|new| self.model.ask(new)).transpose()?;
        let sorted = Sorted::of(self.model, asked_new.as_ref(), self.links)?;
        let mut parts = Vec::new();
        if !sorted.known.is_empty() {
            let (asked, of_known) = ask_known(self.model, &sorted.known)?;
            parts.push(Questions::of(self.model, asked, &of_known, self.seed));
        }
        if let Some(asked) = asked_new {
            parts.insert(0, Questions::of(self.model, asked, &sorted.new, self.seed));
        }
        self.report(&parts, &sorted)
    }

    fn report(&self, parts: &[Questions], sorted: &Sorted) -> Result<HeldOutReport, Error> {
        let sum = |of: fn(&Questions) -> usize| parts.iter().map(of).sum();
        let left_out = LeftOut { unlisted: sum(|part| part.unlisted), ..sorted.left_out };
        let asked = parts.iter().filter(|part| !part.queries.is_empty());
        let answers = asked.map(|part| part.measure(self.model, self.seed)).collect::<Result<Vec<_>, _>>()?;
        let Some(all) = answers.into_iter().reduce(|all, more| all.followed_by(more)) else {
            return Err(HeldOutError::NothingLeft { links: self.links.len(), left_out }.into());
        };
        let asked = AllAsked {
            links: sum(|part| part.links),
            questions: sum(|part| part.questions),
            new_questions: sum(|part| if part.asked.are_known() { 0 } else { part.questions }),
        };
        let report = all.report(self.model.base_rate(), self.model.roles(), asked)?;
        let mut notes = left_out.notes();
        notes.extend(sorted.namesakes.note());
        if !self.model.gives_probabilities() {
            notes.push(
                "the model keeps neither links nor words: no trivial method but `random` stands beside it".to_owned(),
            );
        }
        Ok(HeldOutReport { left_out, notes, ..report })
    }
}

/// New nodes that have the names of known ones.
#[derive(Default)]
struct Namesakes(HashSet<NodeId>);

impl Namesakes {
    fn note(&self) -> Option<String> {
        let (s, have) = if self.0.len() == 1 { ("", "has") } else { ("s", "have") };
        (!self.0.is_empty()).then(|| {
            let count = self.0.len();
            format!(
                "{count} new node{s} {have} the name of a known one: links that it was trained on are no candidates"
            )
        })
    }
}

/// What each role node should find.
type Wanted = BTreeMap<NodeId, BTreeSet<NodeId>>;

/// Held-out links by who asks; the others are counted.
#[derive(Default)]
struct Sorted {
    new: Wanted,
    known: Wanted,
    left_out: LeftOut,
    namesakes: Namesakes,
}

impl Sorted {
    fn of(model: &Model, asked: Option<&Asked>, links: &[GivenLink]) -> Result<Self, QueryError> {
        let index = asked.map_or(NameIndex::Numbered(0), |asked| asked.new_nodes().names.index());
        let mut sorted = Sorted::default();
        for (place, link) in links.iter().enumerate() {
            let found = model.held_out_link(&index, link);
            match found.map_err(|problem| QueryError::Link { link: place + 1, problem })? {
                HeldOutLink::Asked(End::New(node), target) => {
                    let namesake = asked.and_then(|asked| model.namesake(asked, node));
                    sorted.namesakes.0.extend(namesake);
                    sorted.take(End::New(node), target, namesake, model);
                }
                HeldOutLink::Asked(End::Known(node), target) => {
                    sorted.take(End::Known(node), target, Some(node), model);
                }
                HeldOutLink::SelfLoop => sorted.left_out.self_loops += 1,
                HeldOutLink::BetweenNew => sorted.left_out.between_new += 1,
            }
        }
        Ok(sorted)
    }

    /// Takes a link up, unless the model was trained on it: `known` is the node that asks, or its namesake.
    fn take(&mut self, asks: End, target: NodeId, known: Option<NodeId>, model: &Model) {
        if known.is_some_and(|known| model.was_trained_on(known, target)) {
            self.left_out.trained_on += 1;
            return;
        }
        let (wanted, node) = match asks {
            End::New(node) => (&mut self.new, node),
            End::Known(node) => (&mut self.known, node),
        };
        if !wanted.entry(node).or_default().insert(target) {
            self.left_out.repeated += 1;
        }
    }
}

/// Takes up the known nodes that ask, and numbers them anew.
fn ask_known(model: &Model, links: &Wanted) -> Result<(Asked, Wanted), QueryError> {
    let roles = model.roles();
    let nodes = roles.nodes_of(&links.keys().copied().collect::<Vec<_>>());
    let names: Vec<String> = nodes.iter().map(|&node| model.names().get(node).into_owned()).collect();
    let rows: HashMap<NodeId, NodeId> = nodes.into_iter().zip(0..).collect();
    let numbered = |(&asks, targets): (&NodeId, &BTreeSet<NodeId>)| {
        (roles.at(rows[&roles.node(asks)], roles.role(asks)), targets.clone())
    };
    Ok((model.ask_known(&names)?, links.iter().map(numbered).collect()))
}

/// Nodes that ask, and their questions.
struct Questions {
    asked: Asked,
    /// The questions that are asked, and how many there are with how many links.
    queries: Vec<RankingQuery>,
    questions: usize,
    links: usize,
    /// Links that no list shows.
    unlisted: usize,
}

impl Questions {
    /// Of role nodes among those that ask, with what they should find.
    fn of(model: &Model, asked: Asked, links: &Wanted, seed: u64) -> Self {
        let first = model.role_nodes() as NodeId;
        let mut choices: HashMap<(usize, usize), Arc<[NodeId]>> = HashMap::new();
        let (mut queries, mut unlisted) = (Vec::new(), 0);
        for (&asks, targets) in links {
            let kind = model.kind_that_asks(&asked, asks);
            let among = choices.entry(kind).or_insert_with(|| model.choices(&asked, asks).into()).clone();
            let held = model.given(&asked).of(first + asks).and_then(|links| links.held);
            let known = held.or_else(|| model.namesake(&asked, asks));
            let exclude = known.map(|known| model.not_to_find(known)).unwrap_or_default();
            let is_listed = |node: &NodeId| among.binary_search(node).is_ok() && exclude.binary_search(node).is_err();
            let listed: Vec<NodeId> = targets.iter().copied().filter(is_listed).collect();
            unlisted += targets.len() - listed.len();
            if !listed.is_empty() {
                queries.push(RankingQuery { source: first + asks, targets: listed, exclude, among: Some(among) });
            }
        }
        let (questions, links) = (queries.len(), queries.iter().map(|query| query.targets.len()).sum());
        let most = || choices.values().map(|among| among.len()).max().unwrap_or(0);
        Questions { asked, queries: some_queries(queries, most, seed), questions, links, unlisted }
    }

    fn measure(&self, model: &Model, seed: u64) -> Result<HeldOutAnswers, Error> {
        let kept = model.kept_with(&self.asked);
        let scorer = model.scorer(&self.asked);
        let part = HeldOutPart {
            scorer: &*scorer,
            queries: &self.queries,
            kept: kept.as_ref().map(|(graph, words)| Kept { graph, roles: model.roles(), words: words.clone() }),
            given: model.given(&self.asked),
            seed,
        };
        let base_rate = model.base_rate();
        let probability = |score: f32| model.probability(score, base_rate).unwrap_or(0.0);
        Ok(part.measure(model.gives_probabilities().then_some(&probability))?)
    }
}
