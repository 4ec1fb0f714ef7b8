//! The end of the first reading of a table: columns and values are put in order, and rows take their final form.

use std::collections::HashMap;
use std::ops::Range;

use super::encode::{Encoded, Encoder, NO_TYPE, Owners, Reader, Target, Vectors, node_types};
use super::kind::ColumnKind;
use super::lookup::{Lookup, bucket};
use super::schema::{Column, Values};
use crate::graph::NodeTypes;

impl Encoder<'_> {
    /// The rows, and the columns with the values that were collected.
    pub fn end_collecting(self) -> (Vec<Column>, Encoded) {
        let owners = self.owners();
        let silent = self.silent(&owners);
        let Encoder { readers, types, next, mut out, .. } = self;
        let mut numbering = Numbering { finals: vec![0; next as usize], ..Numbering::default() };
        let mut columns = Vec::new();
        for (reader, of) in readers.into_iter().zip(owners) {
            columns.push(numbering.column(reader, of, out.rows()));
        }
        numbering.rewrite(&mut out, &silent, &types);
        for (first, vectors) in &numbering.sparse {
            insert(&mut out, *first, vectors);
        }
        (out.dense, out.dense_width) = dense_rows(numbering.dense, out.rows());
        if let Some((first, column)) = numbering.types.map(|(first, place)| (first, &columns[place])) {
            let Values::Listed(names) = &column.values else { unreachable!("node types are never hashed") };
            if names.len() > NodeTypes::MOST {
                out.mismatches.too_many_types = Some((column.name.clone(), names.len()));
            }
            let place = |number: u32| (numbering.finals[number as usize] - first) as usize;
            out.types = node_types(names.clone(), &types, place);
        }
        (columns, out)
    }

    /// For each reader the node types that have its column; none where all do, or none does.
    fn owners(&self) -> Vec<Vec<String>> {
        let all = self.type_numbers().map_or(0, HashMap::len);
        let of = |reader: &Reader<'_>| match &reader.owners {
            Owners::Found(types) if types.len() < all && all <= NodeTypes::MOST => {
                types.iter().map(|name| (**name).into()).collect()
            }
            _ => Vec::new(),
        };
        self.readers.iter().map(of).collect()
    }

    /// For the number of a node type the numbers that would say of columns which it does not have that they are missing.
    fn silent(&self, owners: &[Vec<String>]) -> HashMap<u32, Vec<u32>> {
        let mut silent: HashMap<u32, Vec<u32>> = HashMap::new();
        let Some(types) = self.type_numbers() else { return silent };
        for (reader, of) in self.readers.iter().zip(owners).filter(|(_, of)| !of.is_empty()) {
            let Some(missing) = reader.missing() else { continue };
            for (name, &number) in types {
                if !of.iter().any(|of| **of == **name) {
                    silent.entry(number).or_default().push(missing);
                }
            }
        }
        silent
    }

    /// The node types, and the number that each was given.
    fn type_numbers(&self) -> Option<&HashMap<Box<str>, u32>> {
        let tells = self.readers.iter().find(|reader| reader.kind == ColumnKind::Type {})?;
        match &tells.target {
            Target::Values { lookup: Lookup::Growing { numbers, .. }, .. } => Some(numbers),
            _ => None,
        }
    }
}

/// Where the attributes of columns come to stand, column by column.
#[derive(Default)]
struct Numbering {
    /// From the numbers that were given while rows were read.
    finals: Vec<u32>,
    /// Sparse attributes so far.
    width: u32,
    columns: usize,
    /// Attributes whose values count repetitions.
    counted: Vec<Range<u32>>,
    /// Vectors that few rows have, and their first attribute.
    sparse: Vec<(u32, Vectors)>,
    /// The other vectors.
    dense: Vec<Vectors>,
    /// The first attribute of the column that tells node types, and the column's place.
    types: Option<(u32, usize)>,
}

impl Numbering {
    fn column(&mut self, reader: Reader<'_>, of: Vec<String>, rows: usize) -> Column {
        let Reader { name, kind, target, .. } = reader;
        let (first, mut encoder) = (self.width, None);
        let values = match target {
            Target::Parts { first: from, parts } => {
                self.shift(from, parts.parts.len() as u32 + 1);
                Values::None
            }
            Target::Values { lookup, .. } => self.values(lookup),
            // As a row of the dense part a vector takes half the room, if the row has one.
            Target::Collected(vectors) if 2 * vectors.rows.len() >= rows && vectors.size > 0 => {
                let size = vectors.size as u32;
                encoder.clone_from(&vectors.source.0);
                self.dense.push(vectors);
                Values::Dense(size)
            }
            Target::Collected(vectors) => {
                let size = vectors.size as u32;
                encoder.clone_from(&vectors.source.0);
                self.sparse.push((first, vectors));
                Values::Numbers(size)
            }
            Target::Shared { .. } => Values::Shared,
            Target::Nothing | Target::Sparse { .. } | Target::Dense { .. } => Values::None,
        };
        let column = Column { name, kind, values, of, vectors: encoder };
        if !matches!(column.values, Values::Dense(_)) {
            self.width += column.width() as u32;
        }
        if column.counts_repetitions() {
            self.counted.push(first..self.width);
        }
        if column.kind == (ColumnKind::Type {}) {
            self.types = Some((first, self.columns));
        }
        self.columns += 1;
        column
    }

    /// Gives numbers that follow one another the next places.
    fn shift(&mut self, from: u32, count: u32) {
        (0..count).for_each(|number| self.finals[(from + number) as usize] = self.width + number);
    }

    fn values(&mut self, lookup: Lookup<'_>) -> Values {
        match lookup {
            Lookup::Growing { numbers, .. } => {
                let mut listed: Vec<(Box<str>, u32)> = numbers.into_iter().collect();
                listed.sort_unstable();
                for (place, (_, number)) in listed.iter().enumerate() {
                    self.finals[*number as usize] = self.width + place as u32;
                }
                Values::Listed(listed.into_iter().map(|(value, _)| value.into()).collect())
            }
            Lookup::Spilled { collected, first, buckets } => {
                for (value, number) in &collected {
                    self.finals[*number as usize] = self.width + bucket(value, buckets);
                }
                self.shift(first, buckets);
                Values::Hashed(buckets)
            }
            Lookup::Known { .. } | Lookup::Hashed { .. } => Values::None,
        }
    }

    /// Puts the final numbers into all rows, in place: no row becomes longer.
    fn rewrite(&self, out: &mut Encoded, silent: &HashMap<u32, Vec<u32>>, types: &[u32]) {
        let mut row: Vec<(u32, f32)> = Vec::new();
        let (mut written, mut start) = (0, 0);
        for (number, end) in out.offsets.iter_mut().skip(1).enumerate() {
            let range = start..*end as usize;
            start = *end as usize;
            row.clear();
            let node_type = types.get(number).copied().unwrap_or(NO_TYPE);
            let silenced = silent.get(&node_type).map_or(&[][..], Vec::as_slice);
            let speaks = |place: &usize| !silenced.contains(&out.columns[*place]);
            row.extend(range.filter(speaks).map(|place| (self.finals[out.columns[place] as usize], out.values[place])));
            row.sort_by_key(|entry| entry.0);
            row.dedup_by(|next, kept| {
                next.0 == kept.0 && {
                    let counted = self.counted.iter().any(|columns| columns.contains(&kept.0));
                    kept.1 = in_one_bucket(kept.1, next.1, counted);
                    true
                }
            });
            for &(column, value) in &row {
                (out.columns[written], out.values[written]) = (column, value);
                written += 1;
            }
            *end = written as u64;
        }
        out.columns.truncate(written);
        out.values.truncate(written);
    }
}

/// What two values of a row count that are one attribute: as if they were the same, so that new rows count the same.
pub(super) fn in_one_bucket(one: f32, other: f32, counted: bool) -> f32 {
    if counted { 1.0 + ((one - 1.0).exp() + (other - 1.0).exp()).ln() } else { 1.0 }
}

/// Adds vectors to the rows that have one, as attributes from `first` on.
fn insert(out: &mut Encoded, first: u32, vectors: &Vectors) {
    let room = out.columns.len() + vectors.numbers.len();
    let (mut columns, mut values) = (Vec::with_capacity(room), Vec::with_capacity(room));
    let mut lists = vectors.rows.iter().zip(vectors.numbers.chunks_exact(vectors.size.max(1))).peekable();
    let mut start = 0;
    for row in 0..out.rows() {
        let end = out.offsets[row + 1] as usize;
        let middle = start + out.columns[start..end].partition_point(|&column| column < first);
        columns.extend_from_slice(&out.columns[start..middle]);
        values.extend_from_slice(&out.values[start..middle]);
        if let Some((_, list)) = lists.next_if(|(with, _)| **with as usize == row) {
            columns.extend((first..).take(list.len()));
            values.extend_from_slice(list);
        }
        columns.extend_from_slice(&out.columns[middle..end]);
        values.extend_from_slice(&out.values[middle..end]);
        out.offsets[row + 1] = columns.len() as u64;
        start = end;
    }
    (out.columns, out.values) = (columns, values);
}

/// Vectors side by side, zeros where a row has none; and how many numbers a row has.
fn dense_rows(mut columns: Vec<Vectors>, rows: usize) -> (Vec<f32>, usize) {
    let width = columns.iter().map(|vectors| vectors.size).sum();
    if let [only] = &mut columns[..]
        && only.rows.len() == rows
    {
        return (std::mem::take(&mut only.numbers), width);
    }
    let mut dense = vec![0.0; rows * width];
    let mut first = 0;
    for Vectors { size, rows, numbers, .. } in columns {
        for (&row, list) in rows.iter().zip(numbers.chunks_exact(size)) {
            dense[row as usize * width + first..][..size].copy_from_slice(list);
        }
        first += size;
    }
    (dense, width)
}
