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

/// The layer that stands for the dense part beside a sparse one where random choices are made; layer 0 stands for the sparse one.
const DENSE_PART: usize = usize::MAX;

/// All attributes, scaled as the model wants them. A clone shares them.
#[derive(Clone, Debug)]
pub enum Features {
    /// Few entries a row.
    Sparse(SparseRows),
    /// Many.
    Dense(Arc<Matrix<f32>>),
    /// Few entries a row in the first columns, and a vector in the last ones.
    Mixed(SparseRows, Arc<Matrix<f32>>),
}

impl Features {
    /// Scales attributes and chooses their form.
    pub fn new(attributes: &Attributes, scaling: Scaling) -> Self {
        let bytes = attributes.rows() * attributes.width().next_multiple_of(LANES) * 4;
        let only_dense = attributes.sparse_width() == 0 && attributes.dense_width() > 0;
        if only_dense || attributes.density() >= DENSE_FROM && bytes <= DENSE_BYTES {
            Features::Dense(Arc::new(dense(attributes, scaling, 0)))
        } else if attributes.dense_width() > 0 {
            let sparse = SparseRows::upto(attributes, scaling, attributes.sparse_width());
            Features::Mixed(sparse, Arc::new(dense(attributes, scaling, attributes.sparse_width() as u32)))
        } else {
            Features::Sparse(SparseRows::new(attributes, scaling))
        }
    }

    /// The number of attributes.
    pub fn width(&self) -> usize {
        match self {
            Features::Sparse(rows) => rows.width,
            Features::Dense(matrix) => matrix.columns(),
            Features::Mixed(rows, matrix) => rows.width + matrix.columns(),
        }
    }

    /// The number of nodes.
    pub fn rows(&self) -> usize {
        match self {
            Features::Sparse(rows) => rows.offsets.len() - 1,
            Features::Dense(matrix) | Features::Mixed(_, matrix) => matrix.rows(),
        }
    }

    /// The attributes of a node that are not zero.
    pub fn row(&self, node: NodeId) -> Vec<(u32, f32)> {
        let sparse = |rows: &SparseRows| rows.row(node).iter().map(|entry| (entry.index, entry.weight)).collect();
        let dense = |matrix: &Matrix<f32>, first: usize| {
            let all = (first as u32..).zip(matrix.row(node as usize).iter().copied());
            all.filter(|entry| entry.1 != 0.0).collect::<Vec<_>>()
        };
        match self {
            Features::Sparse(rows) => sparse(rows),
            Features::Dense(matrix) => dense(matrix, 0),
            Features::Mixed(rows, matrix) => [sparse(rows), dense(matrix, rows.width)].concat(),
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
    /// All attributes in this form, scaled.
    pub fn new(attributes: &Attributes, scaling: Scaling) -> Self {
        SparseRows::upto(attributes, scaling, attributes.width())
    }

    /// The first `width` of them.
    fn upto(attributes: &Attributes, scaling: Scaling, width: usize) -> Self {
        let mut offsets = Vec::with_capacity(attributes.rows() + 1);
        let mut entries = Vec::with_capacity(attributes.entries());
        offsets.push(0);
        for node in 0..attributes.rows() as NodeId {
            entries.extend(scaled(attributes, node, scaling).take_while(|entry| (entry.index as usize) < width));
            offsets.push(entries.len() as u64);
        }
        SparseRows { width, offsets: offsets.into(), entries: entries.into() }
    }

    /// The number of attributes.
    pub fn width(&self) -> usize {
        self.width
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

/// The attributes from `first` on as a matrix.
fn dense(attributes: &Attributes, scaling: Scaling, first: u32) -> Matrix<f32> {
    let mut matrix = Matrix::zeros(attributes.rows(), attributes.width() - first as usize);
    for row in 0..attributes.rows() {
        let out = matrix.row_mut(row);
        let entries = scaled(attributes, row as NodeId, scaling).filter(|entry| entry.index >= first);
        entries.for_each(|entry| out[(entry.index - first) as usize] = entry.weight);
    }
    matrix
}

/// A row's entries, scaled.
fn scaled(attributes: &Attributes, node: NodeId, scaling: Scaling) -> impl Iterator<Item = Entry<f32>> {
    let entries = attributes.iter_row(node);
    let length = match scaling {
        Scaling::Raw => 1.0,
        Scaling::Unit => entries.clone().map(|(_, value)| f64::from(value).powi(2)).sum::<f64>().sqrt(),
    };
    // A row of zeros has no length to be measured in.
    let length = if length == 0.0 { 1.0 } else { length };
    entries.map(move |(index, value)| Entry { index, weight: (f64::from(value) / length) as f32 })
}

/// The attributes of some nodes: sparse, dense, or the first ones sparse and the last ones dense.
#[derive(Clone, Debug)]
pub struct Inputs<T: Real> {
    pub(super) sparse: Option<SparseInputs<T>>,
    pub(super) dense: Option<DenseInputs<T>>,
}

/// By row for the forward pass, by column for the backward pass.
#[derive(Clone, Debug)]
pub(super) struct SparseInputs<T: Real> {
    /// An entry per node.
    pub rows: Lists<T>,
    /// An entry per attribute of `touched`.
    pub columns: Lists<T>,
    /// The attributes whose weights a step moves, in rising order.
    pub touched: Vec<u32>,
    /// Scratch of the counting sort, zero between uses.
    counts: Vec<u32>,
}

/// Rows of a matrix.
#[derive(Clone, Debug)]
pub(super) struct DenseInputs<T: Real> {
    /// All nodes' rows.
    all: Arc<Matrix<T>>,
    /// The attribute of the first column.
    pub first: usize,
    /// Whose rows are meant.
    nodes: Vec<NodeId>,
    /// These rows after dropout, where there is any.
    dropped: Option<Matrix<T>>,
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
        let (sparse, dense) = match features {
            Features::Sparse(rows) => (Some(rows), None),
            Features::Dense(matrix) => (None, Some((matrix, 0))),
            Features::Mixed(rows, matrix) => (Some(rows), Some((matrix, rows.width))),
        };
        Inputs {
            sparse: sparse.map(|rows| SparseInputs {
                rows: Lists::empty(),
                columns: Lists::empty(),
                touched: Vec::new(),
                counts: vec![0; rows.width],
            }),
            dense: dense.map(|(matrix, first)| DenseInputs {
                all: T::shared(matrix),
                first,
                nodes: Vec::new(),
                dropped: None,
            }),
        }
    }

    /// Takes up the attributes of `nodes`. `features` must be those it was made for.
    pub fn gather(&mut self, features: &Features, nodes: &[NodeId], dropout: Option<Dropout>, columns: Columns) {
        let dropout = dropout.filter(|dropout| dropout.attributes > 0.0);
        if let (Some(sparse), Features::Sparse(all) | Features::Mixed(all, _)) = (&mut self.sparse, features) {
            gather_sparse(&mut sparse.rows, all, nodes, dropout);
            transpose(&sparse.rows, columns, &mut sparse.columns, &mut sparse.touched, &mut sparse.counts);
        }
        if let Some(dense) = &mut self.dense {
            dense.gather(nodes, dropout, if self.sparse.is_some() { DENSE_PART } else { 0 });
        }
    }
}

impl<T: Real> DenseInputs<T> {
    /// How many attributes there are.
    pub fn width(&self) -> usize {
        self.all.columns()
    }

    /// The rows as the left factor of a product.
    pub fn rows(&self) -> Left<'_, T> {
        self.dropped.as_ref().map_or(Left::Rows(&self.all, &self.nodes), Left::Plain)
    }

    /// Their transpose.
    pub fn columns(&self) -> Left<'_, T> {
        self.dropped.as_ref().map_or(Left::TransposedRows(&self.all, &self.nodes), Left::Transposed)
    }

    fn gather(&mut self, nodes: &[NodeId], dropout: Option<Dropout>, layer: usize) {
        self.nodes.clear();
        self.nodes.extend_from_slice(nodes);
        let Some(dropout) = dropout else {
            self.dropped = None;
            return;
        };
        let all = &self.all;
        let out = self.dropped.get_or_insert_with(|| Matrix::zeros(0, all.columns()));
        out.resize_rows(nodes.len());
        let width = out.row_chunks();
        let tasks = out.chunks_mut().par_chunks_mut(ROWS_PER_TASK * width).zip(nodes.par_chunks(ROWS_PER_TASK));
        tasks.enumerate().for_each(|(task, (rows, nodes))| {
            for (index, (row, &node)) in rows.chunks_exact_mut(width).zip(nodes).enumerate() {
                row.copy_from_slice(all.chunk_row(node as usize));
                keep_at_random(row, dropout.attributes, dropout.seed(layer, task * ROWS_PER_TASK + index));
            }
        });
    }
}

fn gather_sparse<T: Real>(out: &mut Lists<T>, all: &SparseRows, nodes: &[NodeId], dropout: Option<Dropout>) {
    out.offsets.truncate(1);
    out.entries.clear();
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
                let SparseInputs { rows, columns, touched, .. } = inputs.sparse.as_ref().expect("sparse");
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
    fn a_dense_part_stays_beside_a_sparse_one_and_joins_a_dense_one() {
        let vectors: Vec<f32> = (0..80).map(|number| number as f32).collect();
        let names = crate::graph::AttributeNames::default;
        let few = attributes().with_dense(2, vectors.clone().into(), names()).unwrap();
        let features = Features::new(&few, Scaling::Unit);
        assert!(matches!(features, Features::Mixed(..)) && features.width() == 52 && features.rows() == 40);
        let full: Vec<Vec<_>> = (0..40).map(|row| vec![(0, 1.0 + row as f32), (1, 2.0)]).collect();
        let full = Attributes::from_rows(2, &full).unwrap().with_dense(2, vectors.into(), names()).unwrap();
        assert!(matches!(Features::new(&full, Scaling::Raw), Features::Dense(matrix) if matrix.columns() == 4));
        let all = SparseRows::new(&few, Scaling::Unit);
        for row in 0..40 {
            let entries: Vec<_> = all.row(row).iter().map(|entry| (entry.index, entry.weight)).collect();
            assert_eq!(features.row(row), entries, "the length is that of both parts");
        }
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
