//! Fits the weights of a score's terms to pairs whose links are known.

use super::{Evidence, Logistic, PairWeights, RoleWeights, ScoreWeights, Terms};
use crate::config::Term;
use crate::graph::NodeId;
use crate::split::{Pair, PairClass};

/// The strength of the penalty: as ten pairs that say nothing.
const PENALTY: f64 = 10.0;
/// Linked and unlinked pairs each that a fit needs.
const FEWEST: usize = 15;

const CLASSES: [PairClass; 3] = [PairClass::WarmWarm, PairClass::ColdWarm, PairClass::ColdCold];

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
    pub fn fit(evidence: &Evidence<'_>, terms: &[Term], pairs: &[Pair]) -> Self {
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
        let nothing = PairWeights { terms: Default::default(), intercept: 0.0, pairs: 0 };
        let first = fit_class(terms, CLASSES[main], &all[main], &all[main], &nothing);
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
        ScoreWeights { warm_warm, cold_warm, cold_cold, prevalence, roles }
    }
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
    let mut weights = PairWeights { terms: Default::default(), intercept: 0.0, pairs: sample.linked.len() };
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
    for term in [Term::Structure, Term::Cross, Term::Degree, Term::Near, Term::Far] {
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
    let count = sample.terms.len().max(1) as f64;
    let values = || sample.terms.iter().map(|terms| f64::from(terms[term]));
    let mean = values().sum::<f64>() / count;
    let variance = values().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    // A term that never varies says nothing; any scale keeps its weight at the prior.
    (mean, if variance > 1e-18 { variance.sqrt() } else { 1.0 })
}
