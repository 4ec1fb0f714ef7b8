//! How good a model was on validation pairs.

/// A validation.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Validated {
    /// After so many steps.
    pub step: u64,
    /// Area under the ROC curve on the validation pairs.
    pub auc: f64,
    /// Average precision on them.
    pub ap: f64,
    /// The share of linked pairs among them, which average precision depends on.
    pub prevalence: f64,
    /// The quality of lists, where these are chosen for.
    #[serde(flatten)]
    pub lists: Option<ListQuality>,
}

/// Where true links stand in lists.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ListQuality {
    /// The mean reciprocal rank of a true link.
    pub mrr: f64,
    /// The share of a node's true links among its first ten.
    #[serde(rename = "recall@10")]
    pub recall: f64,
}

impl Validated {
    /// What steps and settings are chosen by: MRR + recall@10 where lists matter, else AUC + AP.
    pub fn quality(&self) -> f64 {
        self.lists.map_or(self.auc + self.ap, |lists| lists.mrr + lists.recall)
    }
}
