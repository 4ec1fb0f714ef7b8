//! Hits@k.

use serde::Serialize;

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
