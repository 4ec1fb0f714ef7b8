//! What links that a new node already has say of its others, beside its attributes.
//!
//! A new node with a few links stays one without training links, and all that its attributes say of it counts as ever. Its given
//! links add four numbers: two inner products with a structure embedding that is found for it by fold-in, and the chances of two
//! walks that start at what it links to.

use std::collections::HashMap;
use std::sync::Arc;

use rand::seq::index;

use super::evidence::AHEAD;
use super::field::Field;
use super::{Evidence, Source};
use crate::graph::NodeId;
use crate::kernel::{Chunk, Kernel, Real, Simd, add_scaled, dot, multiply, normalise, prefetch};
use crate::random::{Purpose, stream};

/// How many numbers given links add to the terms of a pair.
pub(crate) const GIVEN: usize = 4;

/// z_s · z_s and z_s · z_a of the folded-in structure embedding; how far the chance to walk from a given link's end along one
/// link exceeds [`SMALL_CHANCE`](super::SMALL_CHANCE), as a logarithm; and the same of the walk to nodes that share a link and on to
/// what they link to. All of them times links / (links + 1), so that more links say more.
pub(crate) type GivenTerms = [f32; GIVEN];

/// Chances far below this are none: of the order of one link among all that a walk may take.
const SMALL_CHANCE: f32 = 1e-4;
/// Known nodes that given links are told apart from in the fold-in.
const NEGATIVES: usize = 512;
/// The temperature of its softmax.
const TEMPERATURE: f32 = 0.07;
/// How many links the attribute embedding stands for.
const PRIOR: f32 = 2.0;
/// Steps of the fold-in.
const STEPS: usize = 10;

/// The given links of new nodes, by the nodes' numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Given(HashMap<NodeId, GivenLinks>);

/// The given links of one node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GivenLinks {
    /// What it is linked with, in rising order.
    pub linked: Vec<NodeId>,
    /// The known node that it is, if one is asked about as if it were new.
    pub held: Option<NodeId>,
}

impl Given {
    /// Of the nodes that have any.
    pub fn new(links: impl IntoIterator<Item = (NodeId, GivenLinks)>) -> Self {
        Given(links.into_iter().collect())
    }

    /// Of links from new nodes to known ones.
    pub fn of_links(links: impl IntoIterator<Item = (NodeId, NodeId)>) -> Self {
        let mut all: HashMap<NodeId, GivenLinks> = HashMap::new();
        for (new, known) in links {
            all.entry(new).or_default().linked.push(known);
        }
        for links in all.values_mut() {
            links.linked.sort_unstable();
            links.linked.dedup();
        }
        Given(all)
    }

    /// Those of a node.
    pub fn of(&self, node: NodeId) -> Option<&GivenLinks> {
        self.0.get(&node)
    }

    /// Whether known nodes are asked about.
    pub(crate) fn any_held(&self) -> bool {
        self.0.values().any(|links| links.held.is_some())
    }

    /// Whether no node has any.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a known node is no candidate for a new one: it is linked with it, or it is the same.
    pub fn rules_out(&self, new: NodeId, known: NodeId) -> bool {
        let links = self.0.get(&new);
        links.is_some_and(|links| links.held == Some(known) || links.linked.binary_search(&known).is_ok())
    }
}

/// What is found from given links.
pub(super) struct GivenEvidence {
    /// z_s.
    structure: Vec<Chunk<f32>>,
    /// Where a walk along one link from what it links to ends.
    near: Arc<Field>,
    /// The nodes in its role that share links with it.
    sharing: Arc<Field>,
    /// How much all of this counts.
    weight: f32,
}

impl Evidence<'_> {
    /// The same source with what its given links say.
    pub(super) fn given_evidence(&self, source: &Source<'_>, links: &GivenLinks) -> Option<GivenEvidence> {
        let count = links.linked.len();
        if count == 0 {
            return None;
        }
        let share = 1.0 / count as f32;
        let near = self.walk(links.linked.iter().map(|&end| (self.turned(end), share)));
        let sharing = match self.roles() {
            1 => near.clone(),
            _ => self.walk(links.linked.iter().map(|&end| (end, share))),
        };
        let structure = match links.held {
            Some(known) => {
                let (side, row) = self.side(known);
                side.embeddings.structure.chunk_row(row).to_vec()
            }
            None => self.fold_in(source.node, &links.linked),
        };
        Some(GivenEvidence { structure, near, sharing, weight: count as f32 / (count as f32 + 1.0) })
    }

    /// A structure embedding for a node with some links, everything else fixed: where the softmax of its links among other nodes
    /// and the attribute embedding, which counts as much as [`PRIOR`] links, pull it together.
    pub(super) fn fold_in(&self, node: NodeId, linked: &[NodeId]) -> Vec<Chunk<f32>> {
        let others = self.fold_in_negatives(self.opposite_role(node));
        let (side, row) = self.side(node);
        let own = side.embeddings.attributes.chunk_row(row);
        f32::run(FoldIn { evidence: self, own, linked, others: &others })
    }

    /// Known nodes in a role, the same for all.
    fn fold_in_negatives(&self, role: usize) -> Arc<Vec<NodeId>> {
        let draw = || {
            let of_role: Vec<NodeId> =
                self.warm.nodes().iter().copied().filter(|&node| self.role(node) == role).collect();
            let random = &mut stream(0, Purpose::FoldIn, role as u64, 0);
            let drawn = index::sample(random, of_role.len(), of_role.len().min(NEGATIVES));
            let mut drawn: Vec<NodeId> = drawn.into_iter().map(|place| of_role[place]).collect();
            drawn.sort_unstable();
            Arc::new(drawn)
        };
        self.negatives[role].get_or_init(draw).clone()
    }

    /// What given links say of a source and each of some warm nodes; 0 for a source without any.
    pub(crate) fn given_terms(&self, source: &Source<'_>, targets: &[NodeId]) -> Vec<GivenTerms> {
        let mut out = vec![GivenTerms::default(); targets.len()];
        let Some(given) = &source.given else { return out };
        f32::run(Products { evidence: self, given, targets, out: &mut out });
        let gain = |chance: f32| given.weight * (chance / SMALL_CHANCE).ln_1p();
        for (terms, &target) in out.iter_mut().zip(targets) {
            if (target as usize) < self.graph.nodes() {
                let mut shared = 0.0;
                self.graph.each_neighbor(target, |from, weight| {
                    shared += given.sharing.values()[from as usize] / self.graph.strength(from) * weight;
                });
                terms[2] = gain(given.near.values()[target as usize]);
                terms[3] = gain(shared);
            }
        }
        out
    }
}

/// Maximises Σ z·u(l) / τ − links · log Σ e^(z·u / τ) + prior z·z_a / τ over z of the length of z_a, where u = (z_s + z_a) / 2 of a
/// known node, l are the linked ones, and the sum is over these and others.
struct FoldIn<'a> {
    evidence: &'a Evidence<'a>,
    own: &'a [Chunk<f32>],
    linked: &'a [NodeId],
    others: &'a [NodeId],
}

impl Kernel<f32> for FoldIn<'_> {
    type Output = Vec<Chunk<f32>>;
    #[inline(always)]
    fn on<S: Simd<Scalar = f32>>(self, simd: S) -> Vec<Chunk<f32>> {
        let FoldIn { evidence, own, linked, others } = self;
        let rows = |node: NodeId| {
            let (side, row) = evidence.side(node);
            (side.embeddings.structure.chunk_row(row), side.embeddings.attributes.chunk_row(row))
        };
        let length = Some(dot(simd, own, own).sqrt()).filter(|length| *length > 0.0).unwrap_or(1.0);
        let (count, all) = (linked.len() as f32, [linked, others].concat());
        let (mut place, mut shares) = (own.to_vec(), vec![0.0; all.len()]);
        for _ in 0..STEPS {
            for (share, &node) in shares.iter_mut().zip(&all) {
                let (structure, attributes) = rows(node);
                *share = (dot(simd, &place, structure) + dot(simd, &place, attributes)) / (2.0 * TEMPERATURE);
            }
            let largest = shares.iter().copied().fold(f32::MIN, f32::max);
            shares.iter_mut().for_each(|share| *share = (*share - largest).exp());
            let sum: f32 = shares.iter().sum();
            add_scaled(simd, &mut place, PRIOR / (PRIOR + count), own);
            for (index, (&node, share)) in all.iter().zip(&shares).enumerate() {
                let wanted = if index < linked.len() { 1.0 } else { 0.0 };
                let weight = (wanted - count * share / sum) / (2.0 * (PRIOR + count));
                let (structure, attributes) = rows(node);
                add_scaled(simd, &mut place, weight, structure);
                add_scaled(simd, &mut place, weight, attributes);
            }
            normalise(simd, &mut place);
            multiply(simd, &mut place, length);
        }
        place
    }
}

/// The inner products of a folded-in structure embedding.
struct Products<'a> {
    evidence: &'a Evidence<'a>,
    given: &'a GivenEvidence,
    targets: &'a [NodeId],
    out: &'a mut [GivenTerms],
}

impl Kernel<f32> for Products<'_> {
    type Output = ();
    #[inline(always)]
    fn on<S: Simd<Scalar = f32>>(self, simd: S) {
        let own = &self.given.structure;
        for (place, (terms, &target)) in self.out.iter_mut().zip(self.targets).enumerate() {
            if let Some(&soon) = self.targets.get(place + AHEAD) {
                let (side, row) = self.evidence.side(soon);
                prefetch(side.embeddings.attributes.chunk_row(row));
                prefetch(side.embeddings.structure.chunk_row(row));
            }
            let (side, row) = self.evidence.side(target);
            terms[0] = self.given.weight * dot(simd, own, side.embeddings.structure.chunk_row(row));
            terms[1] = self.given.weight * dot(simd, own, side.embeddings.attributes.chunk_row(row));
        }
    }
}
