//! A graph as the matrices that layers multiply by.

use std::sync::Arc;

use coldlink::graph::{Graph, NodeId};

use crate::tensor::{Pattern, Sparse};

fn neighbours(graph: &Graph) -> impl Iterator<Item = &[NodeId]> {
    (0..graph.nodes() as NodeId).map(|node| graph.neighbors(node))
}

/// Each node's neighbours and the node itself, in order.
fn with_self(graph: &Graph) -> impl Iterator<Item = Vec<NodeId>> {
    neighbours(graph).enumerate().map(|(node, others)| {
        let mut list = others.to_vec();
        list.insert(others.partition_point(|&other| other < node as NodeId), node as NodeId);
        list
    })
}

/// A: each node gets the sum over its neighbours.
pub fn sums(graph: &Graph) -> Arc<Sparse> {
    let pattern = Pattern::from_lists(graph.nodes(), neighbours(graph));
    let values = vec![1.0; pattern.entries()];
    Sparse::new(Arc::new(pattern), values)
}

/// D⁻¹ A: each node gets the mean of its neighbours, 0 where it has none.
pub fn means(graph: &Graph) -> Arc<Sparse> {
    let pattern = Pattern::from_lists(graph.nodes(), neighbours(graph));
    let values = neighbours(graph).flat_map(|list| std::iter::repeat_n(1.0 / list.len() as f32, list.len())).collect();
    Sparse::new(Arc::new(pattern), values)
}

/// D̃^−½ (A + I) D̃^−½, where D̃ counts the node itself (Kipf & Welling, 2017).
pub fn normalised(graph: &Graph) -> Arc<Sparse> {
    let scale = |node: NodeId| 1.0 / ((graph.degree(node) + 1) as f32).sqrt();
    let pattern = Pattern::from_lists(graph.nodes(), with_self(graph));
    let rows = pattern.row_of_entries();
    let values = rows.iter().zip(pattern.indices()).map(|(&row, &column)| scale(row) * scale(column)).collect();
    Sparse::new(Arc::new(pattern), values)
}

/// Who attends to whom: each node to its neighbours and itself.
#[derive(Debug)]
pub struct Attention {
    /// A row for each node that attends.
    pub pattern: Arc<Pattern>,
    /// Picks, for each entry, the row of the node that attends.
    pub attending: Arc<Sparse>,
    /// Picks, for each entry, the row of the node that is attended to.
    pub attended: Arc<Sparse>,
}

impl Attention {
    /// Over a graph's links.
    pub fn of(graph: &Graph) -> Self {
        let pattern = Arc::new(Pattern::from_lists(graph.nodes(), with_self(graph)));
        let attending = Sparse::selection(graph.nodes(), &pattern.row_of_entries());
        let attended = Sparse::selection(graph.nodes(), pattern.indices());
        Attention { pattern, attending, attended }
    }
}
