//! Fits the weights of a score's terms to pairs whose links are known, and to lists in which true links shall stand high.

use rand::Rng;
use rand::seq::index;
use rayon::prelude::*;

use super::fit_warm::known_pairs;
use super::gate::GateColumns;
use super::listwise::{List, Listwise};
use super::logistic::logistic;
use super::weights::log_odds;
use super::{Evidence, GivenWeights, Logistic, PairWeights, RoleWeights, ScoreWeights, Terms};
use crate::config::Term;
use crate::graph::NodeId;
use crate::random::{Purpose, stream};
use crate::split::{Candidates, Pair, PairClass, RankingQuery};

/// The strength of the penalty: as ten pairs that say nothing.
pub(super) const PENALTY: f64 = 10.0;
/// Linked and unlinked pairs each that a fit needs.
pub(super) const FEWEST: usize = 15;

/// Candidates of a list that stand for themselves: those that score best by weights that were fitted to pairs.
const FIRST: usize = 128;
/// Others that are drawn, each of which stands for many.
const DRAWN: usize = 128;

const CLASSES: [PairClass; 3] = [PairClass::WarmWarm, PairClass::ColdWarm, PairClass::ColdCold];

/// What weights are fitted to.
pub struct Examples<'a> {
    /// Pairs: weights, and what makes a score a log-odds.
    pub pairs: &'a [Pair],
    /// Questions whose true answers shall stand high in lists; none where pairs alone matter.
    pub lists: &'a [RankingQuery],
    /// Questions whose nodes join the graph with most of their true answers, where no pairs are of two known nodes.
    pub joining: &'a [RankingQuery],
    /// Whom a question is about that does not say so.
    pub candidates: &'a [NodeId],
    /// The seed of what is drawn.
    pub seed: u64,
}

/// The pairs of one class.
#[derive(Default)]
struct Sample {
    terms: Vec<Terms>,
    linked: Vec<bool>,
}

impl ScoreWeights {
    /// Whether pairs are enough to fit weights to.
    pub fn can_be_fitted_to(pairs: &[Pair]) -> bool {
        let linked = pairs.iter().filter(|pair| pair.linked).count();
        linked >= FEWEST && pairs.len() - linked >= FEWEST
    }

    /// The weights of `terms` under which `pairs` are likeliest. The class with the most pairs is fitted first; the others are
    /// drawn to its weights, so that a class with few pairs, or none, differs from it only as far as its pairs say so. Where
    /// nodes have several roles, the pairs of each are fitted once more and drawn to the weights of all.
    ///
    /// Where there are lists, the weights of a class and role are then turned to what puts true links first, and scaled so that
    /// the score is a log-odds again.
    pub fn fit(evidence: &Evidence<'_>, terms: &[Term], examples: &Examples<'_>) -> Self {
        let pairs = examples.pairs;
        let ends: Vec<(NodeId, NodeId)> = pairs.iter().map(|pair| (pair.source, pair.target)).collect();
        let roles = evidence.roles();
        let mut all = CLASSES.map(|_| Sample::default());
        let mut of_roles: Vec<[Sample; 3]> = (0..roles).map(|_| CLASSES.map(|_| Sample::default())).collect();
        for (pair, row) in pairs.iter().zip(evidence.terms(&ends)) {
            let class = evidence.class(pair.source, pair.target) as usize;
            if roles > 1 {
                let role = evidence.looking_role(pair.source, pair.target);
                of_roles[role][class].push(&row, pair.linked);
            }
            all[class].push(&row, pair.linked);
        }
        let main = (0..CLASSES.len()).rev().max_by_key(|&class| all[class].linked.len()).unwrap_or(1);
        let nothing = PairWeights::default();
        let first = fit_class(terms, CLASSES[main], &all[main], &all[main], &nothing);
        let known = PairClass::WarmWarm as usize;
        let join = all[known].linked.iter().filter(|linked| **linked).count() < FEWEST;
        if join {
            for (role, row, linked) in known_pairs(evidence, examples) {
                all[known].push(&row, linked);
                if roles > 1 {
                    of_roles[role][known].push(&row, linked);
                }
            }
        }
        let fit = |class: usize| {
            if class == main {
                return first.clone();
            }
            let prior = carried_over(&first, terms, CLASSES[class], &all[main]);
            fit_class(terms, CLASSES[class], &all[class], &all[main], &prior)
        };
        let linked = pairs.iter().filter(|pair| pair.linked).count();
        let shared = [PairClass::WarmWarm, PairClass::ColdWarm, PairClass::ColdCold].map(|class| fit(class as usize));
        let of_role = |samples: &[Sample; 3]| {
            let fit = |class: PairClass| {
                let place = class as usize;
                fit_class(terms, class, &samples[place], &all[main], &shared[place])
            };
            RoleWeights {
                warm_warm: fit(PairClass::WarmWarm),
                cold_warm: fit(PairClass::ColdWarm),
                cold_cold: fit(PairClass::ColdCold),
            }
        };
        let roles = if roles > 1 { of_roles.iter().map(of_role).collect() } else { Vec::new() };
        let [warm_warm, cold_warm, cold_cold] = shared;
        let prevalence = linked as f64 / pairs.len().max(1) as f64;
        let given = Vec::new();
        let mut weights = ScoreWeights { warm_warm, cold_warm, cold_cold, prevalence, roles, given };
        for class in [PairClass::WarmWarm, PairClass::ColdWarm] {
            weights.turn(evidence, terms, class, examples, (&all, &of_roles));
        }
        weights.level(&all, &of_roles, join);
        weights.given = GivenWeights::fit(evidence, terms, examples, &weights);
        weights
    }

    /// Makes the log-odds of two new nodes comparable with those of a new and a warm one: a negative keeps the new end of a link, of two
    /// new ends either, so that two new nodes are linked in a smaller share of the pairs than among all. And those of two known nodes
    /// with those of all pairs, where known nodes had to `join` to be weighed.
    fn level(&mut self, all: &[Sample; 3], of_roles: &[[Sample; 3]], join: bool) {
        let of_new = expected(&self.cold_warm, &all[PairClass::ColdWarm as usize]);
        let of_all = join.then(|| log_odds(self.prevalence));
        for (class, level) in [(PairClass::ColdCold, of_new), (PairClass::WarmWarm, of_all)] {
            let (Some(level), mut shared) = (level, None) else { continue };
            for (weights, samples) in self.of_class(class).into_iter().zip(std::iter::once(all).chain(of_roles)) {
                let own = expected(weights, &samples[class as usize]).map(|own| level - own);
                weights.offset = own.or(shared).unwrap_or(0.0);
                shared = shared.or(Some(weights.offset));
            }
        }
    }

    /// Turns the weights of a class to what puts true links first.
    fn turn(
        &mut self,
        evidence: &Evidence<'_>,
        terms: &[Term],
        class: PairClass,
        examples: &Examples<'_>,
        (all, of_roles): (&[Sample; 3], &[[Sample; 3]]),
    ) {
        let used: Vec<usize> = terms.iter().filter(|term| term.applies_to(class)).map(|term| *term as usize).collect();
        // All pairs of known nodes are equally close, so that they have no columns of a gate.
        let columns = GateColumns::of(&used, &all[class as usize].terms);
        evidence.expect(&examples.lists.iter().map(|query| query.source).collect::<Vec<_>>());
        let candidates = Candidates::sampled(examples.lists, examples.candidates, examples.seed);
        let asked = examples.lists.par_iter().enumerate();
        let lists = asked.map(|(place, query)| {
            let random = &mut stream(examples.seed, Purpose::Lists, place as u64, 0);
            self.list(evidence, (&used, &columns, class), (query, candidates.of(query)), random)
        });
        let lists: Vec<(usize, List)> = lists.collect::<Vec<_>>().into_iter().flatten().collect();
        let sample = &all[class as usize];
        let mut scales: Vec<f64> = used.iter().map(|&term| mean_and_deviation(sample, term).1).collect();
        scales.extend(&columns.scales);
        let turned = |weights: &PairWeights, prior: Option<&[f64]>, lists: &[List], sample: &Sample| {
            let targets: usize = lists.iter().map(|list| list.targets.len()).sum();
            if targets < FEWEST {
                return None;
            }
            let mut own: Vec<f64> = used.iter().map(|&term| weights.terms[term]).collect();
            own.resize(scales.len(), 0.0);
            let direction = Listwise { penalty: PENALTY }.fit(lists, &scales, prior.unwrap_or(&own));
            Some((scaled(&used, &columns, &direction, sample, weights), direction))
        };
        let (roles, lists): (Vec<usize>, Vec<List>) = lists.into_iter().unzip();
        let shared = match class {
            PairClass::WarmWarm => &mut self.warm_warm,
            _ => &mut self.cold_warm,
        };
        let Some((new, direction)) = turned(shared, None, &lists, sample) else { return };
        *shared = new;
        let mut by_role: Vec<Vec<List>> = self.roles.iter().map(|_| Vec::new()).collect();
        for (role, list) in roles.into_iter().zip(lists) {
            if let Some(of_role) = by_role.get_mut(role) {
                of_role.push(list);
            }
        }
        for ((weights, lists), samples) in self.roles.iter_mut().zip(&by_role).zip(of_roles) {
            let weights = match class {
                PairClass::WarmWarm => &mut weights.warm_warm,
                _ => &mut weights.cold_warm,
            };
            let sample = &samples[class as usize];
            let new = turned(weights, Some(&direction), lists, sample);
            *weights = new.map_or_else(|| scaled(&used, &columns, &direction, sample, weights), |new| new.0);
        }
    }

    /// A question as a list of the candidates of one class, with the role that looks: the best by these weights, and some of all others.
    fn list(
        &self,
        evidence: &Evidence<'_>,
        (used, columns, class): (&[usize], &GateColumns, PairClass),
        (query, (among, all)): (&RankingQuery, (&[NodeId], usize)),
        random: &mut impl Rng,
    ) -> Option<(usize, List)> {
        let of_class = |&node: &NodeId| evidence.class(query.source, node) == class;
        let targets: Vec<NodeId> = query.targets.iter().copied().filter(of_class).collect();
        let role = evidence.looking_role(query.source, *targets.first()?);
        let competes = |node: &NodeId| {
            of_class(node)
                && *node != query.source
                && query.targets.binary_search(node).is_err()
                && query.exclude.binary_search(node).is_err()
        };
        let others: Vec<NodeId> = among.iter().copied().filter(competes).collect();
        let source = evidence.source(query.source);
        let terms_of = |nodes: &[NodeId]| {
            let mut terms = vec![Terms::default(); nodes.len()];
            evidence.terms_of(&source, nodes, &mut terms);
            terms
        };
        // Of a sample, each stands for several.
        let each = all as f64 / among.len().max(1) as f64;
        let all = terms_of(&others);
        let weights = self.of(class, role);
        let mut order: Vec<usize> = (0..others.len()).collect();
        if order.len() > FIRST {
            let scores: Vec<f64> = all.iter().map(|terms| weights.score(terms)).collect();
            let better = |a: &usize, b: &usize| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b));
            order.select_nth_unstable_by(FIRST - 1, better);
        }
        let rest = order.split_off(order.len().min(FIRST));
        let mut counts = vec![each; order.len()];
        let drawn = index::sample(random, rest.len(), rest.len().min(DRAWN));
        counts.resize(order.len() + drawn.len(), each * (rest.len() as f64 / drawn.len().max(1) as f64));
        order.extend(drawn.into_iter().map(|place| rest[place]));
        let row = |terms: &Terms| row(used, columns, terms);
        let list = List {
            targets: terms_of(&targets).iter().map(row).collect(),
            others: order.iter().map(|&place| row(&all[place])).collect(),
            counts,
        };
        (!list.others.is_empty()).then_some((role, list))
    }
}

/// Weights in a direction that puts true links first, at the scale and with the intercept that make them a log-odds. They stay as
/// they are where pairs speak against the direction.
fn scaled(
    used: &[usize],
    columns: &GateColumns,
    direction: &[f64],
    sample: &Sample,
    weights: &PairWeights,
) -> PairWeights {
    let score = |terms: &Terms| row(used, columns, terms).iter().zip(direction).map(|(x, weight)| x * weight).sum();
    let scores: Vec<f64> = sample.terms.iter().map(score).collect();
    let positions: Option<Vec<f64>> = sample.terms.iter().map(|terms| columns.position(terms)).collect();
    let beside = positions.filter(|positions| !positions.is_empty());
    let Some(found) = log_odds_of(&scores, beside.as_deref(), &sample.linked) else { return weights.clone() };
    let (of_terms, of_gate) = direction.split_at(used.len());
    let of_gate: Vec<f64> = of_gate.iter().map(|weight| found.scale * weight).collect();
    let gate = columns.gate(&of_gate, found.of_beside);
    let mut out = PairWeights { intercept: found.intercept, pairs: weights.pairs, gate, ..PairWeights::default() };
    for (&term, weight) in used.iter().zip(of_terms) {
        out.terms[term] = found.scale * weight;
    }
    out
}

/// The terms of a pair that are fitted, and the columns of the gate.
fn row(used: &[usize], columns: &GateColumns, terms: &Terms) -> Vec<f64> {
    used.iter().map(|&term| f64::from(terms[term])).chain(columns.row(terms)).collect()
}

/// What makes scores log-odds: their scale, what a number beside them counts, and the intercept.
pub(super) struct LogOdds {
    pub scale: f64,
    pub of_beside: f64,
    pub intercept: f64,
}

/// What makes scores log-odds, with another standardised number of each pair beside them if there is one; none where pairs speak against
/// the scores.
pub(super) fn log_odds_of(scores: &[f64], beside: Option<&[f64]>, linked: &[bool]) -> Option<LogOdds> {
    let mean = scores.iter().sum::<f64>() / scores.len().max(1) as f64;
    let square = scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / scores.len().max(1) as f64;
    let row =
        |(place, score): (usize, &f64)| [score - mean].into_iter().chain(beside.map(|beside| beside[place])).collect();
    let rows: Vec<Vec<f64>> = scores.iter().enumerate().map(row).collect();
    let deviation = if square > 1e-18 { square.sqrt() } else { 1.0 };
    let fit = Logistic { penalty: PENALTY / 10.0 };
    let (scales, start) = ([deviation, 1.0], [1.0, 0.0, 0.0]);
    let columns = 1 + usize::from(beside.is_some());
    let found = fit.fit(&rows, linked, &scales[..columns], &start[..=columns]);
    let (scale, intercept) = (found[0], found[columns]);
    let of_beside = if beside.is_some() { found[1] } else { 0.0 };
    let found = LogOdds { scale, of_beside, intercept: intercept - scale * mean };
    (scale > 0.0 && !linked.is_empty()).then_some(found)
}

/// The log-odds of the share of links that weights expect among some pairs.
fn expected(weights: &PairWeights, sample: &Sample) -> Option<f64> {
    let sum: f64 = sample.terms.iter().map(|terms| logistic(weights.score(terms))).sum();
    (!sample.terms.is_empty()).then(|| log_odds(sum / sample.terms.len() as f64))
}

impl Sample {
    fn push(&mut self, terms: &Terms, linked: bool) {
        self.terms.push(*terms);
        self.linked.push(linked);
    }
}

/// Weights for pairs of one class; deviations from `prior` are measured in the spread of terms over `scale`.
fn fit_class(terms: &[Term], class: PairClass, sample: &Sample, scale: &Sample, prior: &PairWeights) -> PairWeights {
    let used: Vec<usize> = terms.iter().filter(|term| term.applies_to(class)).map(|term| *term as usize).collect();
    let spread = |&term: &usize| mean_and_deviation(scale, term).1;
    let scales: Vec<f64> = used.iter().map(spread).collect();
    let means: Vec<f64> = used.iter().map(|&term| mean_and_deviation(sample, term).0).collect();
    let row = |terms: &Terms| used.iter().zip(&means).map(|(&term, mean)| f64::from(terms[term]) - mean).collect();
    let rows: Vec<Vec<f64>> = sample.terms.iter().map(row).collect();
    let at_means = |weights: &[f64]| weights.iter().zip(&means).map(|(weight, mean)| weight * mean).sum::<f64>();
    let mut start: Vec<f64> = used.iter().map(|&term| prior.terms[term]).collect();
    start.push(prior.intercept + at_means(&start));
    let found = Logistic { penalty: PENALTY }.fit(&rows, &sample.linked, &scales, &start);
    let mut weights = PairWeights { pairs: sample.linked.len(), ..PairWeights::default() };
    for (&term, &weight) in used.iter().zip(&found) {
        weights.terms[term] = weight;
    }
    weights.intercept = found[used.len()] - at_means(&found[..used.len()]);
    weights
}

/// Weights of one class of pairs for another: what does not apply there moves to the term that stands for it, or else its mean
/// moves to the intercept.
fn carried_over(from: &PairWeights, terms: &[Term], class: PairClass, sample: &Sample) -> PairWeights {
    let mut weights = PairWeights { pairs: 0, ..from.clone() };
    // From the most special to the least: a stand-in may need one itself.
    for term in [Term::Structure, Term::Cross, Term::Degree, Term::Near, Term::Far, Term::Votes] {
        let weight = weights.terms[term as usize];
        if term.applies_to(class) || weight == 0.0 {
            continue;
        }
        weights.terms[term as usize] = 0.0;
        match term.stand_in().filter(|other| terms.contains(other)) {
            Some(other) => weights.terms[other as usize] += weight,
            None => weights.intercept += weight * mean_and_deviation(sample, term as usize).0,
        }
    }
    weights
}

fn mean_and_deviation(sample: &Sample, term: usize) -> (f64, f64) {
    mean_and_deviation_of(|| sample.terms.iter().map(|terms| f64::from(terms[term])))
}

pub(super) fn mean_and_deviation_of<I: Iterator<Item = f64>>(values: impl Fn() -> I) -> (f64, f64) {
    let count = values().count().max(1) as f64;
    let mean = values().sum::<f64>() / count;
    let variance = values().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    // A term that never varies says nothing; any scale keeps its weight at the prior.
    (mean, if variance > 1e-18 { variance.sqrt() } else { 1.0 })
}
