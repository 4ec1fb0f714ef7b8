//! The packed file: a dataset as it lies in memory, mapped instead of read.
//!
//! All numbers are little endian. A header of fixed size, then the sections in a fixed order, each on a multiple of
//! 64 bytes and filled up with zeros to the next.
//!
//! | bytes | header |
//! |---|---|
//! | 0..8 | magic |
//! | 8..12, 12..16 | version, number of sections |
//! | 16..24 | XXH3-64 of the whole header with zeros in this place |
//! | 24..32 | length of the file |
//! | 32.. | for each section: start, length without filling, XXH3-64 with filling (8 bytes each) |
//!
//! Every byte is under a checksum, and what passes is still checked as input: a checksum guards against accidents,
//! not against intent.

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use bytemuck::{Pod, cast_slice};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::columns::{Schema, Values};
use crate::dataset::{Dataset, Notes};
use crate::graph::{AttributeNames, Attributes, Graph, Names, NodeId, NodeTypes, Texts};
use crate::load::error::{LoadError, PackedProblem, read_error};
use crate::storage::write_atomically;
use crate::storage::{Buffer, Map};

/// The first bytes of every packed file.
pub(in crate::load) const MAGIC: [u8; 8] = *b"\x93CLGRAPH";

/// The version that is written and read.
pub(in crate::load) const VERSION: u32 = 1;

/// Sections in their order.
const SECTIONS: [&str; 12] = [
    "graph offsets",
    "graph neighbors",
    "attribute offsets",
    "attribute columns",
    "attribute values",
    "name offsets",
    "names",
    "attribute name offsets",
    "attribute names",
    "description",
    "dense attributes",
    "node types",
];

const ALIGNMENT: usize = 64;
const CHECKSUM: Range<usize> = 16..24;
const TABLE: usize = 32;
const HEADER: usize = (TABLE + 24 * SECTIONS.len()).next_multiple_of(ALIGNMENT);

const _: () = assert!(cfg!(target_endian = "little"), "packed files are mapped as they are");

/// Everything that is no array, as TOML.
#[derive(Serialize, Deserialize)]
struct Description {
    name: String,
    /// The number of attribute columns.
    width: u32,
    /// Those of the dense part, the last of them.
    dense_width: u32,
    /// Whether nodes have names of their own.
    named: bool,
    notes: Notes,
    schema: Option<Schema>,
}

/// Writes a dataset to a file that appears whole or not at all.
pub fn write_packed(dataset: &Dataset, path: &Path) -> Result<(), LoadError> {
    let write_error = |source| LoadError::Write { path: path.to_owned(), source };
    let description = Description::of(dataset).map_err(write_error)?;
    let names = match &dataset.names {
        Names::Numbered(_) => &Texts::from_iter([""; 0]),
        Names::Texts(texts) => texts,
    };
    let attribute_names: Texts = dataset.attributes.names().0.iter().collect();
    let sections: [&[u8]; SECTIONS.len()] = [
        cast_slice(dataset.graph.offsets()),
        cast_slice(dataset.graph.neighbor_array()),
        cast_slice(dataset.attributes.offsets()),
        cast_slice(dataset.attributes.columns()),
        cast_slice(dataset.attributes.values()),
        cast_slice(names.offsets()),
        names.bytes(),
        cast_slice(attribute_names.offsets()),
        attribute_names.bytes(),
        description.as_bytes(),
        cast_slice(dataset.attributes.dense()),
        dataset.attributes.types().map_or(&[], |types| types.all()),
    ];
    write_atomically(path, |file| write_sections(file, &sections)).map_err(write_error)
}

impl Description {
    fn of(dataset: &Dataset) -> io::Result<String> {
        let description = Description {
            name: dataset.name.clone(),
            width: u32::try_from(dataset.attributes.width()).map_err(io::Error::other)?,
            dense_width: u32::try_from(dataset.attributes.dense_width()).map_err(io::Error::other)?,
            named: matches!(dataset.names, Names::Texts(_)),
            notes: dataset.notes.clone(),
            schema: dataset.schema.clone(),
        };
        toml::to_string(&description).map_err(io::Error::other)
    }
}

fn write_sections(file: &mut impl Write, sections: &[&[u8]]) -> io::Result<()> {
    let filling = |section: &[u8]| &[0; ALIGNMENT][..section.len().next_multiple_of(ALIGNMENT) - section.len()];
    let checksums = sections.par_iter().map(|section| {
        let mut checksum = Xxh3::new();
        checksum.update(section);
        checksum.update(filling(section));
        checksum.digest()
    });
    let mut table = Vec::new();
    let mut start = HEADER;
    for (section, checksum) in sections.iter().zip(checksums.collect::<Vec<_>>()) {
        table.extend([start as u64, section.len() as u64, checksum]);
        start += section.len().next_multiple_of(ALIGNMENT);
    }
    file.write_all(&header(start as u64, &table))?;
    for section in sections {
        file.write_all(section)?;
        file.write_all(filling(section))?;
    }
    Ok(())
}

fn header(file_length: u64, table: &[u64]) -> Vec<u8> {
    let mut header = vec![0; HEADER];
    header[..8].copy_from_slice(&MAGIC);
    header[8..12].copy_from_slice(&VERSION.to_le_bytes());
    header[12..16].copy_from_slice(&(SECTIONS.len() as u32).to_le_bytes());
    header[24..32].copy_from_slice(&file_length.to_le_bytes());
    header[TABLE..TABLE + 8 * table.len()].copy_from_slice(cast_slice(table));
    let checksum = xxh3_64(&header);
    header[CHECKSUM].copy_from_slice(&checksum.to_le_bytes());
    header
}

/// Opens a packed file. Its arrays stay in the file and are mapped into memory.
pub fn open_packed(path: &Path) -> Result<Dataset, LoadError> {
    let map = Map::open(path).map_err(|source| read_error(path, source))?;
    open(Arc::new(map)).map_err(|problem| LoadError::Packed { path: path.to_owned(), problem })
}

fn open(map: Arc<Map>) -> Result<Dataset, PackedProblem> {
    let sections = Sections::check(map)?;
    let description = sections.description()?;
    let (graph, attributes) = rayon::join(|| sections.graph(), || sections.attributes(&description));
    let (graph, attributes) = (graph?, attributes?);
    let names = if description.named { Names::Texts(sections.texts(5)?) } else { Names::Numbered(graph.nodes()) };
    let disagree = |section, count| nonsense(section, format!("{count} rows for {} nodes", graph.nodes()));
    if attributes.rows() != graph.nodes() {
        return Err(disagree(2, attributes.rows()));
    }
    if names.len() != graph.nodes() {
        return Err(disagree(5, names.len()));
    }
    let fits = |schema: &Schema| {
        let widths = schema.is_sound() && schema.dense_width() == attributes.dense_width();
        widths && schema.attribute_names() == attributes.names().0
    };
    if !description.schema.as_ref().is_none_or(fits) {
        return Err(nonsense(9, "its schema gives other attributes than there are"));
    }
    let Description { name, notes, schema, .. } = description;
    let blocks = schema.as_ref().map(Schema::blocks).unwrap_or_default();
    let types = sections.types(schema.as_ref())?;
    let attributes = attributes.with_blocks(blocks).and_then(|attributes| attributes.with_types(types));
    let attributes = attributes.map_err(|reason| nonsense(9, reason))?;
    Ok(Dataset { name, graph, attributes, names, schema, notes })
}

/// The sections of a file whose checksums all match.
struct Sections {
    map: Arc<Map>,
    ranges: Vec<Range<usize>>,
}

impl Sections {
    fn check(map: Arc<Map>) -> Result<Self, PackedProblem> {
        let table = check_header(&map)?;
        let mut ranges = Vec::new();
        let mut next = HEADER as u64;
        for entry in table.chunks_exact(3) {
            let (start, length) = (entry[0], entry[1]);
            let end = start.checked_add(length).and_then(|end| end.checked_next_multiple_of(ALIGNMENT as u64));
            match end {
                Some(end) if start == next && end <= map.len() as u64 => next = end,
                _ => return Err(nonsense(ranges.len(), "it does not lie where it should")),
            }
            ranges.push(start as usize..(start + length) as usize);
        }
        if next != map.len() as u64 {
            return Err(PackedProblem::Length { expected: next, found: map.len() as u64 });
        }
        let damaged = (0..SECTIONS.len()).into_par_iter().find_first(|&section| {
            let Range { start, end } = ranges[section];
            xxh3_64(&map[start..end.next_multiple_of(ALIGNMENT)]) != table[3 * section + 2]
        });
        match damaged {
            Some(section) => Err(PackedProblem::Checksum { section: SECTIONS[section] }),
            None => Ok(Sections { map, ranges }),
        }
    }

    fn description(&self) -> Result<Description, PackedProblem> {
        let text = std::str::from_utf8(&self.map[self.ranges[9].clone()]).map_err(|error| nonsense(9, error))?;
        toml::from_str(text).map_err(|error| nonsense(9, error.message()))
    }

    fn graph(&self) -> Result<Graph, PackedProblem> {
        Graph::from_parts(self.array(0)?, self.array::<NodeId>(1)?).map_err(|reason| nonsense(1, reason))
    }

    fn attributes(&self, description: &Description) -> Result<Attributes, PackedProblem> {
        let names = AttributeNames(self.texts(7)?.iter().map(str::to_owned).collect());
        let (width, dense_width) = (description.width as usize, description.dense_width as usize);
        let sparse_width =
            width.checked_sub(dense_width).ok_or_else(|| nonsense(9, "a dense part that is too wide"))?;
        let unnamed = AttributeNames::default();
        let sparse = Attributes::from_parts(sparse_width, self.array(2)?, self.array(3)?, self.array(4)?, unnamed)
            .map_err(|reason| nonsense(3, reason))?;
        sparse.with_dense(dense_width, self.array(10)?, names).map_err(|reason| nonsense(10, reason))
    }

    /// The node types, where the schema has a column that tells them and there are not too many.
    fn types(&self, schema: Option<&Schema>) -> Result<Option<Arc<NodeTypes>>, PackedProblem> {
        let of: Buffer<u8> = self.array(11)?;
        let Some((column, _)) = schema.and_then(Schema::type_column).filter(|_| !of.is_empty()) else {
            return Ok(None);
        };
        let Values::Listed(names) = &column.values else { return Ok(None) };
        let types = NodeTypes::new(names.clone(), of.to_vec());
        types.map(Arc::new).map(Some).ok_or_else(|| nonsense(11, "a number that is no node type"))
    }

    /// Texts from a section of offsets and the one of bytes after it.
    fn texts(&self, offsets: usize) -> Result<Texts, PackedProblem> {
        Texts::from_parts(self.array(offsets)?, self.array(offsets + 1)?).map_err(|reason| nonsense(offsets, reason))
    }

    fn array<T: Pod>(&self, section: usize) -> Result<Buffer<T>, PackedProblem> {
        let range = self.ranges[section].clone();
        Buffer::mapped(&self.map, range).ok_or_else(|| nonsense(section, "its length is not that of whole numbers"))
    }
}

/// The table of sections, from a header that matches its checksum.
fn check_header(file: &[u8]) -> Result<Vec<u64>, PackedProblem> {
    if !file.starts_with(&MAGIC) {
        return Err(PackedProblem::Magic);
    }
    let short = PackedProblem::Length { expected: HEADER as u64, found: file.len() as u64 };
    let mut header: [u8; HEADER] = file.get(..HEADER).and_then(|header| header.try_into().ok()).ok_or(short)?;
    let found = u32::from_le_bytes([header[8], header[9], header[10], header[11]]);
    if found != VERSION {
        return Err(PackedProblem::Version { found });
    }
    let checksum = words(&header[CHECKSUM])[0];
    header[CHECKSUM].fill(0);
    if xxh3_64(&header) != checksum {
        return Err(PackedProblem::Checksum { section: "header" });
    }
    let sections = u32::from_le_bytes([header[12], header[13], header[14], header[15]]);
    if sections as usize != SECTIONS.len() {
        let reason = format!("{sections} sections, where {} are expected", SECTIONS.len());
        return Err(PackedProblem::Nonsense { section: "header", reason });
    }
    let expected = words(&header[24..32])[0];
    if expected != file.len() as u64 {
        return Err(PackedProblem::Length { expected, found: file.len() as u64 });
    }
    Ok(words(&header[TABLE..TABLE + 24 * SECTIONS.len()]))
}

fn words(bytes: &[u8]) -> Vec<u64> {
    let words = bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("8 bytes")));
    words.collect()
}

fn nonsense(section: usize, reason: impl ToString) -> PackedProblem {
    PackedProblem::Nonsense { section: SECTIONS[section], reason: reason.to_string() }
}
