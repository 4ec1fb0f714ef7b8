//! The paper's tables with every method in them, on coldlink's splits and metrics.
//!
//! [`tensor`] adds sparse products to burn, [`layer`] builds graph layers on them, [`method`] holds one file per method,
//! [`experiment`] fits and measures them all by one rule, and [`report`] shows what came out.

// A tensor is a handle of some hundred bytes; there are a handful, and a box for each would not pay.
#![allow(clippy::large_enum_variant)]

pub mod experiment;
pub mod layer;
pub mod method;
pub mod report;
pub mod tensor;
