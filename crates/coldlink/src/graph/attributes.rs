//! What is known of each node: a sparse row of numbers.

use rayon::prelude::*;

use super::{Buffer, NodeId};

/// One sparse row of attributes per node (CSR, finite `f32` values, sorted columns).
#[derive(Clone, Debug, PartialEq)]
pub struct Attributes {
    width: usize,
    offsets: Buffer<u64>,
    columns: Buffer<u32>,
    values: Buffer<f32>,
    names: AttributeNames,
}

/// What the columns are called, where that is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AttributeNames(pub Vec<String>);

impl Attributes {
    /// Rows from their arrays, or what is wrong with them. `names` is empty or has `width` entries.
    pub fn from_parts(
        width: usize,
        offsets: Buffer<u64>,
        columns: Buffer<u32>,
        values: Buffer<f32>,
        names: AttributeNames,
    ) -> Result<Self, &'static str> {
        let attributes = Attributes { width, offsets, columns, values, names };
        attributes.check().map(|()| attributes)
    }

    fn check(&self) -> Result<(), &'static str> {
        let rows = self.offsets.len().checked_sub(1).ok_or("the offsets are empty")?;
        if self.columns.len() != self.values.len() {
            return Err("columns and values differ in length");
        }
        if self.offsets[0] != 0 || self.offsets[rows] != self.columns.len() as u64 {
            return Err("the offsets do not span the values");
        }
        if self.offsets.par_windows(2).any(|pair| pair[0] > pair[1]) {
            return Err("the offsets fall");
        }
        if !self.names.0.is_empty() && self.names.0.len() != self.width {
            return Err("there are not as many attribute names as columns");
        }
        let tidy = (0..rows).into_par_iter().all(|row| {
            let (columns, _) = self.row(row as NodeId);
            columns.last().is_none_or(|&last| (last as usize) < self.width)
                && columns.windows(2).all(|pair| pair[0] < pair[1])
        });
        if !tidy {
            return Err("a row has columns that are unsorted, repeated or out of range");
        }
        let finite = self.values.par_chunks(1 << 16).all(|part| part.iter().all(|v| v.is_finite()));
        finite.then_some(()).ok_or("a value is NaN or infinite")
    }

    /// Rows from lists of (column, value); for small data. Columns within a row must be sorted.
    pub fn from_rows(width: usize, rows: &[Vec<(u32, f32)>]) -> Result<Self, &'static str> {
        let mut offsets = vec![0];
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        for row in rows {
            columns.extend(row.iter().map(|entry| entry.0));
            values.extend(row.iter().map(|entry| entry.1));
            offsets.push(columns.len() as u64);
        }
        let names = AttributeNames::default();
        Self::from_parts(width, offsets.into(), columns.into(), values.into(), names)
    }

    /// Some of the rows, in the given order.
    pub fn select(&self, nodes: &[NodeId]) -> Attributes {
        let mut offsets = vec![0];
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        for &node in nodes {
            let row = self.row(node);
            columns.extend_from_slice(row.0);
            values.extend_from_slice(row.1);
            offsets.push(columns.len() as u64);
        }
        let (offsets, columns, values) = (offsets.into(), columns.into(), values.into());
        Attributes { width: self.width, offsets, columns, values, names: self.names.clone() }
    }

    /// The number of rows: one per node.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The columns and values of a row.
    #[inline]
    pub fn row(&self, node: NodeId) -> (&[u32], &[f32]) {
        let node = node as usize;
        let range = self.offsets[node] as usize..self.offsets[node + 1] as usize;
        (&self.columns[range.clone()], &self.values[range])
    }

    /// How many values are stored.
    pub fn entries(&self) -> usize {
        self.columns.len()
    }

    /// The share of columns that an average row fills.
    pub fn density(&self) -> f64 {
        self.entries() as f64 / (self.rows().max(1) * self.width.max(1)) as f64
    }

    /// The columns' names; empty where unknown.
    pub fn names(&self) -> &AttributeNames {
        &self.names
    }

    /// Row starts, `rows() + 1` of them.
    pub fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// All rows' columns, one after the other.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// All rows' values, one after the other.
    pub fn values(&self) -> &[f32] {
        &self.values
    }
}
