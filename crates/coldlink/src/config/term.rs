//! What a score is made of.

use serde::{Deserialize, Serialize};

/// One piece of evidence for a link between two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Term {
    /// z_a · z_a: both attribute embeddings.
    Attributes,
    /// z_s · z_a: the structure embedding of a warm node and the attribute embedding of the other; the mean of both orders
    /// where both are warm.
    Cross,
    /// z_s · z_s, where both are warm.
    Structure,
    /// The cosine of both nodes' tf-idf vectors.
    Tfidf,
    /// ln(1 + degree), over the warm ends.
    Degree,
    /// The log of the chance to walk from one node to the other along a link. A new node starts among the warm nodes that are
    /// most like it, a warm one among its neighbours.
    Near,
    /// The same along two links.
    Far,
    /// The log of the votes for the warm node of a pair with a new one: the 50 warm nodes whose tf-idf vectors have the largest
    /// cosines with the new node's give these to what they link to and, where links have no direction, to themselves.
    Votes,
}

impl Term {
    /// All of them.
    pub const ALL: [Term; 8] =
        [Term::Attributes, Term::Cross, Term::Structure, Term::Tfidf, Term::Degree, Term::Near, Term::Far, Term::Votes];

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
            Term::Votes => "votes",
        }
    }
}
