//! Fits the weights of a score's terms to pairs whose links are known.

use super::{Evidence, Logistic, PairWeights, ScoreWeights, Terms};
use crate::config::Term;
use crate::graph::NodeId;
use crate::split::{Pair, PairClass};

/// The strength of the penalty: as ten pairs that say nothing.
const PENALTY: f64 = 10.0;
/// Linked and unlinked pairs each that a fit needs.
const FEWEST: usize = 15;

const KINDS: [PairClass; 3] = [PairClass::WarmWarm, PairClass::ColdWarm, PairClass::ColdCold];

/// The pairs of one kind.
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

    /// The weights of `terms` under which `pairs` are likeliest. The kind with the most pairs is fitted first; the others are
    /// drawn to its weights, so that a kind with few pairs, or none, differs from it only as far as its pairs say so.
    pub fn fit(evidence: &Evidence<'_>, terms: &[Term], pairs: &[Pair]) -> Self {
        let ends: Vec<(NodeId, NodeId)> = pairs.iter().map(|pair| (pair.source, pair.target)).collect();
        let mut samples = KINDS.map(|_| Sample::default());
        for (pair, row) in pairs.iter().zip(evidence.terms(&ends)) {
            let sample = &mut samples[evidence.kind(pair.source, pair.target) as usize];
            sample.terms.push(row);
            sample.linked.push(pair.linked);
        }
        let main = (0..KINDS.len()).rev().max_by_key(|&kind| samples[kind].linked.len()).unwrap_or(1);
        let nothing = PairWeights { terms: Default::default(), intercept: 0.0, pairs: 0 };
        let first = fit_kind(terms, KINDS[main], &samples[main], &samples[main], &nothing);
        let fit = |kind: usize| {
            if kind == main {
                return first.clone();
            }
            let prior = carried_over(&first, terms, KINDS[kind], &samples[main]);
            fit_kind(terms, KINDS[kind], &samples[kind], &samples[main], &prior)
        };
        let linked = pairs.iter().filter(|pair| pair.linked).count();
        ScoreWeights {
            warm_warm: fit(PairClass::WarmWarm as usize),
            cold_warm: fit(PairClass::ColdWarm as usize),
            cold_cold: fit(PairClass::ColdCold as usize),
            prevalence: linked as f64 / pairs.len().max(1) as f64,
        }
    }
}

/// Weights for pairs of one kind; deviations from `prior` are measured in the spread of terms over `scale`.
fn fit_kind(terms: &[Term], kind: PairClass, sample: &Sample, scale: &Sample, prior: &PairWeights) -> PairWeights {
    let used: Vec<usize> = terms.iter().filter(|term| term.applies_to(kind)).map(|term| *term as usize).collect();
    let spread = |&term: &usize| mean_and_deviation(scale, term).1;
    let scales: Vec<f64> = used.iter().map(spread).collect();
    let means: Vec<f64> = used.iter().map(|&term| mean_and_deviation(sample, term).0).collect();
    let row = |terms: &Terms| used.iter().zip(&means).map(|(&term, mean)| f64::from(terms[term]) - mean).collect();
    let rows: Vec<Vec<f64>> = sample.terms.iter().map(row).collect();
    let at_means = |weights: &[f64]| weights.iter().zip(&means).map(|(weight, mean)| weight * mean).sum::<f64>();
    let mut start: Vec<f64> = used.iter().map(|&term| prior.terms[term]).collect();
    start.push(prior.intercept + at_means(&start));
    let found = Logistic { penalty: PENALTY }.fit(&rows, &sample.linked, &scales, &start);
    let mut weights = PairWeights { terms: Default::default(), intercept: 0.0, pairs: sample.linked.len() };
    for (&term, &weight) in used.iter().zip(&found) {
        weights.terms[term] = weight;
    }
    weights.intercept = found[used.len()] - at_means(&found[..used.len()]);
    weights
}

/// Weights of one kind of pair for another: what does not apply there moves to the term that stands for it, or else its mean
/// moves to the intercept.
fn carried_over(from: &PairWeights, terms: &[Term], kind: PairClass, sample: &Sample) -> PairWeights {
    let mut weights = PairWeights { pairs: 0, ..from.clone() };
    // From the most special to the least: a stand-in may need one itself.
    for term in [Term::Structure, Term::Cross, Term::Degree, Term::Near, Term::Far] {
        let weight = weights.terms[term as usize];
        if term.applies_to(kind) || weight == 0.0 {
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
    let count = sample.terms.len().max(1) as f64;
    let values = || sample.terms.iter().map(|terms| f64::from(terms[term]));
    let mean = values().sum::<f64>() / count;
    let variance = values().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    // A term that never varies says nothing; any scale keeps its weight at the prior.
    (mean, if variance > 1e-18 { variance.sqrt() } else { 1.0 })
}
