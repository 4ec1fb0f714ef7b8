//! What stands for tokenizers where the feature `vectors` is left out.

use std::convert::Infallible;

use super::VectorsProblem;

/// A tokenizer, of which there is none without the feature `vectors`.
pub(super) struct Tokens(Infallible);

impl Tokens {
    /// Says which feature is missing.
    pub fn read(_: &[u8]) -> Result<Self, VectorsProblem> {
        Err(VectorsProblem::MissingFeature)
    }

    /// One more than the largest number of a token.
    pub fn count(&self) -> usize {
        match self.0 {}
    }

    /// Hands over the tokens of a text.
    pub fn each(&self, _: &str, _: &mut dyn FnMut(usize)) {
        match self.0 {}
    }
}
