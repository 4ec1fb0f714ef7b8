//! The score of a pair from all that is known of its two nodes, with weights fitted on validation pairs.
//!
//! [`Evidence`] turns a pair into its [`Term`](crate::config::Term)s, [`ScoreWeights`] are fitted to the terms of pairs whose
//! links are known, and a [`LinkScorer`] puts the two together. The weighted sum is a log-odds, so that it gives a
//! probability for any base rate.

mod embeddings;
mod evidence;
mod field;
mod fit;
mod fit_given;
mod fit_warm;
mod gate;
mod given;
mod link_scorer;
mod listwise;
mod logistic;
mod newton;
mod scorer;
mod starts;
mod term;
#[cfg(test)]
mod tests;
mod tfidf;
mod votes;
mod weights;

pub(crate) use embeddings::embed_attributes;
pub use embeddings::{EmbeddingScorer, Embeddings};
pub use evidence::{Evidence, Side};
pub(crate) use evidence::{SMALL_CHANCE, Source, WarmNodes};
pub(crate) use field::Room;
pub use fit::Examples;
pub use gate::Gate;
pub(crate) use given::{GIVEN, GivenTerms};
pub use given::{Given, GivenLinks};
pub use link_scorer::LinkScorer;
use logistic::Logistic;
pub use scorer::Scorer;
pub(crate) use starts::STARTS;
pub(crate) use term::CLOSENESS;
pub use term::Terms;
pub use tfidf::TfIdfRows;
pub(crate) use tfidf::inverse_document_frequencies;
pub(crate) use votes::SMALL_VOTE;
pub use weights::{GivenWeights, PairWeights, RoleWeights, ScoreWeights};
