//! The best links of a new node from few candidates, each scored in full.
//!
//! Candidates are the best nodes by the dense part of the score, which a graph of near neighbours finds; of the nodes that share
//! words with the new one, or that its walk reaches, the best by these; and of the nodes that came after the index was built, those
//! with the most similar attributes.

use std::ops::Range;

use rayon::prelude::*;

use super::{Among, EncodedNodes, Model, Plan};
use crate::config::Term;
use crate::dataset::End;
use crate::graph::NodeId;
use crate::index::{Hit, Hnsw, LinkIndex, Marks, best};
use crate::kernel::{Chunk, Kernel, Real, Simd, dot};
use crate::score::{LinkScorer, SMALL_CHANCE, SMALL_VOTE, Source};
use crate::split::PairClass;

/// Other nodes' words that are looked at, rare ones first.
const MOST_WORDS: usize = 200_000;
/// Where more links are wanted than an index was measured for, it looks for so many times as many nodes.
const PER_LINK: usize = 8;
/// Nodes that came after the index was built, of which all are candidates.
const MOST_LATER: usize = 1_000;
/// Where candidates would be more than one in so many nodes, or so many are left out that few remain, all nodes are scored.
const WORTH_IT: usize = 4;

/// One new node, and what is wanted for it.
struct Question<'a> {
    model: &'a Model,
    index: &'a LinkIndex,
    scorer: &'a LinkScorer<'a>,
    new: &'a EncodedNodes,
    row: usize,
    plan: Plan<'a>,
    /// The role node of the graph that is asked about as if it were new.
    held: Option<NodeId>,
}

impl Plan<'_> {
    /// The role of the nodes that are found.
    fn target_role(&self, model: &Model) -> usize {
        model.roles.opposite(self.role)
    }
}

impl Model {
    /// The best links of a new node through an index; none where every node has to be scored.
    pub(super) fn retrieve(
        &self,
        index: &LinkIndex,
        scorer: Option<&LinkScorer<'_>>,
        new: &EncodedNodes,
        row: usize,
        plan: Plan<'_>,
    ) -> Option<Vec<Hit>> {
        match scorer {
            Some(scorer) => Question { model: self, index, scorer, new, row, plan, held: None }.answer(),
            None => self.retrieve_by_lambda(index, new, row, plan),
        }
    }

    /// Where the dense part is the whole score.
    fn retrieve_by_lambda(
        &self,
        index: &LinkIndex,
        new: &EncodedNodes,
        row: usize,
        plan: Plan<'_>,
    ) -> Option<Vec<Hit>> {
        let wanted = breadth(index.about.effort.dense, plan.count, self.summary.nodes)?;
        let own = self.roles.at(row as NodeId, plan.role);
        let found = self.dense_graph(index, plan).nearest(new.embeddings.attributes.row(own as usize), 0.0, wanted);
        let later = self.later(index, plan, new.embeddings.attributes.chunk_row(own as usize));
        let found: Vec<NodeId> = found.into_iter().map(|found| found.0).chain(later).collect();
        let allowed = |node: NodeId| allowed(plan, node) && self.is_candidate(new, row, plan, node);
        let left: Vec<NodeId> = found.iter().copied().filter(|node| allowed(*node)).collect();
        enough(&left, &found, plan.count)?;
        let pairs: Vec<(End, End)> = left.iter().map(|&node| (End::New(own), End::Known(node))).collect();
        let scores = self.score_pairs(new, &pairs);
        Some(best(left.into_iter().zip(scores), plan.count))
    }

    /// The graph of near neighbours in which a plan's links are found.
    fn dense_graph<'a>(&self, index: &'a LinkIndex, plan: Plan<'_>) -> &'a Hnsw {
        &index.dense[plan.target_role(self)]
    }

    /// Nodes that are not in the index, or whose words are in no inverted index, in the role that a plan wants: all, or those whose
    /// attribute embeddings are nearest to `own`.
    fn later(&self, index: &LinkIndex, plan: Plan<'_>, own: &[Chunk<f32>]) -> Vec<NodeId> {
        let role = plan.target_role(self);
        let first = index.about.nodes.min(self.embeddings.nodes() / self.roles.count());
        let nodes = (first as NodeId..self.summary.nodes as NodeId).map(|node| self.roles.at(node, role));
        if nodes.len() <= MOST_LATER {
            return nodes.collect();
        }
        let mut ranked: Vec<(f32, NodeId)> = nodes.map(|node| (0.0, node)).collect();
        f32::run(Nearness { model: self, own, ranked: &mut ranked });
        keep_best(&mut ranked, MOST_LATER);
        ranked.into_iter().map(|ranked| ranked.1).collect()
    }

    /// The best links of some of the nodes of the graph that are held as if they were new, through an index or by scoring every node.
    pub(super) fn links_of_held(
        &self,
        held: &EncodedNodes,
        (nodes, rows): (&[NodeId], &[usize]),
        plan: Plan<'_>,
        index: Option<&LinkIndex>,
    ) -> Vec<Vec<Hit>> {
        let wider = Plan { count: plan.count + 1, ..plan };
        let without = |row: usize, mut hits: Vec<Hit>| {
            hits.retain(|hit| self.roles.node(hit.node) != nodes[row]);
            hits.truncate(plan.count);
            hits
        };
        let Some(scorer) = &self.link_scorer_through(held, index) else {
            let exact = |rows: Range<usize>| self.best_of_all(None, held, rows, wider);
            let Some(index) = index else {
                let mut all = exact(0..nodes.len());
                return rows.iter().map(|&row| without(row, std::mem::take(&mut all[row]))).collect();
            };
            let find = |&row: &usize| {
                let found = self.retrieve_by_lambda(index, held, row, wider);
                without(row, found.unwrap_or_else(|| exact(row..row + 1).remove(0)))
            };
            return rows.into_par_iter().map(find).collect();
        };
        let target_role = plan.target_role(self);
        let all = (0..self.summary.nodes as NodeId).map(|node| self.roles.at(node, target_role));
        let all: Vec<NodeId> = all.collect();
        let find = |&row: &usize| {
            let held_node = Some(self.roles.at(nodes[row], plan.role));
            let question =
                |index| Question { model: self, index, scorer, new: held, row, plan: wider, held: held_node };
            let exact = || {
                let own = self.number(End::New(self.roles.at(row as NodeId, plan.role)));
                let near = scorer.evidence.walk_from_starts(scorer.evidence.starts(own, held_node));
                let scores = scorer.scores_of(&scorer.evidence.source_from(own, near, held_node), &all);
                let scored = all.iter().copied().zip(scores);
                best(scored.filter(|&(node, _)| self.is_candidate(held, row, wider, node)), wider.count)
            };
            without(row, index.and_then(|index| question(index).answer()).unwrap_or_else(exact))
        };
        rows.into_par_iter().map(find).collect()
    }
}

impl Question<'_> {
    fn answer(&self) -> Option<Vec<Hit>> {
        let (model, evidence, effort) = (self.model, &self.scorer.evidence, self.index.about.effort);
        let (nodes, row) = (model.summary.nodes, model.roles.at(self.row as NodeId, self.plan.role));
        let own = model.number(End::New(row));
        if !evidence.has_attributes(own) {
            return None;
        }
        let count = self.plan.count;
        let (dense, sparse) = (breadth(effort.dense, count, nodes)?, breadth(effort.sparse, count, nodes)?);
        let vector = self.new.embeddings.attributes.row(row as usize);
        let starts = if self.index.similar.is_some() { evidence.starts(own, self.held) } else { Vec::new() };
        let source = evidence.source_from(own, evidence.walk_from_starts(starts.clone()), self.held);

        let mut taken = Marks::new(model.role_nodes());
        let mut found: Vec<NodeId> = Vec::with_capacity(dense + sparse);
        let by_dense = model.dense_graph(self.index, self.plan).nearest(vector, self.plan.popularity - 1.0, dense);
        let later = model.later(self.index, self.plan, self.new.embeddings.attributes.chunk_row(row as usize));
        found.extend(by_dense.into_iter().map(|found| found.0).chain(later));
        found.retain(|&node| taken.insert(node));
        let of_dense: Vec<NodeId> = found.iter().copied().filter(|node| self.allows(*node)).collect();
        enough(&of_dense, &found, count)?;
        let mut candidates = of_dense;
        candidates.extend(self.best_by_words_and_walks(&starts, &source, taken, sparse));
        candidates.sort_unstable();

        let scores = self.scorer.scores_of(&source, &candidates);
        let penalty = |node: NodeId| evidence.popularity(node) * (1.0 - self.plan.popularity);
        let ranked = candidates.iter().zip(&scores).enumerate();
        let ranked = ranked.map(|(place, (&node, score))| (place as NodeId, score - penalty(node)));
        let hit = |hit: Hit| Hit { node: candidates[hit.node as usize], score: scores[hit.node as usize] };
        Some(best(ranked, count).into_iter().map(hit).collect())
    }

    fn allows(&self, node: NodeId) -> bool {
        allowed(self.plan, node) && self.model.is_candidate(self.new, self.row, self.plan, node)
    }

    /// The best nodes by what words and walks add to their scores, of those that share words with the new node or are reached by
    /// its walk.
    fn best_by_words_and_walks(
        &self,
        starts: &[(NodeId, f32)],
        source: &Source<'_>,
        mut taken: Marks,
        count: usize,
    ) -> Vec<NodeId> {
        let (Some(memory), Some(words)) = (&self.model.memory, &self.new.words) else { return Vec::new() };
        let (roles, target_role) = (&self.model.roles, self.plan.target_role(self.model));
        let terms = memory.weights.of(PairClass::ColdWarm, self.plan.role).at(source.closeness()).terms;
        let of = |term: Term| terms[term as usize] as f32;
        let row = roles.at(self.row as NodeId, self.plan.role) as usize;
        let mut products = self.scorer.evidence.rough_products(words.row(row), MOST_WORDS);
        let mut touched = products.touched().to_vec();
        for start in starts.iter().map(|start| start.0).chain(source.voters()) {
            touched.extend_from_slice(memory.graph.neighbors(start));
        }
        touched.retain(|&node| roles.role(node) == target_role && taken.insert(node) && self.allows(node));
        let biases = &self.model.derived().biases;
        let rank = |node: NodeId| {
            let (near, place) = (source.near()[node as usize], node as usize);
            let walk = if near > 0.0 { of(Term::Near) * (near / SMALL_CHANCE).ln_1p() } else { 0.0 };
            let votes = of(Term::Votes) * (source.votes(node) / SMALL_VOTE).ln_1p();
            let penalty = match self.plan.popularity {
                1.0 => 0.0,
                popularity => (1.0 - popularity) * self.scorer.evidence.popularity(node),
            };
            (walk + votes + of(Term::Tfidf) * products.values()[place] + biases[place] - penalty, node)
        };
        let mut ranked: Vec<(f32, NodeId)> = touched.into_iter().map(rank).collect();
        let ranked_again = self.index.about.effort.ranked_again.min(ranked.len());
        if ranked_again > count {
            keep_best(&mut ranked, ranked_again);
            let nodes: Vec<NodeId> = ranked.iter().map(|ranked| ranked.1).collect();
            for (ranked, dense) in ranked.iter_mut().zip(self.scorer.evidence.dense_terms(source, &nodes)) {
                ranked.0 +=
                    [Term::Attributes, Term::Cross].map(|term| of(term) * dense[term as usize]).iter().sum::<f32>();
            }
        }
        keep_best(&mut ranked, count);
        ranked.into_iter().map(|ranked| ranked.1).collect()
    }
}

/// The inner product of an attribute embedding with those of other nodes.
struct Nearness<'a> {
    model: &'a Model,
    own: &'a [Chunk<f32>],
    ranked: &'a mut [(f32, NodeId)],
}

impl Kernel<f32> for Nearness<'_> {
    type Output = ();
    #[inline(always)]
    fn on<S: Simd<Scalar = f32>>(self, simd: S) {
        for (product, node) in self.ranked {
            let (embeddings, row) = self.model.row_of(*node);
            *product = dot(simd, self.own, embeddings.attributes.chunk_row(row));
        }
    }
}

/// Keeps those with the largest numbers, in no order.
fn keep_best(ranked: &mut Vec<(f32, NodeId)>, count: usize) {
    if ranked.len() > count && count > 0 {
        ranked.select_nth_unstable_by(count - 1, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    }
    ranked.truncate(count);
}

/// How many nodes to look for where `count` links are wanted; none where it is not worth it.
fn breadth(measured: usize, count: usize, nodes: usize) -> Option<usize> {
    let breadth = measured.max(count.checked_mul(PER_LINK)?);
    (breadth < nodes / WORTH_IT).then_some(breadth)
}

fn allowed(plan: Plan<'_>, node: NodeId) -> bool {
    debug_assert!(plan.among == Among::Known);
    plan.excluded.binary_search(&node).is_err()
}

/// Whether enough nodes are left of those that were found.
fn enough(left: &[NodeId], found: &[NodeId], count: usize) -> Option<()> {
    (left.len() >= count && left.len() * WORTH_IT >= found.len()).then_some(())
}
