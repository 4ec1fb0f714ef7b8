//! How much a request may ask for.

use std::time::Duration;

use serde::Serialize;
use utoipa::ToSchema;

use crate::error::{ApiError, Code};

/// How much a request may ask for, and how many may wait.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Limits {
    /// Bytes of a body.
    pub body: usize,
    /// New nodes in a request.
    pub nodes: usize,
    /// Links of one node.
    pub k: usize,
    /// Links of all nodes of a request together.
    pub links: usize,
    /// Links of a request that are explained.
    pub explained: usize,
    /// Pairs in a request.
    pub pairs: usize,
    /// Names of nodes in an answer.
    pub names: usize,
    /// Requests that are worked on or wait for it; one more is answered at once that there are too many.
    pub waiting: usize,
    /// Connections at a time.
    pub connections: usize,
    /// Seconds for a request.
    pub seconds: f64,
}

impl Default for Limits {
    /// An answer within these stays below a few megabytes.
    fn default() -> Self {
        Limits {
            body: 1 << 20,
            nodes: 1_000,
            k: 1_000,
            links: 10_000,
            explained: 1_000,
            pairs: 10_000,
            names: 1_000,
            waiting: 128,
            connections: 1_024,
            seconds: 10.0,
        }
    }
}

impl Limits {
    /// Bytes of all bodies that are in memory at a time.
    pub fn bodies(&self) -> usize {
        self.body.saturating_mul(self.waiting)
    }

    /// The time for a request.
    pub fn time(&self) -> Duration {
        Duration::try_from_secs_f64(self.seconds).unwrap_or(Duration::MAX)
    }
}

/// Whether a count, which may be 0, is no more than is allowed.
pub fn check_most(what: &str, count: usize, most: usize) -> Result<(), ApiError> {
    if count == 0 { Ok(()) } else { check_count(what, count, most) }
}

/// Whether so many of something may be asked for, which is more than one number of the request.
pub fn check_asked(what: &str, count: usize, most: usize, hint: &str) -> Result<(), ApiError> {
    if count <= most {
        return Ok(());
    }
    Err(ApiError::new(Code::TooLarge, format!("{count} {what} are asked for where {most} are allowed"), hint))
}

/// Whether so many links may be explained.
pub fn check_explained(count: usize, limits: &Limits) -> Result<(), ApiError> {
    check_asked("explained links", count, limits.explained, "ask for fewer links at once, or leave `explain` out")
}

/// Whether a count is from 1 up to what is allowed.
pub fn check_count(what: &str, count: usize, most: usize) -> Result<(), ApiError> {
    if (1..=most).contains(&count) {
        return Ok(());
    }
    let message = format!("`{what}`: expected 1 to {most}, got {count}");
    Err(ApiError::new(Code::BadValue, message, "ask for less, or in several requests; GET /v1/model has the limits"))
}
