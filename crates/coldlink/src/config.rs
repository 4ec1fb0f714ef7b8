//! Settings of a model and its training.
/// Settings.
pub struct Config;
