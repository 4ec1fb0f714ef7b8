//! From two nodes to the terms of their score.

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use super::field::{Field, Room, SparseField};
use super::given::{Given, GivenEvidence, GivenLinks};
use super::starts::ExpectedStarts;
use super::term::CLOSENESS;
use super::tfidf::inner;
use super::votes::SMALL_VOTE;
use super::{Embeddings, Terms, TfIdfRows};
use crate::config::Term;
use crate::graph::{Graph, NodeId, PLAIN, Roles};
use crate::index::Similar;
use crate::kernel::{Chunk, Kernel, Real, Simd, dot, prefetch};
use crate::split::PairClass;

/// A start's share is e^(cosine / this).
const START_TEMPERATURE: f32 = 0.05;
/// Added to a walk's chance before its logarithm: of the order of one link among all that start.
pub(crate) const SMALL_CHANCE: f32 = 1e-5;

/// Rows that are fetched before they are needed.
pub(super) const AHEAD: usize = 2;
/// Targets for which it is not worth to write a row out with its zeros.
const FEW: usize = 64;

/// Numbers of all walks from nodes without links that are kept.
const MOST_KEPT: usize = 1 << 25;
/// Sources whose starts are looked for together.
const SOURCES_PER_ROUND: usize = 4_096;

/// Some nodes with all that is known of them apart from links.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// Both embeddings.
    pub embeddings: &'a Embeddings,
    /// tf-idf rows.
    pub words: &'a TfIdfRows,
}

/// All that is known of the nodes of a training graph, and of new nodes that are numbered after them.
pub struct Evidence<'a> {
    pub(super) graph: &'a Graph,
    pub(super) roles: &'a Roles,
    /// The role at the other end of a link, for each role.
    opposites: Vec<NodeId>,
    pub(super) known: Side<'a>,
    /// Nodes of the graph that are kept apart: the last ones, which have no links.
    added: Option<Side<'a>>,
    new: Option<Side<'a>>,
    pub(super) warm: Cow<'a, WarmNodes>,
    /// Finds warm nodes that are like a new one; without it all of them are looked at.
    pub(super) similar: Option<Similar<'a>>,
    /// The walk of a node that is like no other: from anywhere.
    walk_from_anywhere: OnceLock<Walk>,
    /// Walks from nodes of the graph that have no link, for warm nodes that look at them.
    cold_walks: OnceLock<Vec<OnceLock<FoundFromCold>>>,
    /// How many numbers these have.
    kept: AtomicUsize,
    /// Starts of nodes that were said to ask.
    pub(super) expected: ExpectedStarts,
    /// Room for walks and votes.
    pub(super) room: Room,
    /// Whether nodes with similar words vote.
    votes: bool,
    /// Links of nodes without training links.
    pub(super) given: Option<&'a Given>,
    /// Nodes that given links are told apart from, by role.
    pub(super) negatives: Vec<OnceLock<Arc<Vec<NodeId>>>>,
}

/// What a node finds: the chance that a walk along one link from its starts ends at each node, and the votes for each node; none of
/// a warm one, and none where nobody votes.
struct Found {
    walk: Walk,
    votes: Option<Field>,
}

/// A walk along one link: the chance that it ends at each node, and the largest cosine of a new node with one of its starts.
#[derive(Clone)]
pub(crate) struct Walk {
    near: Arc<Field>,
    closeness: f32,
}

/// The same of a node without links that a warm one looks at.
#[derive(Clone, Default)]
struct FoundFromCold {
    near: SparseField,
    votes: SparseField,
    closeness: f32,
}

/// The nodes of a graph that have a link.
#[derive(Clone, Debug)]
pub(crate) struct WarmNodes {
    nodes: Vec<NodeId>,
    /// 1 over the length of z_a, by node.
    pub(super) inverse_lengths: Vec<f32>,
}

impl WarmNodes {
    pub fn of(graph: &Graph, embeddings: &Embeddings) -> Self {
        let nodes = (0..graph.nodes() as NodeId).filter(|&node| graph.degree(node) > 0).collect();
        let inverse_length = |node| f32::run(InverseLength(embeddings.attributes.chunk_row(node)));
        let inverse_lengths = (0..embeddings.nodes()).into_par_iter().map(inverse_length).collect();
        WarmNodes { nodes, inverse_lengths }
    }

    pub fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }
}

/// A node from which links are looked for.
pub(crate) struct Source<'a> {
    pub(super) node: NodeId,
    warm: bool,
    pub(super) side: Side<'a>,
    pub(super) row: usize,
    found: Found,
    /// Those that vote, with their cosines.
    voters: Vec<(NodeId, f32)>,
    /// The inner product of its words with those of every node, where it is known.
    products: Option<Field>,
    /// What its given links say, where it has any.
    pub(super) given: Option<GivenEvidence>,
}

impl Source<'_> {
    /// The chance that a walk along one link from its starts ends at each node.
    pub(crate) fn near(&self) -> &[f32] {
        self.found.walk.near.values()
    }

    /// The largest cosine of a new node with one of its walk's starts.
    pub(crate) fn closeness(&self) -> f32 {
        self.found.walk.closeness
    }

    /// The votes for a node.
    pub(crate) fn votes(&self, node: NodeId) -> f32 {
        self.found.votes.as_ref().map_or(0.0, |votes| votes.values()[node as usize])
    }

    /// Those that vote.
    pub(crate) fn voters(&self) -> impl Iterator<Item = NodeId> {
        self.voters.iter().map(|voter| voter.0)
    }
}

impl<'a> Evidence<'a> {
    /// Of the nodes of a training graph. Nodes without a link in it are new ones.
    pub fn new(graph: &'a Graph, known: Side<'a>) -> Self {
        Self::with_warm(graph, known, Cow::Owned(WarmNodes::of(graph, known.embeddings)))
    }

    /// The same where the nodes with a link are known already.
    pub(crate) fn with_warm(graph: &'a Graph, known: Side<'a>, warm: Cow<'a, WarmNodes>) -> Self {
        let (walk_from_anywhere, cold_walks) = (OnceLock::new(), OnceLock::new());
        let (roles, opposites) = (&PLAIN, PLAIN.opposites());
        let (added, new, similar, votes, given) = (None, None, None, false, None);
        let negatives = vec![OnceLock::new()];
        let (kept, expected, room) = (AtomicUsize::new(0), ExpectedStarts::default(), Room::default());
        Evidence {
            graph,
            roles,
            opposites,
            known,
            added,
            new,
            warm,
            similar,
            walk_from_anywhere,
            cold_walks,
            kept,
            expected,
            room,
            votes,
            given,
            negatives,
        }
    }

    /// The same with room that others have used: whoever makes evidence for one question after the other need not zero it each time.
    pub(crate) fn in_room(self, room: Room) -> Self {
        Evidence { room, ..self }
    }

    /// The same where nodes with similar words vote, if their votes count.
    pub(crate) fn voting(self, votes: bool) -> Self {
        Evidence { votes, ..self }
    }

    /// The same for a graph of role nodes.
    pub fn in_roles(self, roles: &'a Roles) -> Self {
        let negatives = vec![OnceLock::new(); roles.count()];
        Evidence { roles, opposites: roles.opposites(), negatives, ..self }
    }

    /// The same where some nodes without training links are given links.
    pub(crate) fn with_given(self, given: Option<&'a Given>) -> Self {
        Evidence { given: given.filter(|given| !given.is_empty()), ..self }
    }

    /// The same node at the other end of the relation: where a walk that arrived at a target goes on as a source.
    #[inline]
    pub(super) fn turned(&self, node: NodeId) -> NodeId {
        let role = self.roles.role(node);
        node - role as NodeId + self.opposites[role]
    }

    /// How many roles a node has.
    pub(super) fn roles(&self) -> usize {
        self.opposites.len()
    }

    /// The role of a node.
    pub(crate) fn role(&self, node: NodeId) -> usize {
        self.roles.role(node)
    }

    /// The role at the other end of a node's links.
    pub(super) fn opposite_role(&self, node: NodeId) -> usize {
        self.opposites[self.role(node)] as usize
    }

    /// The same where nodes that are like a new one are found by a search, if one is given.
    pub(crate) fn through(self, similar: Option<Similar<'a>>) -> Self {
        Evidence { similar, ..self }
    }

    /// The same where the last nodes of the graph, which have no links, are kept apart from the others.
    pub(crate) fn with_added(self, added: Option<Side<'a>>) -> Self {
        Evidence { added, ..self }
    }

    /// The same with nodes that are in no graph; the first of them is numbered after the last of the graph.
    pub fn with_new(self, new: Side<'a>) -> Self {
        Evidence { new: Some(new), ..self }
    }

    pub(super) fn side(&self, node: NodeId) -> (Side<'a>, usize) {
        let (node, known) = (node as usize, self.graph.nodes());
        match (self.new, self.added) {
            (Some(new), _) if node >= known => (new, node - known),
            (_, Some(added)) if node >= self.known.embeddings.nodes() => (added, node - self.known.embeddings.nodes()),
            _ => (self.known, node),
        }
    }

    /// Whether a node has a link.
    pub fn is_warm(&self, node: NodeId) -> bool {
        self.degree(node) > 0
    }

    /// How many links a node has.
    pub fn degree(&self, node: NodeId) -> usize {
        if (node as usize) < self.graph.nodes() { self.graph.degree(node) } else { 0 }
    }

    /// ln(1 + degree): what the number of its links alone says for a node, or the sum of their weights.
    pub fn popularity(&self, node: NodeId) -> f32 {
        if (node as usize) < self.graph.nodes() { self.graph.popularity(node) } else { 0.0 }
    }

    /// Which ends of a pair are warm.
    pub fn class(&self, source: NodeId, target: NodeId) -> PairClass {
        match (self.is_warm(source), self.is_warm(target)) {
            (true, true) => PairClass::WarmWarm,
            (false, false) => PairClass::ColdCold,
            _ => PairClass::ColdWarm,
        }
    }

    /// The terms of each pair, in order. They are the same for both orders of a pair.
    pub fn terms(&self, pairs: &[(NodeId, NodeId)]) -> Vec<Terms> {
        let looks_first = |&(a, b): &(NodeId, NodeId)| self.looks(a, b);
        let mut order: Vec<(NodeId, NodeId, usize)> = pairs
            .iter()
            .enumerate()
            .map(|(place, pair)| if looks_first(pair) { (pair.0, pair.1, place) } else { (pair.1, pair.0, place) })
            .collect();
        order.par_sort_unstable();
        let groups: Vec<_> = order.chunk_by(|a, b| a.0 == b.0).collect();
        let of_group = |group: &&[(NodeId, NodeId, usize)]| {
            let source = self.source(group[0].0);
            let targets: Vec<NodeId> = group.iter().map(|&(_, target, _)| target).collect();
            let mut out = vec![Terms::default(); targets.len()];
            self.fill(&source, &targets, None, &mut out);
            out
        };
        let mut terms: Vec<Vec<Terms>> = Vec::with_capacity(groups.len());
        for round in groups.chunks(SOURCES_PER_ROUND) {
            self.expect(&round.iter().map(|group| group[0].0).collect::<Vec<_>>());
            terms.par_extend(round.par_iter().map(of_group));
        }
        let mut out = vec![Terms::default(); pairs.len()];
        for (&(.., place), terms) in order.iter().zip(terms.into_iter().flatten()) {
            out[place] = terms;
        }
        out
    }

    /// Whether `a` is the end of a pair that looks for the other: the new one; where both or neither is new, the source of a
    /// directed link, or else the one with the smaller number.
    fn looks(&self, a: NodeId, b: NodeId) -> bool {
        (self.is_warm(a), self.role(a), a) <= (self.is_warm(b), self.role(b), b)
    }

    /// The role of the end of a pair that looks for the other.
    pub(crate) fn looking_role(&self, a: NodeId, b: NodeId) -> usize {
        self.role(if self.looks(a, b) { a } else { b })
    }

    /// The terms of a source with each candidate.
    pub(crate) fn terms_of(&self, source: &Source<'_>, candidates: &[NodeId], out: &mut [Terms]) {
        // A few candidates are not worth a number for every node.
        let few = candidates.len() < self.graph.nodes() / 16;
        let known = source.products.as_ref().map(Field::values);
        let made = (!few && known.is_none()).then(|| self.known.words.products(source.side.words.row(source.row)));
        self.fill(source, candidates, known.or(made.as_deref()), out);
    }

    /// Those of its terms with each candidate that are inner products of embeddings; the others are 0.
    pub(crate) fn dense_terms(&self, source: &Source<'_>, candidates: &[NodeId]) -> Vec<Terms> {
        let mut out = vec![Terms::default(); candidates.len()];
        f32::run(Similarities { evidence: self, source, targets: candidates, out: &mut out });
        out
    }

    pub(crate) fn source(&self, node: NodeId) -> Source<'a> {
        match self.given.and_then(|given| given.of(node)) {
            Some(links) => self.source_given(node, links),
            None => self.source_from(node, self.walk_from(node), None),
        }
    }

    /// A source that is given links.
    pub(super) fn source_given(&self, node: NodeId, links: &GivenLinks) -> Source<'a> {
        let walk = match links.held {
            Some(_) if self.has_attributes(node) => self.walk_from_starts(self.starts(node, links.held)),
            _ => self.walk_from(node),
        };
        let mut source = self.source_from(node, walk, links.held);
        source.given = self.given_evidence(&source, links);
        source
    }

    /// A source whose walk is given: see [`Evidence::walk_from_starts`]. A node that is held as if it were new does not vote.
    pub(crate) fn source_from(&self, node: NodeId, walk: Walk, held: Option<NodeId>) -> Source<'a> {
        let ((side, row), warm) = (self.side(node), self.is_warm(node));
        let (voters, products) = if self.votes && !warm { self.voters(node, held) } else { (Vec::new(), None) };
        let found = Found { walk, votes: self.votes_of(&voters) };
        Source { node, warm, side, row, found, voters, products, given: None }
    }

    /// The chance that a walk along one link from a node's starts ends at each node.
    fn walk_from(&self, node: NodeId) -> Walk {
        if self.is_warm(node) {
            let (share, mut starts) = (1.0 / self.graph.strength(node), Vec::with_capacity(self.graph.degree(node)));
            self.graph.each_neighbor(node, |start, weight| starts.push((self.turned(start), share * weight)));
            Walk { near: self.walk(starts.into_iter()), closeness: 0.0 }
        } else {
            if self.has_attributes(node) {
                return self.walk_from_starts(self.starts(node, None));
            }
            // Without attributes all nodes are alike.
            let share = self.roles.count() as f32 / self.warm.nodes.len().max(1) as f32;
            let near = || self.walk(self.warm.nodes.iter().map(|&start| (start, share)));
            let anywhere = || Walk { near: near(), closeness: 0.0 };
            self.walk_from_anywhere.get_or_init(anywhere).clone()
        }
    }

    /// What a node without links finds, kept for the next time unless all of these would take too much room.
    fn found_from_cold(&self, node: NodeId) -> Cow<'_, FoundFromCold> {
        let found = || {
            let Found { walk, votes } = self.source(node).found;
            let votes = votes.map_or_else(SparseField::default, |votes| votes.sparse());
            let found = FoundFromCold { near: walk.near.sparse(), votes, closeness: walk.closeness };
            self.kept.fetch_add(found.near.len() + found.votes.len(), Ordering::Relaxed);
            found
        };
        let nodes = self.graph.nodes();
        let kept = self.cold_walks.get_or_init(|| (0..nodes).map(|_| OnceLock::new()).collect());
        let Some(kept) = kept.get(node as usize) else { return Cow::Owned(found()) };
        match kept.get() {
            Some(kept) => Cow::Borrowed(kept),
            None if self.kept.load(Ordering::Relaxed) > MOST_KEPT => Cow::Owned(found()),
            None => Cow::Borrowed(kept.get_or_init(found)),
        }
    }

    /// Whether a node's attributes say anything.
    pub(crate) fn has_attributes(&self, node: NodeId) -> bool {
        let (side, row) = self.side(node);
        side.embeddings.attributes.row(row).iter().any(|value| *value != 0.0)
    }

    /// The chance that a walk along one link ends at each node, from starts with their cosines.
    pub(crate) fn walk_from_starts(&self, mut starts: Vec<(NodeId, f32)>) -> Walk {
        // In the order of nodes, so that sums do not depend on how the starts were found.
        starts.sort_unstable_by_key(|(node, _)| *node);
        let largest = starts.iter().fold(f32::MIN, |largest, (_, cosine)| largest.max(*cosine));
        for (_, cosine) in &mut starts {
            *cosine = ((*cosine - largest) / START_TEMPERATURE).exp();
        }
        let sum: f32 = starts.iter().map(|(_, share)| share).sum();
        let near = self.walk(starts.into_iter().map(|(node, share)| (node, share / sum)));
        Walk { near, closeness: largest.max(0.0) }
    }

    /// Where a step along a link from these starts ends. Links are taken in proportion to their weights.
    pub(super) fn walk(&self, starts: impl Iterator<Item = (NodeId, f32)>) -> Arc<Field> {
        let mut chances = self.room.field(self.graph.nodes());
        for (start, share) in starts {
            let share = share / self.graph.strength(start);
            self.graph.each_neighbor(start, |end, weight| chances.add(end, share * weight));
        }
        Arc::new(chances)
    }

    fn fill(&self, source: &Source<'_>, targets: &[NodeId], products: Option<&[f32]>, out: &mut [Terms]) {
        f32::run(Similarities { evidence: self, source, targets, out });
        let words = source.side.words.row(source.row);
        let are_known = products.is_some() && self.added.is_none();
        let spread = (!are_known && targets.len() >= FEW).then(|| self.known.words.spread(words));
        for (place, (terms, &target)) in out.iter_mut().zip(targets).enumerate() {
            self.prefetch_rows(targets.get(place + AHEAD), targets.get(place + 2 * AHEAD));
            let (side, row) = self.side(target);
            let known = products.filter(|_| (target as usize) < self.known.words.rows());
            let cosine = match (known, &spread) {
                (Some(products), _) => products[row],
                (None, Some(spread)) => {
                    side.words.row(row).iter().map(|word| word.weight * spread[word.index as usize]).sum()
                }
                (None, None) => inner(words, side.words.row(row)),
            };
            terms[Term::Tfidf as usize] = cosine;
            terms[Term::Degree as usize] = self.popularity(source.node) + self.popularity(target);
            let (near, far, votes, closeness) = match (source.warm, self.is_warm(target)) {
                (true, true) => {
                    // Scaled to be the same in both directions.
                    let scale = (self.graph.strength(source.node) / self.graph.strength(target)).sqrt();
                    let (near, far) = self.chances(|node| source.near()[node as usize], target);
                    (near * scale, far * scale, 0.0, 0.0)
                }
                (false, true) => {
                    let (near, far) = self.chances(|node| source.near()[node as usize], target);
                    (near, far, source.votes(target), source.closeness())
                }
                (true, false) => {
                    let found = self.found_from_cold(target);
                    let (near, far) = self.chances(|node| found.near.get(node), source.node);
                    (near, far, found.votes.get(source.node), found.closeness)
                }
                (false, false) => (0.0, 0.0, 0.0, 0.0),
            };
            terms[CLOSENESS] = closeness;
            terms[Term::Votes as usize] = (votes + SMALL_VOTE).ln();
            terms[Term::Near as usize] = (near + SMALL_CHANCE).ln();
            terms[Term::Far as usize] = (far + SMALL_CHANCE).ln();
        }
    }

    /// Fetches the words and links of a node, and where those of a later one stand.
    fn prefetch_rows(&self, soon: Option<&NodeId>, later: Option<&NodeId>) {
        if let Some(&soon) = soon {
            let (side, row) = self.side(soon);
            prefetch(side.words.row(row));
            if (soon as usize) < self.graph.nodes() {
                prefetch(self.graph.neighbors(soon));
            }
        }
        if let Some(&later) = later {
            let (side, row) = self.side(later);
            prefetch(&side.words.offsets()[row..][..2]);
            if (later as usize) < self.graph.nodes() {
                prefetch(&self.graph.offsets()[later as usize..][..2]);
            }
        }
    }

    /// The chances that a walk, of which `near` has the first step, is at a warm node after one step and after two.
    fn chances(&self, near: impl Fn(NodeId) -> f32, target: NodeId) -> (f32, f32) {
        let mut far = 0.0;
        self.graph.each_neighbor(target, |from, weight| {
            let chance = near(self.turned(from));
            if chance > 0.0 {
                far += chance / self.graph.strength(from) * weight;
            }
        });
        (near(target), far)
    }
}

struct InverseLength<'a>(&'a [Chunk<f32>]);

impl Kernel<f32> for InverseLength<'_> {
    type Output = f32;
    #[inline(always)]
    fn on<S: Simd<Scalar = f32>>(self, simd: S) -> f32 {
        let square = dot(simd, self.0, self.0);
        if square > 0.0 { 1.0 / square.sqrt() } else { 0.0 }
    }
}

/// The terms that are inner products of embeddings.
struct Similarities<'a> {
    evidence: &'a Evidence<'a>,
    source: &'a Source<'a>,
    targets: &'a [NodeId],
    out: &'a mut [Terms],
}

impl Kernel<f32> for Similarities<'_> {
    type Output = ();
    #[inline(always)]
    fn on<S: Simd<Scalar = f32>>(self, simd: S) {
        let own = self.source.side.embeddings;
        let (own_a, own_s) = (own.attributes.chunk_row(self.source.row), own.structure.chunk_row(self.source.row));
        for (place, (terms, &target)) in self.out.iter_mut().zip(self.targets).enumerate() {
            if let Some(&soon) = self.targets.get(place + AHEAD) {
                let (side, row) = self.evidence.side(soon);
                prefetch(side.embeddings.attributes.chunk_row(row));
                prefetch(side.embeddings.structure.chunk_row(row));
            }
            let (side, row) = self.evidence.side(target);
            let (a, s) = (side.embeddings.attributes.chunk_row(row), side.embeddings.structure.chunk_row(row));
            let attributes = dot(simd, own_a, a);
            let warm = (self.source.warm, self.evidence.is_warm(target));
            terms[Term::Attributes as usize] = attributes;
            terms[Term::Cross as usize] = match warm {
                (true, true) => (dot(simd, own_s, a) + dot(simd, own_a, s)) / 2.0,
                (true, false) => dot(simd, own_s, a),
                (false, true) => dot(simd, own_a, s),
                (false, false) => attributes,
            };
            terms[Term::Structure as usize] = if warm == (true, true) { dot(simd, own_s, s) } else { 0.0 };
        }
    }
}
