//! Fits what given links are worth: validation nodes are given some of their links, and the others shall stand high.

use std::collections::HashMap;

use rand::Rng;
use rand::seq::{SliceRandom, index};
use rayon::prelude::*;

use super::fit::{Examples, FEWEST, PENALTY, log_odds_of, mean_and_deviation_of};
use super::given::{GIVEN, GivenLinks};
use super::listwise::{List, Listwise};
use super::{Evidence, GivenTerms, GivenWeights, PairWeights, ScoreWeights, Terms};
use crate::config::Term;
use crate::graph::NodeId;
use crate::random::{Purpose, stream};
use crate::split::{Candidates, PairClass, RankingQuery};

/// How many of its links a node is given: an example each, where there are more.
const LINKS: [usize; 3] = [1, 2, 5];
/// Examples of each role at the most.
const MOST: usize = 400;
/// Candidates of a list that stand for themselves: so many that score best without given links, and so many that score best by
/// these alone.
const FIRST: usize = 96;
/// Others that are drawn, each of which stands for many.
const DRAWN: usize = 96;
/// What given links are taken to be worth until that is fitted, to find the candidates that a list is about.
const ASSUMED: [f64; GIVEN] = [4.0, 4.0, 0.5, 0.5];

/// A question whose node is given some of the answers.
struct Example<'a> {
    query: &'a RankingQuery,
    candidates: (&'a [NodeId], usize),
    links: GivenLinks,
    /// Where random numbers for it come from.
    place: (u64, u64),
}

/// What an example shows.
struct Shown {
    role: usize,
    list: List,
    /// Pairs of the same node with what they are.
    pairs: Vec<(Vec<f64>, bool)>,
}

/// The pairs that a node is the new end of, and whether each is linked.
type PairsOfNodes = HashMap<NodeId, Vec<(NodeId, bool)>>;

impl GivenWeights {
    /// The weights for nodes that are given links, drawn to those for new nodes without any; by role where there are several, and
    /// none where there are too few examples.
    pub(super) fn fit(
        evidence: &Evidence<'_>,
        terms: &[Term],
        examples: &Examples<'_>,
        cold: &ScoreWeights,
    ) -> Vec<Self> {
        let used: Vec<usize> =
            terms.iter().filter(|term| term.applies_to(PairClass::ColdWarm)).map(|&term| term as usize).collect();
        let candidates = Candidates::sampled(examples.lists, examples.candidates, examples.seed);
        let drawn = draw(evidence, examples, &candidates);
        evidence.expect(&drawn.iter().map(|example| example.query.source).collect::<Vec<_>>());
        let pairs = pairs_of_nodes(evidence, examples);
        let fit = Fit { evidence, used, cold, seed: examples.seed };
        let shown = drawn.par_iter().map(|example| fit.show(example, &pairs)).collect::<Vec<_>>();
        fit.weights(shown.into_iter().flatten().collect())
    }
}

/// Examples in the order of a draw, no more of each role than are wanted.
fn draw<'a>(evidence: &Evidence<'_>, examples: &Examples<'a>, candidates: &'a Candidates) -> Vec<Example<'a>> {
    let all = examples.lists.iter().enumerate();
    let mut all: Vec<(usize, &RankingQuery, usize)> = all
        .flat_map(|(place, query)| LINKS.map(|links| (place, query, links)))
        .filter(|(_, query, links)| *links < query.targets.len())
        .collect();
    all.shuffle(&mut stream(examples.seed, Purpose::GivenLinks, u64::MAX, 0));
    let mut of_role = vec![0; evidence.roles()];
    all.retain(|(_, query, _)| {
        let count = &mut of_role[evidence.role(query.source)];
        *count += 1;
        *count <= MOST
    });
    let example = |(place, query, links): (usize, &'a RankingQuery, usize)| {
        let place = (place as u64, links as u64);
        let mut linked = query.targets.clone();
        linked.shuffle(&mut stream(examples.seed, Purpose::GivenLinks, place.0, place.1));
        linked.truncate(links);
        linked.sort_unstable();
        Example { query, candidates: candidates.of(query), links: GivenLinks { linked, held: None }, place }
    };
    all.into_iter().map(example).collect()
}

/// Of pairs of a new and a warm node.
fn pairs_of_nodes(evidence: &Evidence<'_>, examples: &Examples<'_>) -> PairsOfNodes {
    let mut all = PairsOfNodes::new();
    for pair in examples.pairs {
        let (new, warm) = match (evidence.is_warm(pair.source), evidence.is_warm(pair.target)) {
            (false, true) => (pair.source, pair.target),
            (true, false) => (pair.target, pair.source),
            _ => continue,
        };
        all.entry(new).or_default().push((warm, pair.linked));
    }
    all
}

struct Fit<'a> {
    evidence: &'a Evidence<'a>,
    /// The terms that count without given links.
    used: Vec<usize>,
    cold: &'a ScoreWeights,
    seed: u64,
}

impl Fit<'_> {
    fn show(&self, example: &Example<'_>, pairs: &PairsOfNodes) -> Option<Shown> {
        let Example { query, candidates: (among, all), links, place } = example;
        let role = self.evidence.role(query.source);
        let source = self.evidence.source_given(query.source, links);
        let terms_of = |nodes: &[NodeId]| {
            let mut terms = vec![Terms::default(); nodes.len()];
            self.evidence.terms_of(&source, nodes, &mut terms);
            terms.into_iter().zip(self.evidence.given_terms(&source, nodes)).collect::<Vec<_>>()
        };
        let is_given = |node: &NodeId| links.linked.binary_search(node).is_ok();
        let targets: Vec<NodeId> = query.targets.iter().copied().filter(|node| !is_given(node)).collect();
        let competes = |node: &NodeId| {
            self.evidence.is_warm(*node)
                && *node != query.source
                && query.targets.binary_search(node).is_err()
                && query.exclude.binary_search(node).is_err()
        };
        let others: Vec<NodeId> = among.iter().copied().filter(competes).collect();
        let each = *all as f64 / among.len().max(1) as f64;
        let random = &mut stream(self.seed, Purpose::GivenLinks, place.0, LINKS.len() as u64 + place.1 + 1_000);
        let (chosen, counts) = self.chosen(&terms_of(&others), role, each, random);
        let rows = |nodes: &[NodeId]| terms_of(nodes).iter().map(|terms| self.row(role, terms)).collect::<Vec<_>>();
        let others: Vec<NodeId> = chosen.into_iter().map(|place| others[place]).collect();
        let list = List { targets: rows(&targets), others: rows(&others), counts };
        // As many unlinked pairs as linked ones: no more than the given links leave.
        let own = pairs.get(&query.source).map_or(&[][..], |own| own);
        let mut linked: Vec<(NodeId, bool)> = own.iter().copied().filter(|pair| pair.1 && !is_given(&pair.0)).collect();
        let unlinked: Vec<_> = own.iter().copied().filter(|pair| !pair.1).take(linked.len()).collect();
        linked.extend(unlinked);
        let nodes: Vec<NodeId> = linked.iter().map(|pair| pair.0).collect();
        let pairs = rows(&nodes).into_iter().zip(linked).map(|(row, pair)| (row, pair.1)).collect();
        (!list.others.is_empty() && !list.targets.is_empty()).then_some(Shown { role, list, pairs })
    }

    /// The terms, what the gate of new nodes adds, and what given links say.
    fn row(&self, role: usize, (terms, given): &(Terms, GivenTerms)) -> Vec<f64> {
        let gate = &self.cold.of(PairClass::ColdWarm, role).gate;
        let of_gate = gate.as_ref().map_or(0.0, |gate| gate.adds(terms));
        let of_terms = self.used.iter().map(|&term| f64::from(terms[term]));
        of_terms.chain([of_gate]).chain(given.iter().map(|&term| f64::from(term))).collect()
    }

    /// The candidates of a list by their places, and how many each stands for.
    fn chosen(
        &self,
        terms: &[(Terms, GivenTerms)],
        role: usize,
        each: f64,
        random: &mut impl Rng,
    ) -> (Vec<usize>, Vec<f64>) {
        let weights = self.cold.of(PairClass::ColdWarm, role);
        let without: Vec<f64> = terms.iter().map(|(terms, _)| weights.score(terms)).collect();
        let worth =
            |given: &GivenTerms| ASSUMED.iter().zip(given).map(|(weight, &term)| weight * f64::from(term)).sum::<f64>();
        let with: Vec<f64> = terms.iter().zip(&without).map(|((_, given), score)| score + worth(given)).collect();
        let mut order: Vec<usize> = (0..terms.len()).collect();
        let mut first = Vec::new();
        for scores in [without, with] {
            if order.len() > FIRST {
                order.select_nth_unstable_by(FIRST - 1, |a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
            }
            let rest = order.split_off(order.len().min(FIRST));
            first.append(&mut order);
            order = rest;
        }
        let mut counts = vec![each; first.len()];
        let drawn = index::sample(random, order.len(), order.len().min(DRAWN));
        counts.resize(first.len() + drawn.len(), each * (order.len() as f64 / drawn.len().max(1) as f64));
        first.extend(drawn.into_iter().map(|place| order[place]));
        (first, counts)
    }

    /// One set of weights for all, or one for each role, which is drawn to what given links are worth in all of them.
    fn weights(&self, shown: Vec<Shown>) -> Vec<GivenWeights> {
        let roles = self.evidence.roles();
        let mut pairs: Vec<Vec<(Vec<f64>, bool)>> = vec![Vec::new(); roles];
        let (mut of, mut lists) = (Vec::new(), Vec::new());
        for Shown { role, list, pairs: own } in shown {
            pairs[role].extend(own);
            of.push(role);
            lists.push(list);
        }
        if lists.iter().map(|list| list.targets.len()).sum::<usize>() < FEWEST {
            return Vec::new();
        }
        let column = |column: usize| pairs.iter().flatten().map(move |pair| pair.0[column]);
        let scales: Vec<f64> =
            (0..self.used.len() + 1 + GIVEN).map(|place| mean_and_deviation_of(|| column(place)).1).collect();
        let nothing = [0.0; GIVEN];
        let shared = (roles > 1).then(|| {
            let found = Listwise { penalty: PENALTY }.fit(&lists, &scales, &self.prior(&self.cold.cold_warm, &nothing));
            found[self.used.len() + 1..].to_vec()
        });
        let mut by_role: Vec<Vec<List>> = vec![Vec::new(); roles];
        of.into_iter().zip(lists).for_each(|(role, list)| by_role[role].push(list));
        let fit = |(role, lists): (usize, &Vec<List>)| {
            let cold = self.cold.of(PairClass::ColdWarm, role);
            let prior = self.prior(cold, shared.as_deref().unwrap_or(&nothing));
            let enough = lists.iter().map(|list| list.targets.len()).sum::<usize>() >= FEWEST;
            let direction = if enough { Listwise { penalty: PENALTY }.fit(lists, &scales, &prior) } else { prior };
            self.scaled(cold, &direction, &pairs[role])
        };
        by_role.iter().enumerate().map(fit).collect()
    }

    fn prior(&self, cold: &PairWeights, given: &[f64]) -> Vec<f64> {
        self.used.iter().map(|&term| cold.terms[term]).chain([1.0]).chain(given.iter().copied()).collect()
    }

    /// Weights in this direction, as a log-odds.
    fn scaled(&self, cold: &PairWeights, direction: &[f64], pairs: &[(Vec<f64>, bool)]) -> GivenWeights {
        let score = |row: &Vec<f64>| row.iter().zip(direction).map(|(term, weight)| term * weight).sum();
        let scores: Vec<f64> = pairs.iter().map(|pair| score(&pair.0)).collect();
        let linked: Vec<bool> = pairs.iter().map(|pair| pair.1).collect();
        let found = log_odds_of(&scores, None, &linked);
        let (scale, intercept) = found.map_or((1.0, cold.intercept), |found| (found.scale, found.intercept));
        let gate = cold.gate.as_ref().map(|gate| Box::new(gate.times(scale * direction[self.used.len()])));
        let mut pair = PairWeights { intercept, pairs: pairs.len(), gate, ..PairWeights::default() };
        self.used.iter().zip(direction).for_each(|(&term, weight)| pair.terms[term] = scale * weight);
        let mut given = [0.0; GIVEN];
        given.iter_mut().zip(&direction[self.used.len() + 1..]).for_each(|(out, weight)| *out = scale * weight);
        GivenWeights { pair, given }
    }
}
