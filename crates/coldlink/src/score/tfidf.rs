//! tf-idf vectors of nodes, of length 1: of their sparse attributes, for numbers of a vector are no words.

use std::sync::{Arc, OnceLock};

use super::field::Field;
use crate::graph::{Attributes, NodeId};
use crate::kernel::Entry;
use crate::split::TrainView;
use crate::storage::Buffer;

/// A sparse row per node, of length 1, or empty.
#[derive(Clone, Debug)]
pub struct TfIdfRows {
    /// A weight per sparse attribute.
    idf: Buffer<f32>,
    offsets: Buffer<u64>,
    entries: Buffer<Entry<f32>>,
    /// The same by attribute, made when first asked for.
    by_attribute: Arc<OnceLock<ByAttribute>>,
}

#[derive(Debug)]
struct ByAttribute {
    offsets: Vec<usize>,
    entries: Vec<Entry<f32>>,
}

impl TfIdfRows {
    /// Of all rows of a view's attributes; idf comes from its visible nodes alone.
    pub fn of(view: &TrainView<'_>) -> Self {
        let idf: Vec<f32> = inverse_document_frequencies(view).into_iter().map(|weight| weight as f32).collect();
        TfIdfRows::weighted(view.attributes(), idf.into())
    }

    /// Of new nodes, with the idf of these.
    pub fn of_new(&self, attributes: &Attributes) -> Self {
        TfIdfRows::weighted(attributes, self.idf.clone())
    }

    fn weighted(attributes: &Attributes, idf: Buffer<f32>) -> Self {
        let mut offsets = vec![0];
        let mut entries = Vec::with_capacity(attributes.entries());
        for node in 0..attributes.rows() as NodeId {
            let (columns, values) = attributes.row(node);
            // Attributes beyond those are of a dense part, whatever form they came in.
            let weighted = columns.iter().zip(values).take_while(|entry| (*entry.0 as usize) < idf.len());
            let weighted =
                weighted.map(|(&column, &value)| (column, f64::from(value) * f64::from(idf[column as usize])));
            let square: f64 = weighted.clone().map(|(_, value)| value * value).sum();
            if square > 0.0 {
                let scale = 1.0 / square.sqrt();
                entries.extend(weighted.map(|(index, value)| Entry { index, weight: (value * scale) as f32 }));
            }
            offsets.push(entries.len() as u64);
        }
        TfIdfRows::of_arrays(idf, offsets.into(), entries.into())
    }

    /// From its parts, if they fit together.
    pub fn from_parts(
        idf: Buffer<f32>,
        offsets: Buffer<u64>,
        entries: Buffer<Entry<f32>>,
    ) -> Result<Self, &'static str> {
        let rising = offsets.first() == Some(&0) && offsets.is_sorted();
        if !rising || offsets.last() != Some(&(entries.len() as u64)) {
            return Err("the tf-idf rows do not fit their offsets");
        }
        if entries.iter().any(|entry| entry.index as usize >= idf.len()) {
            return Err("a tf-idf row names an attribute that there is none of");
        }
        if entries.iter().map(|entry| entry.weight).chain(idf.iter().copied()).any(|value| !value.is_finite()) {
            return Err("a tf-idf row has a value that is not a number");
        }
        let rows = offsets.windows(2).map(|ends| &entries[ends[0] as usize..ends[1] as usize]);
        if !rows.into_iter().all(|row| row.is_sorted_by(|a, b| a.index < b.index)) {
            return Err("a tf-idf row is not in order");
        }
        Ok(TfIdfRows::of_arrays(idf, offsets, entries))
    }

    /// Rows of several, one after the other; all have the weights of the first.
    pub(crate) fn concatenated(parts: &[&TfIdfRows]) -> Option<Self> {
        let idf = parts.first()?.idf.clone();
        let (mut offsets, mut entries) =
            (vec![0], Vec::with_capacity(parts.iter().map(|part| part.entries.len()).sum()));
        for part in parts {
            let start = entries.len() as u64;
            offsets.extend(part.offsets[1..].iter().map(|offset| start + offset));
            entries.extend_from_slice(part.entries());
        }
        Some(TfIdfRows::of_arrays(idf, offsets.into(), entries.into()))
    }

    fn of_arrays(idf: Buffer<f32>, offsets: Buffer<u64>, entries: Buffer<Entry<f32>>) -> Self {
        TfIdfRows { idf, offsets, entries, by_attribute: Arc::default() }
    }

    /// Rows with the weights of these, from arrays, if they fit together.
    pub fn with_rows(&self, offsets: Buffer<u64>, entries: Buffer<Entry<f32>>) -> Result<Self, &'static str> {
        TfIdfRows::from_parts(self.idf.clone(), offsets, entries)
    }

    /// The weight of each attribute.
    pub fn idf(&self) -> &[f32] {
        &self.idf
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Where each row starts among [`TfIdfRows::entries`].
    pub fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// All rows one after the other.
    pub fn entries(&self) -> &[Entry<f32>] {
        &self.entries
    }

    /// A node's row, by rising attribute.
    pub fn row(&self, node: usize) -> &[Entry<f32>] {
        &self.entries[self.offsets[node] as usize..self.offsets[node + 1] as usize]
    }

    /// Rows with the weights of these.
    pub(crate) fn of_rows<'r>(&self, rows: impl Iterator<Item = &'r [Entry<f32>]>) -> Self {
        let (mut offsets, mut entries) = (vec![0], Vec::new());
        for row in rows {
            entries.extend_from_slice(row);
            offsets.push(entries.len() as u64);
        }
        TfIdfRows::of_arrays(self.idf.clone(), offsets.into(), entries.into())
    }

    /// A row with its zeros.
    pub(super) fn spread(&self, row: &[Entry<f32>]) -> Vec<f32> {
        let mut spread = vec![0.0; self.idf.len()];
        row.iter().for_each(|entry| spread[entry.index as usize] = entry.weight);
        spread
    }

    /// The inner product of `row` with every row: only what both have is touched.
    pub fn products(&self, row: &[Entry<f32>]) -> Vec<f32> {
        let mut products = vec![0.0; self.rows()];
        for entry in row {
            for other in self.with_attribute(entry.index) {
                products[other.index as usize] += entry.weight * other.weight;
            }
        }
        products
    }

    /// The same, added to a field.
    pub(super) fn products_into(&self, row: &[Entry<f32>], products: &mut Field) {
        for entry in row {
            for other in self.with_attribute(entry.index) {
                products.add(other.index, entry.weight * other.weight);
            }
        }
    }

    /// Roughly the same, from the attributes of `row` that weigh most and are rarest: from no more than `most` entries of other rows.
    pub(super) fn rough_products_into(&self, row: &[Entry<f32>], most: usize, products: &mut Field) {
        let mut heaviest: Vec<&Entry<f32>> = row.iter().collect();
        heaviest.sort_unstable_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()).then(a.index.cmp(&b.index)));
        let mut left = most;
        for entry in heaviest {
            let others = self.with_attribute(entry.index);
            let Some(rest) = left.checked_sub(others.len()) else { continue };
            left = rest;
            others.iter().for_each(|other| products.add(other.index, entry.weight * other.weight));
        }
    }

    /// The rows that have an attribute, with its weight in each.
    fn with_attribute(&self, attribute: u32) -> &[Entry<f32>] {
        let by_attribute = self.by_attribute.get_or_init(|| self.transposed());
        let ends = &by_attribute.offsets[attribute as usize..][..2];
        &by_attribute.entries[ends[0]..ends[1]]
    }

    /// Bytes that are made for products, which are in no file.
    pub(crate) fn held_bytes(&self) -> usize {
        let of = |made: &ByAttribute| size_of_val(&made.offsets[..]) + size_of_val(&made.entries[..]);
        self.by_attribute.get().map_or(0, of)
    }

    /// Does now what the first product would do.
    pub(crate) fn prepare(&self) {
        self.by_attribute.get_or_init(|| self.transposed());
    }

    fn transposed(&self) -> ByAttribute {
        let mut offsets = vec![0; self.idf.len() + 1];
        for entry in &*self.entries {
            offsets[entry.index as usize + 1] += 1;
        }
        for attribute in 0..self.idf.len() {
            offsets[attribute + 1] += offsets[attribute];
        }
        let mut next = offsets.clone();
        let mut entries = vec![Entry::default(); self.entries.len()];
        for node in 0..self.rows() {
            for entry in self.row(node) {
                let slot = &mut next[entry.index as usize];
                entries[*slot] = Entry { index: node as u32, weight: entry.weight };
                *slot += 1;
            }
        }
        ByAttribute { offsets, entries }
    }
}

/// A weight per sparse attribute, ln((1 + N) / (1 + df)) + 1 over the visible rows, unless its column says otherwise.
pub(crate) fn inverse_document_frequencies(view: &TrainView) -> Vec<f64> {
    let attributes = view.attributes();
    let mut documents = 0_u64;
    // What an attribute says in one role is no further word.
    let mut frequencies = vec![0_u64; view.shared_width()];
    // A node is one document, however many roles it has.
    let nodes = (0..attributes.rows() as NodeId).step_by(view.roles().count());
    for node in nodes.filter(|&node| view.is_visible(node)) {
        documents += 1;
        let (columns, values) = attributes.row(node);
        let shared = columns.partition_point(|&column| (column as usize) < frequencies.len());
        for (&column, _) in columns[..shared].iter().zip(values).filter(|entry| *entry.1 != 0.0) {
            frequencies[column as usize] += 1;
        }
    }
    let idf = |df: u64| ((1 + documents) as f64 / (1 + df) as f64).ln() + 1.0;
    let known = |column: usize| view.preparation().and_then(|fitted| fitted.word_weight(column)).map(f64::from);
    frequencies.into_iter().enumerate().map(|(column, df)| known(column).unwrap_or_else(|| idf(df))).collect()
}

impl PartialEq for TfIdfRows {
    fn eq(&self, other: &Self) -> bool {
        *self.idf == *other.idf && self.offsets() == other.offsets() && self.entries() == other.entries()
    }
}

/// The inner product of two rows.
pub(super) fn inner(mut a: &[Entry<f32>], mut b: &[Entry<f32>]) -> f32 {
    let mut sum = 0.0;
    while let ([first, a_rest @ ..], [second, b_rest @ ..]) = (a, b) {
        match first.index.cmp(&second.index) {
            std::cmp::Ordering::Less => a = a_rest,
            std::cmp::Ordering::Greater => b = b_rest,
            std::cmp::Ordering::Equal => {
                sum += first.weight * second.weight;
                (a, b) = (a_rest, b_rest);
            }
        }
    }
    sum
}
