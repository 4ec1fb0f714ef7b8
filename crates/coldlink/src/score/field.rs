//! A number for every node, few of which are not zero.

use std::sync::{Arc, Mutex, PoisonError};

use crate::graph::NodeId;

/// Room for fields that is used again: to zero all of it for every source would cost more than a walk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Room(Arc<Mutex<Vec<Vec<f32>>>>);

/// A number for every node, 0 unless something was added to it.
pub(crate) struct Field {
    values: Vec<f32>,
    /// Where something was added; some nodes more than once.
    touched: Vec<NodeId>,
    room: Room,
}

impl Room {
    /// A field of zeros.
    pub(super) fn field(&self, nodes: usize) -> Field {
        let used = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut values = used.unwrap_or_default();
        // All of them are zero, so there may be more or fewer.
        values.resize(nodes, 0.0);
        Field { values, touched: Vec::new(), room: self.clone() }
    }
}

impl Field {
    /// Adds to the number of a node.
    #[inline]
    pub fn add(&mut self, node: NodeId, value: f32) {
        let number = &mut self.values[node as usize];
        if *number == 0.0 {
            self.touched.push(node);
        }
        *number += value;
    }

    /// The numbers of all nodes.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The nodes that something was added to, in rising order.
    pub fn touched(&mut self) -> &[NodeId] {
        self.touched.sort_unstable();
        self.touched.dedup();
        &self.touched
    }

    /// The same in less room.
    pub(super) fn sparse(&self) -> SparseField {
        let mut nodes = self.touched.clone();
        nodes.sort_unstable();
        nodes.dedup();
        SparseField { values: nodes.iter().map(|&node| self.values[node as usize]).collect(), nodes }
    }
}

impl Drop for Field {
    fn drop(&mut self) {
        let mut values = std::mem::take(&mut self.values);
        self.touched.iter().for_each(|&node| values[node as usize] = 0.0);
        self.room.0.lock().unwrap_or_else(PoisonError::into_inner).push(values);
    }
}

/// The numbers that are not zero.
#[derive(Clone, Debug, Default)]
pub(super) struct SparseField {
    nodes: Vec<NodeId>,
    values: Vec<f32>,
}

impl SparseField {
    /// The number of a node.
    pub fn get(&self, node: NodeId) -> f32 {
        self.nodes.binary_search(&node).map_or(0.0, |place| self.values[place])
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_that_was_used_is_all_zeros_again() {
        let room = Room::default();
        let mut field = room.field(9);
        [(3, 0.5), (7, 1.0), (3, -0.5), (3, 2.0)].into_iter().for_each(|(node, value)| field.add(node, value));
        assert_eq!((field.touched().to_vec(), field.values()[3], field.values()[7]), (vec![3, 7], 2.0, 1.0));
        let sparse = field.sparse();
        assert_eq!((sparse.get(3), sparse.get(4), sparse.len()), (2.0, 0.0, 2));
        assert_eq!(room.field(9).values(), [0.0; 9]);
        assert_eq!(room.field(4).values().len(), 4, "a field may have another size");
    }
}
