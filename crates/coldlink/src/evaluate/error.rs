//! What can go wrong while scores are measured.

use crate::graph::NodeId;
use crate::hint::Hint;

/// Why there is no measurement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MetricError {
    /// A score is NaN, which has no place in an order.
    #[error("score {position} is not a number")]
    NotANumber {
        /// Which score, counted from 0.
        position: usize,
    },
    /// A score of a ranking is NaN.
    #[error("the score of nodes {source_node} and {target} is not a number")]
    PairNotANumber {
        /// The query's source.
        source_node: NodeId,
        /// The candidate.
        target: NodeId,
    },
    /// There are not as many scores as pairs.
    #[error("there are {scores} scores for {pairs} pairs")]
    Lengths {
        /// Scores given.
        scores: usize,
        /// Pairs they should belong to.
        pairs: usize,
    },
    /// A node of a pair or query is not in the graph.
    #[error("there is no node {node} in a graph of {nodes} nodes")]
    UnknownNode {
        /// The node.
        node: NodeId,
        /// How many nodes there are.
        nodes: usize,
    },
    /// A true link of a query leads to a node that is no candidate.
    #[error("node {target}, a target of node {source_node}, is not among the candidates")]
    NotACandidate {
        /// The query's source.
        source_node: NodeId,
        /// The target.
        target: NodeId,
    },
    /// Two methods were not measured on the same queries.
    #[error("the two methods disagree on the source or the number of targets of query {query}")]
    QueriesDiffer {
        /// Which query, counted from 0.
        query: usize,
    },
    /// A split to compare methods on has no linked or no unlinked pairs (or no targets), so that there is no metric.
    #[error("split {split} has too few pairs or targets to compute the metric")]
    OneClass {
        /// Which split, counted from 0.
        split: usize,
    },
    /// There is nothing to compare: no split, or fewer than two resamples.
    #[error("a bootstrap needs at least one split and two resamples, got {splits} and {resamples}")]
    NothingToResample {
        /// Splits given.
        splits: usize,
        /// Resamples asked for.
        resamples: usize,
    },
}

impl MetricError {
    /// What to do about it, where there is something.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            MetricError::NotANumber { .. } | MetricError::PairNotANumber { .. } => {
                Some(Hint::new("lower the setting `learning_rate` | use {set similarity=cosine}"))
            }
            _ => None,
        }
    }
}
