//! Attributes as layers take them.

use std::sync::Arc;

use burn::tensor::{Tensor, TensorData};
use coldlink::config::Scaling;
use coldlink::graph::{Attributes, NodeId};
use rand::Rng;
use rayon::prelude::*;

use crate::tensor::{Pattern, Sparse, device, product};

/// Rows with more than this share of columns filled are multiplied as dense ones.
const DENSE: f64 = 0.1;

/// What a layer takes: rows of attributes, or what another layer made.
#[derive(Clone, Debug)]
pub enum Input {
    /// Rows of numbers.
    Dense(Tensor<2>),
    /// Rows that are mostly zeros.
    Sparse(Arc<Sparse>),
}

impl Input {
    /// x W.
    pub fn times(&self, weights: Tensor<2>) -> Tensor<2> {
        match self {
            Input::Dense(x) => x.clone().matmul(weights),
            Input::Sparse(x) => product(x, weights),
        }
    }

    /// A share of the numbers set to zero, the others scaled up.
    pub fn dropout(self, share: f32, random: &mut impl Rng) -> Input {
        match self {
            _ if share == 0.0 => self,
            Input::Dense(x) => Input::Dense(dropout(x, share, random)),
            Input::Sparse(x) => {
                let mask = mask(x.values().len(), share, random);
                let values = x.values().iter().zip(mask).map(|(value, keep)| value * keep).collect();
                Input::Sparse(Sparse::new(x.pattern().clone(), values))
            }
        }
    }
}

/// A share of the numbers set to zero, the others scaled up.
pub fn dropout(x: Tensor<2>, share: f32, random: &mut impl Rng) -> Tensor<2> {
    if share == 0.0 {
        return x;
    }
    let [rows, columns] = x.dims();
    let mask = mask(rows * columns, share, random);
    x * Tensor::<2>::from_data(TensorData::new(mask, [rows, columns]), &device())
}

/// 0 with probability `share`, else 1 / (1 − share).
fn mask(count: usize, share: f32, random: &mut impl Rng) -> Vec<f32> {
    let (dropped, kept) = ((share * 65_536.0) as u64, 1.0 / (1.0 - share));
    let mut mask = vec![0.0; count];
    for four in mask.chunks_mut(4) {
        let bits = random.next_u64();
        for (place, value) in four.iter_mut().enumerate() {
            *value = if bits >> (16 * place) & 0xFFFF < dropped { 0.0 } else { kept };
        }
    }
    mask
}

/// The attributes of a graph's nodes.
#[derive(Clone, Debug)]
pub struct Features {
    rows: Vec<Vec<(u32, f32)>>,
    width: usize,
    dense: bool,
}

impl Features {
    /// Scaled as asked for; each row by itself, so that nothing is fitted.
    pub fn new(attributes: &Attributes, scaling: Scaling) -> Self {
        let row = |node: usize| {
            let entries = attributes.iter_row(node as NodeId);
            let length = entries.clone().map(|(_, value)| value * value).sum::<f32>().sqrt();
            let scale = if scaling == Scaling::Unit && length > 0.0 { 1.0 / length } else { 1.0 };
            entries.map(|(column, value)| (column, value * scale)).collect()
        };
        let rows = (0..attributes.rows()).into_par_iter().map(row).collect();
        Features {
            rows,
            width: attributes.width(),
            dense: attributes.density() > DENSE || attributes.dense_width() > 0,
        }
    }

    /// The number of attributes.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The rows of all nodes.
    pub fn all(&self) -> Input {
        self.gather(&self.rows.iter().collect::<Vec<_>>())
    }

    /// The rows of some nodes.
    pub fn of(&self, nodes: &[NodeId]) -> Input {
        self.gather(&nodes.iter().map(|&node| &self.rows[node as usize]).collect::<Vec<_>>())
    }

    fn gather(&self, rows: &[&Vec<(u32, f32)>]) -> Input {
        if self.dense {
            let mut values = vec![0.0; rows.len() * self.width];
            for (entries, out) in rows.iter().zip(values.chunks_exact_mut(self.width.max(1))) {
                entries.iter().for_each(|&(column, value)| out[column as usize] = value);
            }
            return Input::Dense(Tensor::from_data(TensorData::new(values, [rows.len(), self.width]), &device()));
        }
        let columns = |entries: &&Vec<(u32, f32)>| entries.iter().map(|entry| entry.0).collect::<Vec<_>>();
        let pattern = Pattern::from_lists(self.width, rows.iter().map(columns));
        let values = rows.iter().flat_map(|entries| entries.iter().map(|entry| entry.1)).collect();
        Input::Sparse(Sparse::new(Arc::new(pattern), values))
    }
}
