//! The tokenizer of token vectors, from the JSON that the package `tokenizers` writes. That package may panic on a crafted one, so what
//! it does is caught here.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::Deserialize;
use tokenizers::Tokenizer;

use super::VectorsProblem;

/// A tokenizer as it is used here: without truncation, padding and special tokens.
pub(super) struct Tokens {
    tokenizer: Tokenizer,
    /// The token that stands for what is not known, and says nothing.
    unknown: Option<u32>,
    /// One more than the largest number of a token.
    count: usize,
}

/// What is looked up in the JSON itself, where each kind of tokenizer has it or not.
#[derive(Deserialize)]
struct About {
    model: AboutModel,
}

#[derive(Deserialize)]
struct AboutModel {
    unk_token: Option<String>,
    unk_id: Option<u32>,
    dropout: Option<f32>,
}

impl Tokens {
    /// Reads a tokenizer.
    pub fn read(json: &[u8]) -> Result<Self, VectorsProblem> {
        let wrong = |reason: String| VectorsProblem::Tokenizer(reason.chars().take(200).collect());
        let About { model } = serde_json::from_slice(json).map_err(|error| wrong(error.to_string()))?;
        if model.dropout.is_some_and(|share| share != 0.0) {
            return Err(VectorsProblem::Random);
        }
        let read = catch_unwind(|| Tokenizer::from_bytes(json));
        let read = read.unwrap_or_else(|_| Err("the tokenizer contradicts itself".into()));
        let mut tokenizer = read.map_err(|error| wrong(error.to_string()))?;
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(|error| wrong(error.to_string()))?;
        let unknown = model.unk_id.or_else(|| tokenizer.token_to_id(&model.unk_token?));
        let count = tokenizer.get_vocab(true).values().map(|&token| token as usize + 1).max().unwrap_or(0);
        if count == 0 {
            return Err(wrong("it has no tokens".to_owned()));
        }
        Ok(Tokens { tokenizer, unknown, count })
    }

    /// One more than the largest number of a token.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Hands over the known tokens of a text; none of a text that the tokenizer cannot read.
    pub fn each(&self, text: &str, take: &mut dyn FnMut(usize)) {
        let encoded = catch_unwind(AssertUnwindSafe(|| self.tokenizer.encode_fast(text, false)));
        let Ok(Ok(encoding)) = encoded else { return };
        let known = encoding.get_ids().iter().filter(|&&token| Some(token) != self.unknown);
        known.map(|&token| token as usize).filter(|&token| token < self.count).for_each(take);
    }
}
