//! Random numbers that depend on what they are for, so that no choice disturbs another.

use rand::{Rng, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

/// What random numbers are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// First weights.
    Weights = 1,
    /// Pairs of a batch.
    Pairs = 2,
    /// Dropout.
    Dropout = 3,
    /// Nodes that a batch's pairs are compared with.
    Negatives = 4,
    /// Settings that are tried.
    Trials = 5,
    /// The order in which examples are gone through.
    Order = 6,
    /// Nodes that others are measured against.
    Anchors = 7,
    /// Candidates and questions of lists.
    Lists = 8,
    /// Nodes of a large test set that are measured.
    TestSample = 9,
    /// Known nodes that the links of a new one are told apart from.
    FoldIn = 10,
    /// Links that validation nodes are given.
    GivenLinks = 11,
    /// Links that validation nodes join the graph with.
    JoiningLinks = 12,
}

/// A seed that differs for each user seed, purpose and index.
#[inline]
pub fn seed_for(seed: u64, purpose: Purpose, index: u64, part: u64) -> u64 {
    [purpose as u64, index, part].into_iter().fold(scramble(seed), |state, value| scramble(state ^ value))
}

/// Random numbers for a purpose.
pub fn stream(seed: u64, purpose: Purpose, index: u64, part: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed_for(seed, purpose, index, part))
}

/// The output function of SplitMix64 (Steele, Lea & Flood, 2014).
#[inline]
fn scramble(value: u64) -> u64 {
    let value = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

/// What a split draws. The numbers are part of what a seed means: never change one.
#[derive(Clone, Copy)]
pub(crate) enum SplitPurpose {
    TestNodes = 1,
    TestLinks = 2,
    TestNegatives = 3,
    ValidationNodes = 4,
    ValidationLinks = 5,
    ValidationNegatives = 6,
    ValidationHalves = 7,
    ValidationSample = 8,
    GivenLinks = 9,
}

/// Random numbers for one choice of a split.
pub(crate) fn split_stream(seed: u64, purpose: SplitPurpose) -> Xoshiro256PlusPlus {
    let mixed = SplitMix64::seed_from_u64(seed).next_u64();
    Xoshiro256PlusPlus::seed_from_u64(mixed ^ purpose as u64)
}
