//! The attributes of a batch's nodes, in the forms that the encoder multiplies with.

use std::sync::Arc;

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;

use super::Dropout;
use crate::config::Scaling;
use crate::graph::{Attributes, NodeId};
use crate::kernel::{
    Entry, LANES, Left, Matrix, ROWS_PER_TASK, Real, keep_at_random, kept_share, prefetch, prefetch_to_write, threshold,
};

/// From this density on, the dense product is faster than the sparse one; measured by `train_speed --form sparse` on Photo, where both take as long.
const DENSE_FROM: f64 = 0.25;
/// Rows that are asked for before they are needed.
const ROWS_AHEAD: usize = 6;
/// The largest dense form that is made of a whole graph's attributes.
const DENSE_BYTES: usize = 4 << 30;

/// All attributes, scaled as the model wants them. A clone shares them.
#[derive(Clone, Debug)]
pub enum Features {
    /// Few entries a row.
    Sparse(SparseRows),
    /// Many.
    Dense(Arc<Matrix<f32>>),
}

impl Features {
    /// Scales attributes and chooses their form.
    pub fn new(attributes: &Attributes, scaling: Scaling) -> Self {
        let bytes = attributes.rows() * attributes.width().next_multiple_of(LANES) * 4;
        if attributes.density() >= DENSE_FROM && bytes <= DENSE_BYTES {
            Features::Dense(Arc::new(dense(attributes, scaling)))
        } else {
            Features::Sparse(SparseRows::new(attributes, scaling))
        }
    }

    /// The number of attributes.
    pub fn width(&self) -> usize {
        match self {
            Features::Sparse(rows) => rows.width,
            Features::Dense(matrix) => matrix.columns(),
        }
    }

    /// The number of nodes.
    pub fn rows(&self) -> usize {
        match self {
            Features::Sparse(rows) => rows.offsets.len() - 1,
            Features::Dense(matrix) => matrix.rows(),
        }
    }
}

/// Rows of attributes, each column beside its value. A clone shares them.
#[derive(Clone, Debug)]
pub struct SparseRows {
    width: usize,
    offsets: Arc<[u64]>,
    entries: Arc<[Entry<f32>]>,
}

impl SparseRows {
    /// The same rows in this form, scaled.
    pub fn new(attributes: &Attributes, scaling: Scaling) -> Self {
        let mut entries = Vec::with_capacity(attributes.entries());
        for node in 0..attributes.rows() as NodeId {
            entries.extend(scaled(attributes, node, scaling));
        }
        SparseRows { width: attributes.width(), offsets: attributes.offsets().into(), entries: entries.into() }
    }

    /// Attributes of a node that are not zero, on average.
    pub fn mean_entries(&self) -> f64 {
        self.entries.len() as f64 / (self.offsets.len() - 1).max(1) as f64
    }

    /// The attributes of a node that are not zero.
    #[inline]
    pub fn row(&self, node: NodeId) -> &[Entry<f32>] {
        let node = node as usize;
        &self.entries[self.offsets[node] as usize..self.offsets[node + 1] as usize]
    }
}

fn dense(attributes: &Attributes, scaling: Scaling) -> Matrix<f32> {
    let mut matrix = Matrix::zeros(attributes.rows(), attributes.width());
    for row in 0..attributes.rows() {
        let out = matrix.row_mut(row);
        scaled(attributes, row as NodeId, scaling).for_each(|entry| out[entry.index as usize] = entry.weight);
    }
    matrix
}

/// A row's entries, scaled.
fn scaled(attributes: &Attributes, node: NodeId, scaling: Scaling) -> impl Iterator<Item = Entry<f32>> {
    let (columns, values) = attributes.row(node);
    let length = match scaling {
        Scaling::Raw => 1.0,
        Scaling::Unit => values.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt(),
    };
    let entry = move |(&index, &value)| Entry { index, weight: (f64::from(value) / length) as f32 };
    columns.iter().zip(values).map(entry)
}

/// The attributes of some nodes.
#[derive(Clone, Debug)]
pub enum Inputs<T: Real> {
    /// By row for the forward pass, by column for the backward pass.
    Sparse {
        /// An entry per node.
        rows: Lists<T>,
        /// An entry per attribute of `touched`.
        columns: Lists<T>,
        /// The attributes whose weights a step moves, in rising order.
        touched: Vec<u32>,
        /// Scratch of the counting sort, zero between uses.
        counts: Vec<u32>,
    },
    /// Rows of a matrix.
    Dense {
        /// All nodes' rows.
        all: Arc<Matrix<T>>,
        /// Whose rows are meant.
        nodes: Vec<NodeId>,
        /// These rows after dropout, where there is any.
        dropped: Option<Matrix<T>>,
    },
}

/// Lists of entries, one after the other.
#[derive(Clone, Debug)]
pub struct Lists<T> {
    offsets: Vec<u32>,
    entries: Vec<Entry<T>>,
}

impl<T> Lists<T> {
    fn empty() -> Self {
        Lists { offsets: vec![0], entries: Vec::new() }
    }

    /// The entries of a list.
    #[inline(always)]
    pub fn get(&self, list: usize) -> &[Entry<T>] {
        &self.entries[self.offsets[list] as usize..self.offsets[list + 1] as usize]
    }

    /// How many lists there are.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no list.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Which attributes' weights a step moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    /// None: there is no backward pass.
    None,
    /// Those that occur in the batch.
    Touched,
    /// All.
    All,
}

impl<T: Real> Inputs<T> {
    /// Room for inputs of these features.
    pub fn new(features: &Features) -> Self {
        match features {
            Features::Dense(matrix) => Inputs::Dense { all: T::shared(matrix), nodes: Vec::new(), dropped: None },
            Features::Sparse(all) => Inputs::Sparse {
                rows: Lists::empty(),
                columns: Lists::empty(),
                touched: Vec::new(),
                counts: vec![0; all.width],
            },
        }
    }

    /// Dense rows as the left factor of a product, or transposed; `None` where they are sparse.
    pub(super) fn dense(&self, transposed: bool) -> Option<Left<'_, T>> {
        match (self, transposed) {
            (Inputs::Dense { dropped: Some(rows), .. }, false) => Some(Left::Plain(rows)),
            (Inputs::Dense { dropped: Some(rows), .. }, true) => Some(Left::Transposed(rows)),
            (Inputs::Dense { all, nodes, .. }, false) => Some(Left::Rows(all, nodes)),
            (Inputs::Dense { all, nodes, .. }, true) => Some(Left::TransposedRows(all, nodes)),
            (Inputs::Sparse { .. }, _) => None,
        }
    }

    /// Takes up the attributes of `nodes`. `features` must be those it was made for.
    pub fn gather(&mut self, features: &Features, nodes: &[NodeId], dropout: Option<Dropout>, columns: Columns) {
        match (self, features) {
            (Inputs::Dense { all, nodes: own, dropped }, Features::Dense(_)) => {
                own.clear();
                own.extend_from_slice(nodes);
                match dropout.filter(|dropout| dropout.attributes > 0.0) {
                    Some(dropout) => {
                        let room = dropped.get_or_insert_with(|| Matrix::zeros(0, all.columns()));
                        gather_dense(room, all, nodes, dropout);
                    }
                    None => *dropped = None,
                }
            }
            (Inputs::Sparse { rows, columns: lists, touched, counts }, Features::Sparse(all)) => {
                gather_sparse(rows, all, nodes, dropout);
                transpose(rows, columns, lists, touched, counts);
            }
            _ => unreachable!("inputs belong to the features they were made for"),
        }
    }
}

fn gather_dense<T: Real>(out: &mut Matrix<T>, all: &Matrix<T>, nodes: &[NodeId], dropout: Dropout) {
    out.resize_rows(nodes.len());
    let width = out.row_chunks();
    let tasks = out.chunks_mut().par_chunks_mut(ROWS_PER_TASK * width).zip(nodes.par_chunks(ROWS_PER_TASK));
    tasks.enumerate().for_each(|(task, (rows, nodes))| {
        for (index, (row, &node)) in rows.chunks_exact_mut(width).zip(nodes).enumerate() {
            row.copy_from_slice(all.chunk_row(node as usize));
            keep_at_random(row, dropout.attributes, dropout.seed(0, task * ROWS_PER_TASK + index));
        }
    });
}

fn gather_sparse<T: Real>(out: &mut Lists<T>, all: &SparseRows, nodes: &[NodeId], dropout: Option<Dropout>) {
    out.offsets.truncate(1);
    out.entries.clear();
    let dropout = dropout.filter(|dropout| dropout.attributes > 0.0);
    for (place, &node) in nodes.iter().enumerate() {
        if let Some(&soon) = nodes.get(place + ROWS_AHEAD) {
            prefetch(all.row(soon));
        }
        let row = all.row(node);
        match dropout {
            Some(dropout) => drop_entries(out, row, dropout.attributes, dropout.seed(0, place)),
            None => out.entries.extend(row.iter().map(converted)),
        }
        out.offsets.push(out.entries.len() as u32);
    }
}

#[inline(always)]
fn converted<T: Real>(entry: &Entry<f32>) -> Entry<T> {
    Entry { index: entry.index, weight: T::of(f64::from(entry.weight)) }
}

/// Keeps entries with probability `1 − share` and divides them by it.
fn drop_entries<T: Real>(out: &mut Lists<T>, row: &[Entry<f32>], share: f32, seed: u64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let threshold = u64::from(threshold(share));
    let scale = T::of(1.0 / kept_share(share));
    // Every entry is written at the end and stays if it is kept: no branch that cannot be foretold.
    let start = out.entries.len();
    out.entries.resize(start + row.len(), Entry::default());
    let room = &mut out.entries[start..];
    let mut kept = 0;
    for entries in row.chunks(8) {
        let mut bits = random.next_u64();
        for entry in entries {
            let entry: Entry<T> = converted(entry);
            room[kept] = Entry { weight: entry.weight * scale, ..entry };
            kept += usize::from(bits & 0xFF >= threshold);
            bits >>= 8;
        }
    }
    out.entries.truncate(start + kept);
}

/// Counting sort of the entries by column; rows stay in order within a column.
fn transpose<T: Real>(
    rows: &Lists<T>,
    wanted: Columns,
    columns: &mut Lists<T>,
    touched: &mut Vec<u32>,
    counts: &mut [u32],
) {
    touched.clear();
    columns.offsets.truncate(1);
    if wanted == Columns::None {
        return;
    }
    for entry in &rows.entries {
        counts[entry.index as usize] += 1;
    }
    let all = 0..counts.len() as u32;
    if wanted == Columns::All {
        touched.extend(all);
    } else if rows.entries.len() >= counts.len() / 8 {
        touched.extend(all.filter(|&column| counts[column as usize] > 0));
    } else {
        touched.extend(rows.entries.iter().map(|entry| entry.index));
        touched.sort_unstable();
        touched.dedup();
    }
    let mut start = 0;
    for &column in touched.iter() {
        let count = &mut counts[column as usize];
        let end = start + *count;
        *count = start;
        columns.offsets.push(end);
        start = end;
    }
    // Every place is written below, so what it held before does not matter.
    columns.entries.resize(rows.entries.len(), Entry::default());
    place_entries(rows, counts, &mut columns.entries);
    for &column in touched.iter() {
        counts[column as usize] = 0;
    }
}

/// Entries between asking for a place and writing to it.
const ENTRIES_AHEAD: usize = 24;

/// Puts each entry into the list of its column, whose next free place is in `next`.
fn place_entries<T: Real>(rows: &Lists<T>, next: &mut [u32], out: &mut [Entry<T>]) {
    for row in 0..rows.len() {
        let range = rows.offsets[row] as usize..rows.offsets[row + 1] as usize;
        for place in range {
            if let Some(soon) = rows.entries.get(place + ENTRIES_AHEAD) {
                prefetch_to_write(out, next[soon.index as usize] as usize);
            }
            let entry = rows.entries[place];
            let free = &mut next[entry.index as usize];
            out[*free as usize] = T::entry(row as u32, entry.weight);
            *free += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes() -> Attributes {
        let rows = (0..40_u32).map(|row| (0..50).filter(|c| (c * row) % 7 == 3).map(|c| (c, 1.0 + c as f32)).collect());
        Attributes::from_rows(50, &rows.collect::<Vec<_>>()).unwrap()
    }

    fn entries(lists: &Lists<f32>, name: impl Fn(usize) -> u32, swap: bool) -> Vec<(u32, u32, u32)> {
        let mut all: Vec<_> = (0..lists.len())
            .flat_map(|list| {
                let pairs = lists.get(list).iter().map(|entry| (entry.index, entry.weight.to_bits()));
                pairs
                    .map(|(index, weight)| if swap { (index, name(list), weight) } else { (name(list), index, weight) })
                    .collect::<Vec<_>>()
            })
            .collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn columns_hold_the_same_entries_as_rows() {
        let features = Features::new(&attributes(), Scaling::Unit);
        for (share, wanted) in [(0.0, Columns::Touched), (0.4, Columns::Touched), (0.4, Columns::All)] {
            let mut inputs = Inputs::<f32>::new(&features);
            let dropout = Dropout { attributes: share, ..Dropout::none(5) };
            for nodes in [vec![3, 4, 9, 30], vec![1, 2], (0..40).collect()] {
                inputs.gather(&features, &nodes, Some(dropout), wanted);
                let Inputs::Sparse { rows, columns, touched, .. } = &inputs else { panic!("sparse") };
                let by_row = entries(rows, |row| row as u32, false);
                let by_column = entries(columns, |column| touched[column], true);
                assert_eq!(by_row, by_column);
                assert_eq!(wanted == Columns::All, touched.len() == 50);
            }
        }
    }

    #[test]
    fn rows_are_scaled_to_length_one_and_empty_rows_stay_empty() {
        let Features::Sparse(scaled) = Features::new(&attributes(), Scaling::Unit) else { panic!("sparse") };
        for row in 0..40 {
            let square: f32 = scaled.row(row).iter().map(|entry| entry.weight * entry.weight).sum();
            assert!(scaled.row(row).is_empty() || (square - 1.0).abs() < 1e-6);
        }
        assert!(scaled.row(0).is_empty());
    }

    #[test]
    fn dropped_entries_are_a_share_of_all_and_the_sum_is_kept() {
        let rows = vec![(0..1000).map(|column| (column, 1.0)).collect::<Vec<_>>(); 20];
        let all = SparseRows::new(&Attributes::from_rows(10_000, &rows).unwrap(), Scaling::Raw);
        let mut lists = Lists::<f32>::empty();
        let nodes: Vec<NodeId> = (0..20).collect();
        gather_sparse(&mut lists, &all, &nodes, Some(Dropout { attributes: 0.3, ..Dropout::none(1) }));
        let kept = lists.entries.len() as f32 / 20_000.0;
        let sum = lists.entries.iter().map(|entry| entry.weight).sum::<f32>() / 20_000.0;
        assert!((kept - 0.7).abs() < 0.02 && (sum - 1.0).abs() < 0.03, "{kept} {sum}");
    }
}
