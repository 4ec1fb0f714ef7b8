//! What a score is made of.

use serde::{Deserialize, Serialize};

use crate::split::PairKind;

/// One piece of evidence for a link between two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Term {
    /// z_a · z_a: both attribute embeddings.
    Attributes,
    /// z_s · z_a: the structure embedding of a seen node and the attribute embedding of the other; the mean of both orders
    /// where both are seen.
    Cross,
    /// z_s · z_s, where both are seen.
    Structure,
    /// The cosine of both nodes' tf-idf vectors.
    Tfidf,
    /// ln(1 + degree), over the seen ends.
    Degree,
    /// The log of the chance to walk from one node to the other along a link. A new node starts among the seen nodes that are
    /// most like it, a seen one among its neighbours.
    Near,
    /// The same along two links.
    Far,
}

/// A number for each of [`Term::ALL`], in its order.
pub type Terms = [f32; Term::ALL.len()];

impl Term {
    /// All of them.
    pub const ALL: [Term; 7] =
        [Term::Attributes, Term::Cross, Term::Structure, Term::Tfidf, Term::Degree, Term::Near, Term::Far];

    /// The name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Term::Attributes => "attributes",
            Term::Cross => "cross",
            Term::Structure => "structure",
            Term::Tfidf => "tfidf",
            Term::Degree => "degree",
            Term::Near => "near",
            Term::Far => "far",
        }
    }

    /// Whether it says anything about a kind of pair that no other term says.
    pub fn applies_to(self, kind: PairKind) -> bool {
        match self {
            Term::Attributes | Term::Tfidf => true,
            Term::Cross | Term::Degree | Term::Near | Term::Far => kind != PairKind::NewNew,
            Term::Structure => kind == PairKind::OldOld,
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
