//! Top-k by scoring every node: what any faster index is measured against.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use rayon::prelude::*;

use super::Hit;
use crate::graph::NodeId;
use crate::kernel::{LANES, Left, Matrix, product};

/// Scores that are held at a time.
const SCORES: usize = 1 << 24;

/// Scores all nodes: a vector per node, whose inner product with a query is the node's score.
pub struct ExactIndex {
    vectors: Matrix<f32>,
}

impl ExactIndex {
    /// An index of all rows of a matrix, such as [`crate::model::Model::search_vectors`].
    pub fn new(vectors: Matrix<f32>) -> Self {
        ExactIndex { vectors }
    }

    /// How many nodes it holds.
    pub fn nodes(&self) -> usize {
        self.vectors.rows()
    }

    /// For each row of queries, the `count` best nodes, best first; equal scores in the order of nodes.
    pub fn search(&self, queries: &Matrix<f32>, count: usize) -> Vec<Vec<Hit>> {
        let per_round = (SCORES / self.nodes().max(1)).clamp(1, 512).next_multiple_of(LANES);
        let mut hits = Vec::with_capacity(queries.rows());
        for first in (0..queries.rows()).step_by(per_round) {
            let round = per_round.min(queries.rows() - first);
            let columns = Matrix::from_fn(queries.columns(), round, |row, query| queries.row(first + query)[row]);
            let mut scores = Matrix::zeros(self.nodes(), round);
            product(Left::Plain(&self.vectors), &columns, &mut scores);
            let best: Vec<_> = (0..round)
                .into_par_iter()
                .map(|query| {
                    best((0..self.nodes() as NodeId).map(|node| (node, scores.row(node as usize)[query])), count)
                })
                .collect();
            hits.extend(best);
        }
        hits
    }
}

/// A hit in a heap whose top is the worst.
struct Worst(Hit);

impl Worst {
    fn order(&self, other: &Self) -> Ordering {
        other.0.score.total_cmp(&self.0.score).then(self.0.node.cmp(&other.0.node))
    }
}

impl PartialEq for Worst {
    fn eq(&self, other: &Self) -> bool {
        self.order(other).is_eq()
    }
}

impl Eq for Worst {}

impl PartialOrd for Worst {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Worst {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order(other)
    }
}

/// The `count` nodes with the highest scores, best first; equal scores in the order of nodes.
pub(crate) fn best(scores: impl Iterator<Item = (NodeId, f32)>, count: usize) -> Vec<Hit> {
    let mut heap = BinaryHeap::new();
    for (node, score) in scores {
        let hit = Worst(Hit { node, score });
        if heap.len() < count {
            heap.push(hit);
        } else if heap.peek().is_some_and(|worst| hit < *worst) {
            heap.pop();
            heap.push(hit);
        }
    }
    heap.into_sorted_vec().into_iter().map(|worst| worst.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_are_those_of_a_full_sort_with_ties_in_the_order_of_nodes() {
        let value = |salt: usize| move |row: usize, column: usize| ((row * 7 + column * 3 + salt) % 5) as f32 - 2.0;
        let vectors = Matrix::from_fn(120, 18, value(0));
        let index = ExactIndex::new(vectors.clone());
        let queries = Matrix::from_fn(3, 18, value(1));
        for (query, hits) in index.search(&queries, 10).iter().enumerate() {
            let score = |node: usize| queries.row(query).iter().zip(vectors.row(node)).map(|(a, b)| a * b).sum::<f32>();
            let mut all: Vec<usize> = (0..120).collect();
            all.sort_by(|&a, &b| score(b).total_cmp(&score(a)).then(a.cmp(&b)));
            let found: Vec<usize> = hits.iter().map(|hit| hit.node as usize).collect();
            assert_eq!(found, all[..10]);
            assert!((hits[0].score - score(all[0])).abs() < 1e-5);
        }
        assert_eq!(index.search(&queries, 1000)[0].len(), 120);
        assert!(index.search(&queries, 0)[0].is_empty());
    }
}
