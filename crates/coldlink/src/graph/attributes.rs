//! What is known of each node: a sparse row of numbers, and a dense one where there are vectors.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::{NodeId, NodeTypes, Roles};
use crate::storage::Buffer;

/// One row of attributes per node: a sparse part (CSR, finite `f32` values, sorted columns), and a dense part for vectors.
///
/// Attributes are numbered through: the columns of the dense part come after all of the sparse part.
#[derive(Clone, Debug, PartialEq)]
pub struct Attributes {
    sparse_width: usize,
    offsets: Buffer<u64>,
    columns: Buffer<u32>,
    values: Buffer<f32>,
    dense_width: usize,
    /// Row after row.
    dense: Buffer<f32>,
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
    Unchanged {
        /// Whether they are words, of which rare ones say more than frequent ones; or else numbers.
        is_word: bool,
    },
    /// Mean and deviation: a value becomes its distance from the mean in deviations.
    Standardised,
    /// Ranks: a value becomes a number from −1 to 1 by how many training rows have a smaller one.
    Ranked,
    /// The mean length of a row's part, which becomes 1.
    Lengths,
    /// The same of vectors that were made of texts, which settings may leave out.
    Encoded,
    /// Rare columns count as the last of the block.
    Grouped {
        /// Those that fewer training rows have than this.
        at_least: u32,
    },
    /// The words that most training rows have.
    Words {
        /// Words that fewer rows have are left out.
        at_least: u32,
        /// The most words that are kept.
        most: u32,
        /// Whether they are weighed by how few rows have them, and a row's part gets length 1.
        weighed: bool,
    },
}

/// What the columns are called, where that is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AttributeNames(pub Vec<String>);

impl Attributes {
    /// Rows from their arrays, without a dense part; or what is wrong with them. `names` is empty or has `width` entries.
    pub fn from_parts(
        width: usize,
        offsets: Buffer<u64>,
        columns: Buffer<u32>,
        values: Buffer<f32>,
        names: AttributeNames,
    ) -> Result<Self, &'static str> {
        let (dense_width, dense) = (0, Vec::new().into());
        let (blocks, types) = (Arc::from([]), None);
        let attributes =
            Attributes { sparse_width: width, offsets, columns, values, dense_width, dense, names, blocks, types };
        attributes.check()?;
        attributes.check_names().map(|()| attributes)
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
        let tidy = (0..rows).into_par_iter().all(|row| {
            let (columns, _) = self.row(row as NodeId);
            columns.last().is_none_or(|&last| (last as usize) < self.sparse_width)
                && columns.windows(2).all(|pair| pair[0] < pair[1])
        });
        if !tidy {
            return Err("a row has columns that are unsorted, repeated or out of range");
        }
        all_finite(&self.values)
    }

    fn check_names(&self) -> Result<(), &'static str> {
        let fits = self.names.0.is_empty() || self.names.0.len() == self.width();
        fits.then_some(()).ok_or("there are not as many attribute names as columns")
    }

    /// Rows from lists of (column, value), without a dense part; for small data. Columns within a row must be sorted.
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

    /// The same with a dense part of `width` numbers a row after the sparse one, and the names of all attributes, or none; or what
    /// is wrong with these.
    pub fn with_dense(self, width: usize, dense: Buffer<f32>, names: AttributeNames) -> Result<Self, &'static str> {
        if self.rows().checked_mul(width) != Some(dense.len()) {
            return Err("the dense part does not have a row for each node");
        }
        all_finite(&dense)?;
        let attributes = Attributes { dense_width: width, dense, names, ..self };
        attributes.check_names().map(|()| attributes)
    }

    /// Some of the rows, in the given order.
    pub fn select(&self, nodes: &[NodeId]) -> Attributes {
        let mut offsets = vec![0];
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        let mut dense = Vec::with_capacity(nodes.len() * self.dense_width);
        for &node in nodes {
            let row = self.row(node);
            columns.extend_from_slice(row.0);
            values.extend_from_slice(row.1);
            offsets.push(columns.len() as u64);
            dense.extend_from_slice(self.dense_row(node));
        }
        Attributes {
            offsets: offsets.into(),
            columns: columns.into(),
            values: values.into(),
            dense: dense.into(),
            types: self.types.as_ref().map(|types| Arc::new(types.select(nodes))),
            ..self.clone()
        }
    }

    /// The same for role nodes, or as they are where there is one role. Every attribute stands twice in a row, once for all roles
    /// and once for the row's own: what it says in any role is learned together, what it says in one is learned beside it.
    pub fn in_roles(&self, roles: &Roles) -> Attributes {
        if roles.is_plain() {
            return self.clone();
        }
        let count = roles.count();
        let mut offsets = Vec::with_capacity(self.rows() * count + 1);
        offsets.push(0);
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        let mut dense = Vec::with_capacity(self.dense.len() * count * (1 + count));
        for (node, role) in (0..self.rows() as NodeId).flat_map(|node| (0..count).map(move |role| (node, role))) {
            let (own_columns, own_values) = self.row(node);
            let shift = (self.sparse_width * (1 + role)) as u32;
            columns.extend_from_slice(own_columns);
            columns.extend(own_columns.iter().map(|column| shift + column));
            values.extend_from_slice(own_values);
            values.extend_from_slice(own_values);
            offsets.push(columns.len() as u64);
            let start = dense.len();
            dense.resize(start + self.dense_width * (1 + count), 0.0);
            for place in [0, 1 + role] {
                dense[start + place * self.dense_width..][..self.dense_width].copy_from_slice(self.dense_row(node));
            }
        }
        Attributes {
            sparse_width: self.sparse_width * (1 + count),
            offsets: offsets.into(),
            columns: columns.into(),
            values: values.into(),
            dense_width: self.dense_width * (1 + count),
            dense: dense.into(),
            names: AttributeNames::default(),
            blocks: Arc::from([]),
            types: Some(Arc::new(NodeTypes::in_roles(self.types.as_deref(), self.rows(), roles))),
        }
    }

    /// The same, to be fitted in blocks; or what is wrong with these.
    pub fn with_blocks(self, blocks: Vec<Block>) -> Result<Self, &'static str> {
        let rising = blocks.windows(2).all(|pair| pair[0].columns.end <= pair[1].columns.start);
        let inside = blocks.last().is_none_or(|block| block.columns.end as usize <= self.width());
        if !rising || !inside || blocks.iter().any(|block| block.columns.is_empty()) {
            return Err("blocks of columns that overlap or lie outside");
        }
        let sparse = |block: &Block| block.columns.end as usize <= self.sparse_width;
        if blocks.iter().any(|block| !sparse(block) && !block.fits_dense(self.sparse_width)) {
            return Err("a block of words or groups in the dense part");
        }
        Ok(Attributes { blocks: blocks.into(), ..self })
    }

    /// The same with node types, one for each row; or what is wrong with these.
    pub fn with_types(self, types: Option<Arc<NodeTypes>>) -> Result<Self, &'static str> {
        if types.as_ref().is_some_and(|types| types.all().len() != self.rows()) {
            return Err("the number of node types differs from the number of rows");
        }
        Ok(Attributes { types, ..self })
    }

    /// The type of each row's node, where there are several types.
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

    /// The number of columns of both parts.
    pub fn width(&self) -> usize {
        self.sparse_width + self.dense_width
    }

    /// The number of columns of the sparse part.
    pub fn sparse_width(&self) -> usize {
        self.sparse_width
    }

    /// The number of columns of the dense part; 0 where there is none.
    pub fn dense_width(&self) -> usize {
        self.dense_width
    }

    /// The columns and values of a row's sparse part.
    #[inline]
    pub fn row(&self, node: NodeId) -> (&[u32], &[f32]) {
        let node = node as usize;
        let range = self.offsets[node] as usize..self.offsets[node + 1] as usize;
        (&self.columns[range.clone()], &self.values[range])
    }

    /// A row's dense part.
    #[inline]
    pub fn dense_row(&self, node: NodeId) -> &[f32] {
        &self.dense[node as usize * self.dense_width..][..self.dense_width]
    }

    /// The columns and values of both parts, without the zeros of the dense one.
    pub fn iter_row(&self, node: NodeId) -> impl Iterator<Item = (u32, f32)> + Clone {
        let (columns, values) = self.row(node);
        let dense = (self.sparse_width as u32..).zip(self.dense_row(node).iter().copied());
        columns.iter().copied().zip(values.iter().copied()).chain(dense.filter(|entry| entry.1 != 0.0))
    }

    /// One value, where the node has it.
    pub fn value(&self, node: NodeId, column: u32) -> Option<f32> {
        if let Some(place) = (column as usize).checked_sub(self.sparse_width) {
            return self.dense_row(node).get(place).copied().filter(|value| *value != 0.0);
        }
        let (columns, values) = self.row(node);
        columns.binary_search(&column).ok().map(|place| values[place])
    }

    /// Rows without any attribute.
    pub fn empty_rows(&self) -> usize {
        (0..self.rows() as NodeId).filter(|&node| self.iter_row(node).next().is_none()).count()
    }

    /// How many values the sparse part stores.
    pub fn entries(&self) -> usize {
        self.columns.len()
    }

    /// The share of columns of the sparse part that an average row fills.
    pub fn density(&self) -> f64 {
        self.entries() as f64 / (self.rows().max(1) * self.sparse_width.max(1)) as f64
    }

    /// The columns' names; empty where unknown.
    pub fn names(&self) -> &AttributeNames {
        &self.names
    }

    /// Row starts of the sparse part, `rows() + 1` of them.
    pub fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// All rows' columns of the sparse part, one after the other.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// All rows' values of the sparse part, one after the other.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// All rows of the dense part, one after the other.
    pub fn dense(&self) -> &[f32] {
        &self.dense
    }
}

impl Block {
    /// Whether it can be fitted to a dense part that begins here: its columns stay where they are, one for one.
    fn fits_dense(&self, first: usize) -> bool {
        let one_for_one = !matches!(self.fit, Fitting::Grouped { .. } | Fitting::Words { .. });
        one_for_one && self.columns.start as usize >= first
    }
}

fn all_finite(values: &[f32]) -> Result<(), &'static str> {
    let finite = values.par_chunks(1 << 16).all(|part| part.iter().all(|value| value.is_finite()));
    finite.then_some(()).ok_or("a value is NaN or infinite")
}
