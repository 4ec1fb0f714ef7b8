//! Metrics at several cut-offs: Hits@k, recall@k and NDCG@k.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// The cut-offs of [`Hits`].
pub const HITS: [usize; 4] = [1, 10, 50, 100];

/// The share of true links among the first k candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Hits {
    /// Among the first.
    #[serde(rename = "hits@1")]
    pub at_1: Option<f64>,
    /// Among the first 10.
    #[serde(rename = "hits@10")]
    pub at_10: Option<f64>,
    /// Among the first 50.
    #[serde(rename = "hits@50")]
    pub at_50: Option<f64>,
    /// Among the first 100.
    #[serde(rename = "hits@100")]
    pub at_100: Option<f64>,
}

impl Hits {
    pub(super) fn each(hits: impl FnMut(usize) -> Option<f64>) -> Self {
        let [at_1, at_10, at_50, at_100] = HITS.map(hits);
        Hits { at_1, at_10, at_50, at_100 }
    }

    /// The share for one of [`HITS`], `None` for any other.
    pub fn at(&self, k: usize) -> Option<f64> {
        match k {
            1 => self.at_1,
            10 => self.at_10,
            50 => self.at_50,
            100 => self.at_100,
            _ => None,
        }
    }
}

/// A metric of lists at each of [`HITS`]; written as `name@1`, `name@10` and so on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AtEach {
    name: &'static str,
    values: [Option<f64>; HITS.len()],
}

impl AtEach {
    pub(super) fn of(name: &'static str, value: impl FnMut(usize) -> Option<f64>) -> Self {
        AtEach { name, values: HITS.map(value) }
    }

    /// The value for one of [`HITS`], `None` for any other.
    pub fn at(&self, k: usize) -> Option<f64> {
        HITS.iter().position(|&cut_off| cut_off == k).and_then(|place| self.values[place])
    }
}

impl Serialize for AtEach {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(HITS.len()))?;
        for (k, value) in HITS.iter().zip(&self.values) {
            map.serialize_entry(&format!("{}@{k}", self.name), value)?;
        }
        map.end()
    }
}
