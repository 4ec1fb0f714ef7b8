//! Weights of a score's terms, one set for each class of pairs.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::logistic::logistic;
use super::{GIVEN, Gate, GivenTerms, Terms};
use crate::config::Term;
use crate::split::PairClass;

/// Weights for one class of pairs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PairWeights {
    /// One for each of [`Term::ALL`], 0 for those that do not apply and for those that a file does not know yet.
    #[serde(deserialize_with = "filled")]
    pub terms: [f64; Term::ALL.len()],
    /// Added to their sum.
    pub intercept: f64,
    /// How many validation pairs of this class they were fitted on.
    pub pairs: usize,
    /// What makes the log-odds comparable with those of a new and a warm node: among the pairs of each class that were fitted on, a
    /// share of its own is linked. See [`ScoreWeights::at_one_base_rate`].
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub offset: f64,
    /// How the weights change with how close the new node is to known ones, where they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Box<Gate>>,
}

fn is_nothing(offset: &f64) -> bool {
    *offset == 0.0
}

/// The weights of all classes of pairs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScoreWeights {
    /// For two warm nodes.
    pub warm_warm: PairWeights,
    /// For a new and a warm node.
    pub cold_warm: PairWeights,
    /// For two new nodes.
    pub cold_cold: PairWeights,
    /// The share of links among the pairs that they were fitted on.
    pub prevalence: f64,
    /// Weights of their own for pairs in which a new node is in this role, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<RoleWeights>,
    /// For a new node that is given some of its links and a warm one: one set, or one by the new node's role where there are
    /// several; none where there was too little to fit them to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<GivenWeights>,
}

/// Weights for a new node that is given some of its links, and a warm one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GivenWeights {
    /// Of all that it is known by without links, as for other new nodes.
    pub pair: PairWeights,
    /// Of what its links say: the products of its structure embedding with both of the other node's, and both walks.
    pub given: [f64; GIVEN],
}

impl GivenWeights {
    /// The log-odds of a link at the prevalence of the fit.
    pub(crate) fn score(&self, terms: &Terms, given: &GivenTerms) -> f64 {
        self.pair.score(terms) + self.of_links(given)
    }

    /// What given links add to it.
    pub(crate) fn of_links(&self, given: &GivenTerms) -> f64 {
        self.given.iter().zip(given).map(|(weight, &term)| weight * f64::from(term)).sum()
    }
}

/// The weights of pairs in which a node of one role looks for others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoleWeights {
    /// For two warm nodes.
    pub warm_warm: PairWeights,
    /// For a new and a warm node.
    pub cold_warm: PairWeights,
    /// For two new nodes.
    pub cold_cold: PairWeights,
}

impl RoleWeights {
    fn of_class(&mut self, class: PairClass) -> &mut PairWeights {
        match class {
            PairClass::WarmWarm => &mut self.warm_warm,
            PairClass::ColdWarm => &mut self.cold_warm,
            PairClass::ColdCold => &mut self.cold_cold,
        }
    }
}

impl PairWeights {
    /// The log-odds of a link at the prevalence of the fit.
    #[inline]
    pub fn score(&self, terms: &Terms) -> f64 {
        let sum = self.terms.iter().zip(terms).map(|(weight, &term)| weight * f64::from(term)).sum::<f64>();
        let of_all = sum + self.intercept;
        self.gate.as_ref().map_or(of_all, |gate| of_all + gate.adds(terms))
    }

    /// The weights for a new node of this closeness, without a gate.
    pub(crate) fn at(&self, closeness: f32) -> Self {
        let Some(gate) = &self.gate else { return self.clone() };
        let mut weights = PairWeights { gate: None, ..self.clone() };
        let position = gate.position(closeness);
        weights.terms.iter_mut().zip(&gate.terms).for_each(|(weight, gate)| *weight += position * gate);
        weights.intercept += position * gate.intercept;
        weights
    }
}

impl ScoreWeights {
    /// The same for scores that stand beside one another whatever their class, as candidates of one list do: the log-odds of every
    /// class hold for the same share of linked pairs, so that no class is favoured by a constant.
    pub fn at_one_base_rate(mut self) -> Self {
        for class in [PairClass::WarmWarm, PairClass::ColdWarm, PairClass::ColdCold] {
            for weights in self.of_class(class) {
                weights.intercept += std::mem::take(&mut weights.offset);
            }
        }
        self
    }

    /// The weights for a class of pairs: those of all roles, and then those of each where there are several.
    pub(super) fn of_class(&mut self, class: PairClass) -> Vec<&mut PairWeights> {
        let shared = match class {
            PairClass::WarmWarm => &mut self.warm_warm,
            PairClass::ColdWarm => &mut self.cold_warm,
            PairClass::ColdCold => &mut self.cold_cold,
        };
        std::iter::once(shared).chain(self.roles.iter_mut().map(|role| role.of_class(class))).collect()
    }

    fn classes(&self) -> impl Iterator<Item = &PairWeights> {
        let of_roles = self.roles.iter().flat_map(|role| [&role.warm_warm, &role.cold_warm, &role.cold_cold]);
        let given = self.given.iter().map(|weights| &weights.pair);
        [&self.warm_warm, &self.cold_warm, &self.cold_cold].into_iter().chain(of_roles).chain(given)
    }

    /// The weights for a new node in this role that is given links.
    pub(crate) fn given(&self, role: usize) -> Option<&GivenWeights> {
        self.given.get(role)
    }

    /// Whether a term counts for any pair.
    pub(crate) fn uses(&self, term: Term) -> bool {
        let of_gate = |class: &PairWeights| class.gate.as_ref().is_some_and(|gate| gate.terms[term as usize] != 0.0);
        self.classes().any(|class| class.terms[term as usize] != 0.0 || of_gate(class))
    }

    /// Whether all of them are numbers, and the prevalence a share.
    pub(crate) fn are_sound(&self) -> bool {
        let mut numbers = self.classes().flat_map(|class| class.terms.iter().chain([&class.intercept, &class.offset]));
        let of_given = self.given.iter().flat_map(|weights| &weights.given).all(|number| number.is_finite());
        let of_gates = self.classes().filter_map(|class| class.gate.as_deref()).all(Gate::is_sound);
        of_given
            && of_gates
            && numbers.all(|number| number.is_finite())
            && self.prevalence > 0.0
            && self.prevalence < 1.0
    }

    /// The weights for a class of pairs in which a node of this role looks for others.
    pub fn of(&self, class: PairClass, role: usize) -> &PairWeights {
        let [warm_warm, cold_warm, cold_cold] = match self.roles.get(role) {
            Some(role) => [&role.warm_warm, &role.cold_warm, &role.cold_cold],
            None => [&self.warm_warm, &self.cold_warm, &self.cold_cold],
        };
        match class {
            PairClass::WarmWarm => warm_warm,
            PairClass::ColdWarm => cold_warm,
            PairClass::ColdCold => cold_cold,
        }
    }

    /// The probability of a link where a share `base_rate` of all pairs is linked.
    pub fn probability(&self, score: f64, base_rate: f64) -> f64 {
        logistic(score + self.shift_to(base_rate))
    }

    /// What moves log-odds from the prevalence of the fit to a base rate.
    pub fn shift_to(&self, base_rate: f64) -> f64 {
        log_odds(base_rate) - log_odds(self.prevalence)
    }
}

fn filled<'de, D: Deserializer<'de>>(from: D) -> Result<[f64; Term::ALL.len()], D::Error> {
    let known = Vec::<f64>::deserialize(from)?;
    let mut terms = [0.0; Term::ALL.len()];
    let room = terms.get_mut(..known.len()).ok_or_else(|| D::Error::custom("there are more weights than terms"))?;
    room.copy_from_slice(&known);
    Ok(terms)
}

pub(super) fn log_odds(share: f64) -> f64 {
    let share = share.clamp(1e-12, 1.0 - 1e-12);
    (share / (1.0 - share)).ln()
}
