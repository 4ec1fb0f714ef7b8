//! Static token vectors: a text becomes the mean of its tokens' vectors, scaled to length 1.
//!
//! The vectors and their tokenizer come from files (`file.rs`, `tokens.rs`). Packed graphs and models keep both (`sections.rs`), so new
//! rows need no other file.

mod file;
mod problem;
mod sections;
#[cfg(feature = "vectors")]
mod tokens;
#[cfg(not(feature = "vectors"))]
#[path = "no_tokens.rs"]
mod tokens;

use std::fmt;

use rayon::prelude::*;

pub use problem::{VectorsError, VectorsProblem};

use crate::storage::Buffer;
use tokens::Tokens;

/// Numbers in a vector at most.
const MOST_NUMBERS: usize = 1 << 14;
/// Bytes of a text from its start on that are looked at.
const LOOKED_AT: usize = 1 << 14;

/// A vector for each token of a tokenizer.
pub struct TokenVectors {
    parts: Parts,
    tokens: Tokens,
}

/// What token vectors are made of, as files have it.
#[derive(PartialEq)]
struct Parts {
    /// What their file is called.
    name: String,
    /// Numbers in a vector.
    width: usize,
    table: Table,
    /// The row of each token in the table, where these are not the same numbers.
    rows: Option<Buffer<u32>>,
    /// What each token counts, where not all count the same.
    weights: Option<Buffer<f32>>,
    /// The tokenizer, as JSON.
    tokenizer: Buffer<u8>,
}

/// Rows of numbers, in 16 bits each or in 32.
#[derive(PartialEq)]
enum Table {
    Half(Buffer<u16>),
    Single(Buffer<f32>),
}

impl Table {
    fn len(&self) -> usize {
        match self {
            Table::Half(numbers) => numbers.len(),
            Table::Single(numbers) => numbers.len(),
        }
    }

    fn is_finite(&self) -> bool {
        match self {
            Table::Half(numbers) => numbers.par_iter().all(|&bits| widened(bits).is_finite()),
            Table::Single(numbers) => numbers.par_iter().all(|number| number.is_finite()),
        }
    }

    /// Adds a row, so many times, to a sum.
    fn add_to(&self, row: usize, weight: f64, sum: &mut [f64]) {
        let range = row * sum.len()..(row + 1) * sum.len();
        match self {
            Table::Half(numbers) => {
                let row = numbers[range].iter().map(|&bits| f64::from(widened(bits)));
                sum.iter_mut().zip(row).for_each(|(sum, number)| *sum += weight * number);
            }
            Table::Single(numbers) => {
                let row = numbers[range].iter().map(|&number| f64::from(number));
                sum.iter_mut().zip(row).for_each(|(sum, number)| *sum += weight * number);
            }
        }
    }
}

/// A number of 16 bits (IEEE 754, binary16) as one of 32.
fn widened(bits: u16) -> f32 {
    // The exponents of both begin at different places, 112 apart; the product is exact, for subnormal numbers as well.
    const TO_112: f32 = f32::from_bits((127 + 112) << 23);
    let (sign, rest) = (u32::from(bits & 0x8000) << 16, u32::from(bits & 0x7fff));
    let size = if rest >= 0x7c00 { f32::INFINITY } else { f32::from_bits(rest << 13) * TO_112 };
    f32::from_bits(sign | size.to_bits())
}

impl TokenVectors {
    /// Vectors from their parts, if these fit together.
    fn new(parts: Parts) -> Result<Self, VectorsProblem> {
        let Parts { width, table, rows, weights, tokenizer, .. } = &parts;
        if !(1..=MOST_NUMBERS).contains(width) || table.len() < *width {
            return Err(VectorsProblem::Shape { rows: table.len() / (*width).max(1), numbers: *width });
        }
        let weights_are_finite = weights.as_ref().is_none_or(|weights| weights.iter().all(|weight| weight.is_finite()));
        if !table.is_finite() || !weights_are_finite {
            return Err(VectorsProblem::NotFinite);
        }
        let tokens = Tokens::read(tokenizer)?;
        let (wanted, vectors) = (tokens.count(), table.len() / width);
        let fewer =
            |what, found| if found < wanted { Err(VectorsProblem::TooFew { what, found, wanted }) } else { Ok(()) };
        match rows {
            Some(rows) if rows.iter().any(|&row| row as usize >= vectors) => {
                return Err(VectorsProblem::Mapping { vectors });
            }
            Some(rows) => fewer("rows in `mapping`", rows.len())?,
            None => fewer("vectors", vectors)?,
        }
        weights.iter().try_for_each(|weights| fewer("weights", weights.len()))?;
        Ok(TokenVectors { parts, tokens })
    }

    /// What their file is called.
    pub fn name(&self) -> &str {
        &self.parts.name
    }

    /// Numbers in a vector.
    pub fn width(&self) -> usize {
        self.parts.width
    }

    /// Adds the vector of a text to a list; zeros for a text without a known token.
    pub fn add(&self, text: &str, out: &mut Vec<f32>) {
        let Parts { width, table, rows, weights, .. } = &self.parts;
        let mut sum = vec![0.0; *width];
        let end = text.floor_char_boundary(LOOKED_AT);
        self.tokens.each(&text[..end], &mut |token| {
            let row = rows.as_ref().map_or(token, |rows| rows[token] as usize);
            let weight = weights.as_ref().map_or(1.0, |weights| f64::from(weights[token]));
            table.add_to(row, weight, &mut sum);
        });
        let length = sum.iter().map(|number| number * number).sum::<f64>().sqrt();
        let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
        out.extend(sum.iter().map(|number| (number * scale) as f32));
    }
}

impl PartialEq for TokenVectors {
    fn eq(&self, other: &Self) -> bool {
        self.parts == other.parts
    }
}

// No number is NaN.
impl Eq for TokenVectors {}

impl fmt::Debug for TokenVectors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenVectors").field("name", &self.parts.name).field("width", &self.parts.width).finish()
    }
}
