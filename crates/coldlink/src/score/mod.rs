//! The score of a pair from all that is known of its two nodes, with weights fitted on validation pairs.
//!
//! [`Evidence`] turns a pair into its [`Term`]s, [`ScoreWeights`] are fitted to the terms of pairs whose links are known, and a
//! [`LinkScorer`] puts the two together. The weighted sum is a log-odds, so that it gives a probability for any base rate.

mod evidence;
mod fit;
mod logistic;
mod scorer;
mod term;
#[cfg(test)]
mod tests;
mod tfidf;
mod weights;

pub use evidence::{Evidence, Side};
pub(crate) use evidence::{SMALL_CHANCE, STARTS, SeenNodes, Similar, Source};
use logistic::Logistic;
pub use scorer::LinkScorer;
pub use term::{Term, Terms};
pub use tfidf::TfIdfRows;
pub use weights::{KindWeights, ScoreWeights};
