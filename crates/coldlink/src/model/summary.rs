//! How a model came to be.

use serde::{Deserialize, Serialize};

use crate::evaluate::Validated;

/// How a model came to be. It holds no times, paths or thread counts: the same training gives the same file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// What the graph was called.
    pub dataset: String,
    /// Its nodes, and those that were added.
    pub nodes: usize,
    /// Nodes that were added without training.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub added: usize,
    /// Its links.
    pub links: usize,
    /// Its attributes.
    pub attributes: usize,
    /// The seed.
    #[serde(with = "large_seed")]
    pub seed: u64,
    /// The preset that the configuration started from.
    pub preset: String,
    /// Steps of training.
    pub steps: u64,
    /// The validation that chose them.
    pub validation: Option<Validated>,
}

/// Models that nobody added to are written as ever.
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// TOML's numbers end at 2⁶³, seeds do not: larger ones are written as text.
mod large_seed {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(seed: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        if i64::try_from(*seed).is_ok() { serializer.serialize_u64(*seed) } else { serializer.collect_str(seed) }
    }

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Number(u64),
        Text(String),
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        match Written::deserialize(deserializer)? {
            Written::Number(seed) => Ok(seed),
            Written::Text(text) => text.parse().map_err(D::Error::custom),
        }
    }
}
