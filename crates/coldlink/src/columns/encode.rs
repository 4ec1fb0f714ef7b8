//! From rows of cells to rows of attributes, while the values of columns are being collected or when they are known.
//!
//! While a table is first read, every value gets the next free number; `collected.rs` puts columns and values in order at the end.
//! So the text of a table is never held, and a table is encoded in one reading.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::cell::{Cell, Cells};
use super::collected::in_one_bucket;
use super::encoding::{Encoding, Parts, ValueColumn};
use super::kind::{ColumnKind, Columns};
use super::lookup::Lookup;
use super::mismatches::{Mismatches, UnknownValues, short};
use super::problem::CellProblem;
use super::schema::{Column, Schema, Values};
use super::vectors::TokenVectors;
use crate::graph::NodeTypes;

/// Attributes of all columns at most, words before a vocabulary is chosen included.
const MOST_ATTRIBUTES: u32 = 1 << 26;

/// Rows of attributes that grow.
#[derive(Default)]
pub(crate) struct Encoded {
    pub offsets: Vec<u64>,
    pub columns: Vec<u32>,
    pub values: Vec<f32>,
    /// The dense part, row after row.
    pub dense: Vec<f32>,
    pub dense_width: usize,
    /// The node types, where a column tells them and there are not too many.
    pub types: Option<NodeTypes>,
    pub mismatches: Mismatches,
}

impl Encoded {
    fn new(dense_width: usize) -> Self {
        Encoded { offsets: vec![0], dense_width, ..Encoded::default() }
    }

    /// How many rows there are.
    pub(super) fn rows(&self) -> usize {
        self.offsets.len() - 1
    }
}

/// Encodes rows of one table.
pub(crate) struct Encoder<'a> {
    pub(super) readers: Vec<Reader<'a>>,
    /// Where a row tells its node type.
    type_place: Option<usize>,
    /// The number of each row's node type, or [`NO_TYPE`], where a column tells it.
    pub(super) types: Vec<u32>,
    /// The next free number, while values are collected.
    pub(super) next: u32,
    pub(super) out: Encoded,
    entries: Vec<(u32, f32)>,
    /// Whether readers write to the same attributes.
    shares: bool,
    strict: bool,
}

/// How a column is read.
#[derive(Clone)]
pub(crate) struct Reading {
    /// Its place in the header.
    place: usize,
    kind: ColumnKind,
    /// What makes vectors of its texts, where they become any.
    vectors: Option<Arc<TokenVectors>>,
}

impl Reading {
    /// All readings of a column: a text with token vectors is read for its words, and again for its vector.
    pub fn of(place: usize, kind: ColumnKind, given: &Columns) -> Vec<Self> {
        let vectors = kind.encoder().and_then(|name| given.vectors.get(name)).cloned();
        let encoded = vectors.map(|vectors| {
            let kind = kind.clone().with_encoder(Some(vectors.name()));
            Reading { place, kind, vectors: Some(vectors) }
        });
        [Reading { place, kind: kind.with_encoder(None), vectors: None }].into_iter().chain(encoded).collect()
    }
}

/// Stands for the node type of a row that does not tell it.
pub(super) const NO_TYPE: u32 = u32::MAX;

/// Reads the cells of one column.
pub(super) struct Reader<'a> {
    pub name: String,
    pub kind: ColumnKind,
    /// Its cell in a row; none where the table does not have the column.
    place: Option<usize>,
    pub target: Target<'a>,
    pub owners: Owners<'a>,
}

/// Where what is read goes.
pub(super) enum Target<'a> {
    Nothing,
    /// To the attributes from `first` on.
    Parts {
        parts: Parts,
        first: u32,
    },
    Values {
        column: ValueColumn,
        lookup: Lookup<'a>,
    },
    /// To the values of an earlier reader.
    Shared {
        with: usize,
    },
    /// Lists of numbers that are being collected.
    Collected(Vectors),
    /// To so many sparse attributes from `first` on.
    Sparse {
        first: u32,
        size: usize,
        source: Source,
    },
    /// To so many numbers of the dense part from `first` on.
    Dense {
        first: usize,
        size: usize,
        source: Source,
    },
}

/// Where the vector of a cell comes from: token vectors, or the numbers that the cell lists.
#[derive(Clone, Default)]
pub(super) struct Source(pub Option<Arc<TokenVectors>>);

impl Source {
    /// Adds the numbers of a cell to a list; false, having added some or none, where it cannot be read.
    fn numbers(&self, cell: Cell<'_>, out: &mut Vec<f32>) -> bool {
        match &self.0 {
            Some(vectors) => {
                vectors.add(&cell.to_text(), out);
                true
            }
            None => cell.numbers(out),
        }
    }
}

/// Lists of numbers, one after the other, and the rows that have one.
#[derive(Default)]
pub(super) struct Vectors {
    pub source: Source,
    /// Numbers in a list; 0 before the first.
    pub size: usize,
    pub rows: Vec<u32>,
    pub numbers: Vec<f32>,
}

/// The node types that have a column.
pub(super) enum Owners<'a> {
    /// Those found so far.
    Found(BTreeSet<Box<str>>),
    /// As the schema says.
    Given(&'a Column),
}

/// What became of a cell.
enum Outcome {
    Read,
    /// Some of its values are not known.
    Unknown(UnknownValues),
    Unreadable,
}

/// What readers of a row write to.
struct Row<'a> {
    number: u32,
    next: &'a mut u32,
    entries: &'a mut Vec<(u32, f32)>,
    dense: &'a mut [f32],
}

impl Target<'_> {
    /// Adds what a cell says, sorted by attribute.
    fn read(&mut self, cell: Cell<'_>, missing: bool, row: &mut Row<'_>) -> Outcome {
        match self {
            // Those read for another reader are handed to its target.
            Target::Nothing | Target::Shared { .. } => Outcome::Read,
            Target::Parts { parts, first } => {
                let read =
                    !missing && (parts.read)(cell, &mut |part, number| row.entries.push((*first + part, number)));
                if !read {
                    row.entries.push((*first + parts.parts.len() as u32, 1.0));
                }
                if read || missing { Outcome::Read } else { Outcome::Unreadable }
            }
            Target::Values { column, lookup } => {
                let (start, mut unknown) = (row.entries.len(), UnknownValues::default());
                column.read(cell, &mut |value| {
                    let (number, new) = lookup.find(value, row.next);
                    if new && !column.open {
                        unknown.add(value);
                    }
                    row.entries.extend(number.map(|number| (number, 1.0)));
                });
                count_values(row.entries, start, column.counted);
                if unknown.values == 0 { Outcome::Read } else { Outcome::Unknown(unknown) }
            }
            _ if missing => Outcome::Read,
            Target::Collected(vectors) => vectors.read(cell, row),
            Target::Sparse { first, size, source } => {
                let mut numbers = Vec::new();
                if !source.numbers(cell, &mut numbers) || numbers.is_empty() || numbers.len() != *size {
                    return Outcome::Unreadable;
                }
                row.entries.extend((*first..).zip(numbers));
                Outcome::Read
            }
            Target::Dense { first, size, source } => {
                let mut numbers = Vec::with_capacity(*size);
                if !source.numbers(cell, &mut numbers) || numbers.len() != *size {
                    return Outcome::Unreadable;
                }
                row.dense[*first..*first + *size].copy_from_slice(&numbers);
                Outcome::Read
            }
        }
    }
}

impl Vectors {
    /// The first list says how long all are.
    fn read(&mut self, cell: Cell<'_>, row: &mut Row<'_>) -> Outcome {
        let start = self.numbers.len();
        let found = if self.source.numbers(cell, &mut self.numbers) { self.numbers.len() - start } else { 0 };
        if found == 0 || (self.size > 0 && found != self.size) {
            self.numbers.truncate(start);
            return Outcome::Unreadable;
        }
        self.size = found;
        self.rows.push(row.number);
        Outcome::Read
    }
}

/// Sorts the entries from `start` on and makes one of each: 1, or more the oftener it is there.
fn count_values(entries: &mut Vec<(u32, f32)>, start: usize, counted: bool) {
    entries[start..].sort_unstable_by_key(|entry| entry.0);
    let mut kept = start;
    for place in start..entries.len() {
        if kept > start && entries[kept - 1].0 == entries[place].0 {
            entries[kept - 1].1 += 1.0;
        } else {
            entries[kept] = entries[place];
            kept += 1;
        }
    }
    entries.truncate(kept);
    for entry in &mut entries[start..] {
        entry.1 = if counted { 1.0 + entry.1.ln() } else { 1.0 };
    }
}

impl Reader<'_> {
    fn is_missing(&self, cell: Cell<'_>) -> bool {
        cell.is_missing() || self.kind.encoding().has_missing_words() && cell.is_missing_word()
    }

    /// Whether nodes of a type have this column, as far as that is known.
    fn belongs_to(&self, node_type: &str) -> bool {
        match &self.owners {
            Owners::Found(_) => true,
            Owners::Given(column) => column.belongs_to(node_type),
        }
    }

    /// Notes that a node of this type has a value here. Nodes of all types have the column that tells them.
    fn note_owner(&mut self, node_type: &str) {
        if let (Owners::Found(types), false) =
            (&mut self.owners, node_type.is_empty() || self.kind == ColumnKind::Type {})
            && types.len() <= NodeTypes::MOST
            && !types.contains(node_type)
        {
            types.insert(node_type.into());
        }
    }

    /// Whether its table lacks a column that nodes of some types have.
    fn is_lacking(&self) -> bool {
        let lacking = |column: &Column| !column.of.is_empty() && !column.is_ignored();
        self.place.is_none() && matches!(self.owners, Owners::Given(column) if lacking(column))
    }

    /// The number that says that a value is missing.
    pub fn missing(&self) -> Option<u32> {
        match &self.target {
            Target::Parts { parts, first } => Some(first + parts.parts.len() as u32),
            _ => None,
        }
    }
}

impl<'a> Encoder<'a> {
    /// Collects the values of columns; `readings` are those of all columns but the names, in their order.
    pub fn collecting(header: &[String], readings: &[Reading], strict: bool) -> Self {
        let mut next = 0;
        let reader = |(number, reading): (usize, &Reading)| {
            let Reading { place, kind, vectors } = reading.clone();
            let first = readings.iter().position(|other| kind.shares_words() && other.kind == kind);
            let target = match kind.encoding() {
                _ if let Some(with) = first.filter(|with| *with < number) => Target::Shared { with },
                Encoding::Nothing => Target::Nothing,
                Encoding::Parts(parts) => {
                    let first = next;
                    next += parts.parts.len() as u32 + 1;
                    Target::Parts { parts, first }
                }
                Encoding::Values(column) => {
                    Target::Values { lookup: Lookup::growing(column.limit, column.buckets), column }
                }
                Encoding::Vector(size) => {
                    let size = size.unwrap_or(0) as usize;
                    Target::Collected(Vectors { size, ..Vectors::default() })
                }
                Encoding::Encoded => {
                    let size = vectors.as_ref().map_or(0, |vectors| vectors.width());
                    Target::Collected(Vectors { source: Source(vectors), size, ..Vectors::default() })
                }
            };
            let owners = Owners::Found(BTreeSet::new());
            Reader { name: header[place].clone(), kind, place: Some(place), target, owners }
        };
        let readers = readings.iter().enumerate().map(reader).collect();
        Encoder { next, ..Encoder::new(readers, Encoded::new(0), strict) }
    }

    /// Makes the attributes of a schema from tables with this header.
    pub fn knowing(schema: &'a Schema, header: &[String], strict: bool) -> Self {
        let mut out = Encoded::new(schema.dense_width());
        let mut readers = Vec::new();
        for (column, first) in schema.placed() {
            let place = header.iter().position(|name| *name == column.name);
            let is_expected = !column.is_ignored() && column.of.is_empty() && column.name != schema.id;
            if place.is_none() && is_expected && !out.mismatches.missing_columns.contains(&column.name) {
                out.mismatches.missing_columns.push(column.name.clone());
            }
            let target = match schema.first_with_words_of(column) {
                Some(with) => Target::Shared { with },
                None => column.target(first, schema.sparse_width()),
            };
            readers.push(Reader {
                name: column.name.clone(),
                kind: column.kind.clone(),
                place,
                target,
                owners: Owners::Given(column),
            });
        }
        let unknown = |name: &&String| **name != schema.id && schema.columns.iter().all(|column| column.name != **name);
        out.mismatches.extra_columns = header.iter().filter(unknown).filter(|name| !name.is_empty()).cloned().collect();
        Encoder::new(readers, out, strict)
    }

    fn new(readers: Vec<Reader<'a>>, out: Encoded, strict: bool) -> Self {
        let type_place =
            readers.iter().find(|reader| reader.kind == ColumnKind::Type {}).and_then(|reader| reader.place);
        let shares = readers.iter().any(|reader| matches!(reader.target, Target::Shared { .. }));
        Encoder { readers, type_place, types: Vec::new(), next: 0, out, entries: Vec::new(), shares, strict }
    }

    /// What was not expected so far.
    pub fn mismatches(&self) -> &Mismatches {
        &self.out.mismatches
    }

    /// Encodes one row.
    pub fn add(&mut self, line: u64, row: &dyn Cells) -> Result<(), CellProblem> {
        self.entries.clear();
        let number = self.out.rows() as u32;
        let node_type = self.type_place.map_or(Cell::Missing, |place| row.cell(place)).to_text();
        let (dense_start, mut type_number) = (self.out.dense.len(), NO_TYPE);
        self.out.dense.resize(dense_start + self.out.dense_width, 0.0);
        for place in 0..self.readers.len() {
            let (before, rest) = self.readers.split_at_mut(place);
            let reader = &mut rest[0];
            let cell = reader.place.map_or(Cell::Missing, |place| row.cell(place).tidy());
            let missing = reader.is_missing(cell);
            if missing && !reader.belongs_to(&node_type) {
                continue;
            }
            if reader.is_lacking() && !self.out.mismatches.missing_columns.contains(&reader.name) {
                self.out.mismatches.missing_columns.push(reader.name.clone());
            }
            let start = self.entries.len();
            let dense = &mut self.out.dense[dense_start..];
            let mut written = Row { number, next: &mut self.next, entries: &mut self.entries, dense };
            let target = match reader.target {
                Target::Shared { with } => &mut before[with].target,
                _ => &mut reader.target,
            };
            let outcome = target.read(cell, missing, &mut written);
            if reader.kind == (ColumnKind::Type {}) {
                type_number = self.entries.get(start).map_or(NO_TYPE, |entry| entry.0);
            }
            match outcome {
                Outcome::Unreadable if !reader.belongs_to(&node_type) => self.entries.truncate(start),
                Outcome::Unreadable => {}
                _ if missing => {}
                _ => reader.note_owner(&node_type),
            }
            self.out.mismatches.note(reader, cell, outcome, line, self.strict)?;
        }
        if self.shares {
            self.entries.sort_by_key(|entry| entry.0);
            // Only words that count repetitions are shared.
            self.entries.dedup_by(|next, kept| {
                next.0 == kept.0 && {
                    kept.1 = in_one_bucket(kept.1, next.1, true);
                    true
                }
            });
        }
        if self.width() > MOST_ATTRIBUTES {
            return Err(CellProblem::TooManyAttributes { most: MOST_ATTRIBUTES });
        }
        self.out.columns.extend(self.entries.iter().map(|entry| entry.0));
        self.out.values.extend(self.entries.iter().map(|entry| entry.1));
        self.out.offsets.push(self.out.columns.len() as u64);
        self.types.extend(self.type_place.map(|_| type_number));
        Ok(())
    }

    /// Attributes so far, while they are collected.
    fn width(&self) -> u32 {
        let vectors = self.readers.iter().map(|reader| match &reader.target {
            Target::Collected(vectors) => vectors.size as u32,
            _ => 0,
        });
        vectors.fold(self.next, u32::saturating_add)
    }

    /// The rows of a known schema.
    pub fn end(mut self) -> Encoded {
        let tells = self.readers.iter().find(|reader| reader.kind == ColumnKind::Type {});
        if let Some(Reader { owners: Owners::Given(Column { values: Values::Listed(names), .. }), target, .. }) = tells
        {
            let first = match target {
                Target::Values { lookup: Lookup::Known { first, .. }, .. } => *first,
                _ => 0,
            };
            // A table without the column tells no type of any row.
            self.types.resize(self.out.rows(), NO_TYPE);
            self.out.types = node_types(names.clone(), &self.types, |number| (number - first) as usize);
        }
        self.out
    }
}

/// The node types of rows by their numbers, which `place` turns into places among the names; none where there are too many.
pub(super) fn node_types(names: Vec<String>, numbers: &[u32], place: impl Fn(u32) -> usize) -> Option<NodeTypes> {
    if names.len() > NodeTypes::MOST {
        return None;
    }
    let unknown = names.len();
    let of = numbers.iter().map(|&number| if number == NO_TYPE { unknown } else { place(number) } as u8).collect();
    NodeTypes::new(names, of)
}

impl Column {
    /// Where cells of this column go. `first` is the first of its attributes, of which the dense ones come after `sparse_width`.
    fn target(&self, first: u32, sparse_width: usize) -> Target<'_> {
        match (self.kind.encoding(), &self.values) {
            (Encoding::Parts(parts), _) => Target::Parts { parts, first },
            (Encoding::Vector(_) | Encoding::Encoded, Values::Numbers(size)) => {
                Target::Sparse { first, size: *size as usize, source: Source(self.vectors.clone()) }
            }
            (Encoding::Vector(_) | Encoding::Encoded, Values::Dense(size)) => {
                let first = first as usize - sparse_width;
                Target::Dense { first, size: *size as usize, source: Source(self.vectors.clone()) }
            }
            (Encoding::Values(column), Values::Hashed(buckets)) => {
                Target::Values { column, lookup: Lookup::Hashed { first, buckets: *buckets } }
            }
            (Encoding::Values(column), Values::Listed(values)) => {
                let other = self.has_other().then_some(first + values.len() as u32);
                Target::Values { column, lookup: Lookup::Known { values, first, other } }
            }
            _ => Target::Nothing,
        }
    }
}

impl Mismatches {
    /// Counts what became of a cell; an error where input is to be strict.
    fn note(
        &mut self,
        reader: &Reader<'_>,
        cell: Cell<'_>,
        outcome: Outcome,
        line: u64,
        strict: bool,
    ) -> Result<(), CellProblem> {
        let (column, text) = (|| reader.name.clone(), || short(&cell.to_text()));
        let problem = match outcome {
            Outcome::Read => return Ok(()),
            Outcome::Unknown(values) => {
                self.add_unknown(&reader.name, &values);
                CellProblem::UnknownValue { column: column(), cell: text() }
            }
            Outcome::Unreadable => {
                let kind = reader.kind.name();
                let problem = CellProblem::Unreadable { column: column(), kind, cell: text() };
                self.unreadable(line, &problem);
                problem
            }
        };
        if strict { Err(problem) } else { Ok(()) }
    }
}
