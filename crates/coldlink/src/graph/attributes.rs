//! What is known of each node: a sparse row of numbers.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::{NodeId, NodeTypes};
use crate::storage::Buffer;

/// One sparse row of attributes per node (CSR, finite `f32` values, sorted columns).
#[derive(Clone, Debug, PartialEq)]
pub struct Attributes {
    width: usize,
    offsets: Buffer<u64>,
    columns: Buffer<u32>,
    values: Buffer<f32>,
    names: AttributeNames,
    blocks: Arc<[Block]>,
    types: Option<Arc<NodeTypes>>,
}

/// Columns that belong together, and what is fitted to them on training rows before a model sees them. Columns of no block are
/// seen as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Which.
    pub columns: Range<u32>,
    /// What is fitted.
    pub fit: Fitting,
}

/// What is fitted to columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fitting {
    /// Nothing; columns that no training row has are left out.
    Kept {
        /// Whether they are words, of which rare ones say more than frequent ones; or else numbers.
        words: bool,
    },
    /// Mean and deviation: a value becomes its distance from the mean in deviations.
    Standardised,
    /// Ranks: a value becomes a number from −1 to 1 by how many training rows have a smaller one.
    Ranked,
    /// The mean length of a row's part, which becomes 1.
    Lengths,
    /// Columns that fewer training rows have than this count as the last of the block.
    Grouped {
        /// So many.
        at_least: u32,
    },
    /// The words that most training rows have.
    Words {
        /// Words that fewer rows have are left out.
        at_least: u32,
        /// As many are kept at most.
        most: u32,
        /// Whether they are weighed by how few rows have them, and a row's part gets length 1.
        weighed: bool,
    },
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
        let attributes = Attributes { width, offsets, columns, values, names, blocks: Arc::from([]), types: None };
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
        let (names, blocks) = (self.names.clone(), Arc::clone(&self.blocks));
        let types = self.types.as_ref().map(|types| Arc::new(types.select(nodes)));
        Attributes { width: self.width, offsets, columns, values, names, blocks, types }
    }

    /// The same, to be fitted in blocks; or what is wrong with these.
    pub fn with_blocks(self, blocks: Vec<Block>) -> Result<Self, &'static str> {
        let rising = blocks.windows(2).all(|pair| pair[0].columns.end <= pair[1].columns.start);
        let inside = blocks.last().is_none_or(|block| block.columns.end as usize <= self.width);
        if !rising || !inside || blocks.iter().any(|block| block.columns.is_empty()) {
            return Err("blocks of columns that overlap or lie outside");
        }
        Ok(Attributes { blocks: blocks.into(), ..self })
    }

    /// The same with kinds of nodes, one for each row; or what is wrong with these.
    pub fn with_types(self, types: Option<Arc<NodeTypes>>) -> Result<Self, &'static str> {
        if types.as_ref().is_some_and(|types| types.all().len() != self.rows()) {
            return Err("the number of node types differs from the number of rows");
        }
        Ok(Attributes { types, ..self })
    }

    /// What kind of node each row is, where there are several kinds.
    pub fn types(&self) -> Option<&Arc<NodeTypes>> {
        self.types.as_ref()
    }

    /// What is to be fitted to the columns before a model sees them.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
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
