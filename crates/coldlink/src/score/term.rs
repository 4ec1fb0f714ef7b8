//! Which terms speak for which pairs.

use crate::config::Term;
use crate::split::PairClass;

/// A number for each of [`Term::ALL`], in its order; and in the last place the largest cosine of a new node's attribute embedding with that
/// of a warm one, which is the same for all pairs of the node with warm ones. 0 for other pairs.
pub type Terms = [f32; Term::ALL.len() + 1];

/// Where that cosine stands.
pub(crate) const CLOSENESS: usize = Term::ALL.len();

impl Term {
    /// Whether it says anything about a class of pairs that no other term says.
    pub fn applies_to(self, class: PairClass) -> bool {
        match self {
            Term::Attributes | Term::Tfidf => true,
            Term::Cross | Term::Degree | Term::Near | Term::Far => class != PairClass::ColdCold,
            Term::Structure => class == PairClass::WarmWarm,
            Term::Votes => class == PairClass::ColdWarm,
        }
    }

    /// The term that stands for this one in pairs it does not apply to, where there is one.
    pub(super) fn stand_in(self) -> Option<Term> {
        match self {
            Term::Structure => Some(Term::Cross),
            Term::Cross => Some(Term::Attributes),
            _ => None,
        }
    }
}
