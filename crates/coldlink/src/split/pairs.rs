//! Pairs of nodes: what is scored and asked about.

use crate::graph::NodeId;

/// Two nodes, and whether they are linked in the full graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// One end; the new one where only one is new.
    pub source: NodeId,
    /// The other end.
    pub target: NodeId,
    /// Whether there is a link between them.
    pub linked: bool,
}

impl Pair {
    pub(super) fn linked((source, target): (NodeId, NodeId)) -> Self {
        Pair { source, target, linked: true }
    }

    pub(super) fn unlinked((source, target): (NodeId, NodeId)) -> Self {
        Pair { source, target, linked: false }
    }

    /// The same number for both directions of a pair.
    pub(super) fn key(&self) -> u64 {
        let (low, high) = (self.source.min(self.target), self.source.max(self.target));
        u64::from(low) << 32 | u64::from(high)
    }

    pub(super) fn is_loop(&self) -> bool {
        self.source == self.target
    }

    /// With a new end as the source, where there is one.
    pub(super) fn new_end_first(self, is_new: impl Fn(NodeId) -> bool) -> Self {
        if !is_new(self.source) && is_new(self.target) {
            Pair { source: self.target, target: self.source, ..self }
        } else {
            self
        }
    }
}

/// Which ends of a pair were warm in training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairClass {
    /// Both.
    WarmWarm,
    /// One.
    ColdWarm,
    /// Neither.
    ColdCold,
}
