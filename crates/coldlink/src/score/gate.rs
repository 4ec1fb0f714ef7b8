//! How the weights of a score's terms change with how close a new node is to known ones.
//!
//! A new node that is almost the same as a known one links to what that one links to; for one that is like no other, its own words and
//! embedding count more. So the weight of a term is w + p g, where p says how much larger the node's [`CLOSENESS`] is than that of
//! others.

use serde::{Deserialize, Serialize};

use super::Terms;
use super::fit::mean_and_deviation_of;
use super::term::CLOSENESS;
use crate::config::Term;

/// Terms whose weights may change.
const GATED: [Term; 6] = [Term::Attributes, Term::Cross, Term::Tfidf, Term::Near, Term::Far, Term::Votes];
/// How many standard deviations from the mean count: beyond, nothing was seen.
const MOST: f64 = 2.0;

/// What is added to the weights of terms for each standard deviation of closeness.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// The mean closeness of new nodes.
    pub mean: f64,
    /// Its standard deviation.
    pub deviation: f64,
    /// Added to the intercept for each standard deviation.
    pub intercept: f64,
    /// Added to the weight of each of [`Term::ALL`].
    pub terms: [f64; Term::ALL.len()],
}

impl Gate {
    /// How much closer than others a new node is, in standard deviations.
    pub(super) fn position(&self, closeness: f32) -> f64 {
        ((f64::from(closeness) - self.mean) / self.deviation).clamp(-MOST, MOST)
    }

    /// What it adds to a score.
    pub(super) fn adds(&self, terms: &Terms) -> f64 {
        let sum: f64 = self.terms.iter().zip(terms).map(|(weight, &term)| weight * f64::from(term)).sum();
        self.position(terms[CLOSENESS]) * (self.intercept + sum)
    }

    /// The same gate at another scale of scores.
    pub(super) fn times(&self, scale: f64) -> Self {
        let terms = self.terms.map(|weight| scale * weight);
        Gate { terms, intercept: scale * self.intercept, ..self.clone() }
    }

    pub(super) fn is_sound(&self) -> bool {
        let mut numbers = self.terms.iter().chain([&self.mean, &self.deviation, &self.intercept]);
        numbers.all(|number| number.is_finite()) && self.deviation > 0.0
    }
}

/// The columns by which a gate is fitted: each gated term less its mean, times the position of the node.
pub(super) struct GateColumns {
    empty: Gate,
    terms: Vec<usize>,
    means: Vec<f64>,
    /// The spread of each term, and so of its column.
    pub scales: Vec<f64>,
}

impl GateColumns {
    /// For the gated ones of some terms, by what they are in a sample; none where the sample does not differ in closeness, and none
    /// without walks, which is what closeness tells most of.
    pub fn of(used: &[usize], sample: &[Terms]) -> Self {
        let of = |place: usize| mean_and_deviation_of(|| sample.iter().map(|terms| f64::from(terms[place])));
        let (mean, deviation) = of(CLOSENESS);
        let walks = [Term::Near, Term::Far].iter().any(|term| used.contains(&(*term as usize)));
        let varies = walks && sample.iter().any(|terms| terms[CLOSENESS] != sample[0][CLOSENESS]);
        let is_gated = |place: &usize| varies && GATED.iter().any(|term| *term as usize == *place);
        let terms: Vec<usize> = used.iter().copied().filter(is_gated).collect();
        let (means, scales) = terms.iter().map(|&term| of(term)).unzip();
        GateColumns { empty: Gate { mean, deviation, ..Gate::default() }, terms, means, scales }
    }

    /// The position of a pair's node, where there is a gate.
    pub fn position(&self, terms: &Terms) -> Option<f64> {
        (!self.terms.is_empty()).then(|| self.empty.position(terms[CLOSENESS]))
    }

    /// The columns of a pair.
    pub fn row<'a>(&'a self, terms: &'a Terms) -> impl Iterator<Item = f64> + 'a {
        let position = self.empty.position(terms[CLOSENESS]);
        let columns = self.terms.iter().zip(&self.means);
        columns.map(move |(&term, mean)| position * (f64::from(terms[term]) - mean))
    }

    /// The gate with these weights of columns and this weight of the position itself; none without columns.
    pub fn gate(&self, weights: &[f64], of_position: f64) -> Option<Box<Gate>> {
        let mut gate = self.empty.clone();
        gate.intercept = of_position - weights.iter().zip(&self.means).map(|(weight, mean)| weight * mean).sum::<f64>();
        self.terms.iter().zip(weights).for_each(|(&term, &weight)| gate.terms[term] = weight);
        (!self.terms.is_empty()).then(|| Box::new(gate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::PairWeights;

    /// Terms that differ in everything.
    fn sample() -> Vec<Terms> {
        let value = |row: usize, place: usize| ((row * 31 + place * 17 + row * row * 7) % 23) as f32 / 10.0 - 1.0;
        (0..40).map(|row| std::array::from_fn(|place| value(row, place))).collect()
    }

    #[test]
    fn a_gate_adds_what_its_columns_do() {
        let (used, sample) = ([0, 1, 3, 4, 5], sample());
        let columns = GateColumns::of(&used, &sample);
        let weights = [0.5, -1.0, 2.0, 0.25];
        assert_eq!(columns.scales.len(), weights.len(), "the term of popularity has no gate");
        let gate = columns.gate(&weights, 0.7).unwrap();
        for terms in &sample {
            let sum: f64 = columns.row(terms).zip(weights).map(|(column, weight)| column * weight).sum();
            let whole = sum + 0.7 * columns.position(terms).unwrap();
            assert!((gate.adds(terms) - whole).abs() < 1e-9);
        }
    }

    #[test]
    fn the_weights_at_a_closeness_score_as_the_gate_does() {
        let sample = sample();
        let gate = GateColumns::of(&[0, 5], &sample).gate(&[1.5, -0.5], 0.2);
        let terms = std::array::from_fn(|place| place as f64 / 4.0 - 1.0);
        let weights = PairWeights { terms, intercept: 0.3, gate, ..PairWeights::default() };
        for terms in &sample {
            let own = weights.at(terms[CLOSENESS]);
            assert!(own.gate.is_none() && (own.score(terms) - weights.score(terms)).abs() < 1e-9);
        }
        let stored: PairWeights = toml::from_str(&toml::to_string(&weights).unwrap()).unwrap();
        assert_eq!(stored, weights);
    }

    #[test]
    fn nodes_that_are_equally_close_or_do_not_walk_have_no_gate() {
        let mut sample = sample();
        assert!(GateColumns::of(&[0, 1, 3], &sample).gate(&[], 1.0).is_none());
        sample.iter_mut().for_each(|terms| terms[CLOSENESS] = 0.5);
        for sample in [&sample[..], &[]] {
            let columns = GateColumns::of(&[0, 5], sample);
            assert!(columns.scales.is_empty() && columns.gate(&[], 1.0).is_none());
            assert_eq!(columns.row(&Terms::default()).count(), 0);
        }
    }
}
