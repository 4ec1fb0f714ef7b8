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
}

impl Validated {
    /// What steps and settings are chosen by: AUC + AP.
    pub fn quality(&self) -> f64 {
        self.auc + self.ap
    }
}
