//! Rows of nodes: their names, and what they are encoded to.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use super::Open;
use super::ends::EndsByColumn;
use super::rows::Rows;
use crate::columns::{
    Cell, Columns, Encoded, Encoder, Finding, Mismatches, Reading, Schema, Surveys, is_called_a_title,
};
use crate::dataset::NewNodes;
use crate::graph::{AttributeNames, Attributes, Names, NodeId, Texts};
use crate::load::error::{LineProblem, LoadError, TableProblem, read_error};
use crate::text::start_of;

/// Characters of a title that are kept.
const LONGEST_TITLE: usize = 120;

/// A node table that was read.
pub(in crate::load) struct NodeTable {
    pub file_name: String,
    pub names: Texts,
    /// What is shown beside the names, where a column has it.
    pub titles: Option<Texts>,
    pub schema: Schema,
    pub attributes: Attributes,
    pub mismatches: Mismatches,
    /// What was found out about its columns.
    pub findings: Vec<Finding>,
    pub path: PathBuf,
    /// The line on which each row begins.
    lines: Vec<u64>,
    /// Rows that were there before, and are left out.
    pub repeated_rows: usize,
}

impl NodeTable {
    /// Reads a table, twice: to find out what its columns are, and to encode it. Where rows are there twice, once more. `ends` are
    /// names of nodes, by which the column of names is found.
    pub fn read(open: Open<'_, '_>, ends: &HashSet<String>, given: &Columns, strict: bool) -> Result<Self, LoadError> {
        let kinds = find_kinds(open()?, ends, given)?;
        let table = NodeTable::encode(open, &kinds, strict, &HashSet::new())?;
        match table.repeated(open, kinds.id)? {
            repeated if repeated.is_empty() || strict => Ok(table),
            repeated => NodeTable::encode(open, &kinds, strict, &repeated),
        }
    }

    /// Without the rows on some lines.
    fn encode(open: Open<'_, '_>, kinds: &Kinds, strict: bool, without: &HashSet<u64>) -> Result<Self, LoadError> {
        let mut rows = open()?;
        let (id, mut findings, header) = (kinds.id, kinds.findings.clone(), rows.header().to_vec());
        let mut encoder = Encoder::collecting(&header, &kinds.readings, strict);
        let naming = Naming { id: Some(id), required: NamesOfRows::Given, show: kinds.show };
        let ReadRows { names, titles, lines } = read_rows(&mut rows, &naming, &mut encoder, without)?;
        let (columns, encoded) = encoder.end_collecting();
        let show = kinds.show.map(|column| header[column].clone());
        let schema = Schema { id: header[id].clone(), show, columns };
        let mismatches = encoded.mismatches.clone();
        Finding::note_odd(&mut findings, &mismatches.odd);
        let attributes = attributes(&schema, encoded, AttributeNames(schema.attribute_names()));
        let attributes = attributes.with_blocks(schema.blocks());
        let path = rows.path().to_owned();
        Ok(NodeTable {
            file_name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            attributes: attributes.expect("a schema's blocks follow one another"),
            names,
            titles,
            schema,
            mismatches,
            findings,
            path,
            lines,
            repeated_rows: without.len(),
        })
    }

    /// The lines of rows that say the same as an earlier row of that name; none where another row of a name says something else.
    fn repeated(&self, open: Open<'_, '_>, id: usize) -> Result<HashSet<u64>, LoadError> {
        let (mut seen, mut twice) = (HashSet::with_capacity(self.names.len()), HashSet::new());
        twice.extend(self.names.iter().filter(|name| !seen.insert(*name)));
        let (mut first, mut repeated) = (HashMap::new(), HashSet::new());
        if twice.is_empty() {
            return Ok(repeated);
        }
        let mut rows = open()?;
        while let Some((line, row)) = rows.next()? {
            let Some(name) = twice.get(&*row.cell(id).to_text()) else { continue };
            let cells: Vec<String> = (0..row.len()).map(|place| row.cell(place).to_text().into_owned()).collect();
            match first.get(name) {
                None => drop(first.insert(*name, cells)),
                Some(first) if *first == cells => drop(repeated.insert(line)),
                Some(_) => return Ok(HashSet::new()),
            }
        }
        Ok(repeated)
    }

    /// From names to numbers; every row must have a name of its own, and there must be a row.
    pub fn index(&self) -> Result<HashMap<&str, NodeId>, LoadError> {
        if self.lines.is_empty() {
            return Err(LoadError::NoNodes { path: self.path.clone() });
        }
        index(&self.names, |row| self.lines[row]).map_err(|(row, problem)| LoadError::Line {
            path: self.path.clone(),
            line: self.lines[row],
            problem,
        })
    }
}

fn attributes(schema: &Schema, encoded: Encoded, names: AttributeNames) -> Attributes {
    let Encoded { offsets, columns, values, dense, dense_width, types, .. } = encoded;
    let width = schema.width() - dense_width;
    Attributes::from_parts(width, offsets.into(), columns.into(), values.into(), AttributeNames::default())
        .and_then(|attributes| attributes.with_dense(dense_width, dense.into(), names))
        .and_then(|attributes| attributes.with_types(types.map(Arc::new)))
        .expect("readers give sorted columns, finite values, and a vector and a node type for each row")
}

/// Where a table tells who a row is about.
struct Naming {
    /// The column of names.
    id: Option<usize>,
    required: NamesOfRows,
    /// The column that is shown beside them.
    show: Option<usize>,
}

/// Who rows are about. Names are empty where there is no column of names.
struct ReadRows {
    names: Texts,
    titles: Option<Texts>,
    lines: Vec<u64>,
}

/// Encodes all rows.
fn read_rows(
    rows: &mut Rows<'_>,
    naming: &Naming,
    encoder: &mut Encoder<'_>,
    without: &HashSet<u64>,
) -> Result<ReadRows, LoadError> {
    let path = rows.path().to_owned();
    let id_name = naming.id.map(|id| rows.header()[id].clone()).filter(|_| naming.required == NamesOfRows::Given);
    let (mut names, mut titles, mut lines) = (TextsOfRows::default(), TextsOfRows::default(), Vec::new());
    while let Some((line, row)) = rows.next()? {
        if without.contains(&line) {
            continue;
        }
        let name = naming.id.map_or(Cell::Missing, |id| row.cell(id)).to_text();
        if let (true, Some(column)) = (name.is_empty(), &id_name) {
            let problem = LineProblem::NoName { column: column.clone() };
            return Err(LoadError::Line { path, line, problem });
        }
        names.push(&name);
        if let Some(show) = naming.show {
            titles.push(&start_of(&row.cell(show).to_text(), LONGEST_TITLE));
        }
        lines.push(line);
        let added = encoder.add(line, row);
        added.map_err(|problem| LoadError::Line { path: path.clone(), line, problem: problem.into() })?;
    }
    if lines.len() > u32::MAX as usize / 2 {
        return Err(read_error(&path, std::io::Error::other("more rows than nodes can be numbered")));
    }
    Ok(ReadRows { names: names.end(), titles: naming.show.map(|_| titles.end()), lines })
}

/// Texts that come row by row.
#[derive(Default)]
struct TextsOfRows {
    ends: Vec<u64>,
    bytes: Vec<u8>,
}

impl TextsOfRows {
    fn push(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
        self.ends.push(self.bytes.len() as u64);
    }

    fn end(mut self) -> Texts {
        self.ends.insert(0, 0);
        Texts::from_parts(self.ends.into(), self.bytes.into()).expect("texts follow one another")
    }
}

/// From names to rows, or the row whose name was there before.
fn index(names: &Texts, line: impl Fn(usize) -> u64) -> Result<HashMap<&str, NodeId>, (usize, LineProblem)> {
    let mut numbers = HashMap::with_capacity(names.len());
    for (row, name) in names.iter().enumerate() {
        if let Some(first) = numbers.insert(name, row as NodeId) {
            let (name, first) = (name.to_owned(), line(first as usize));
            return Err((row, LineProblem::RepeatedNode { name, first }));
        }
    }
    Ok(numbers)
}

/// What names rows must have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::load) enum NamesOfRows {
    /// One each.
    Given,
    /// Those without one are called by their place.
    Optional,
}

/// New nodes, with the attributes that `schema` gives.
pub(in crate::load) fn read_new(
    mut rows: Rows<'_>,
    schema: &Schema,
    names: NamesOfRows,
    strict: bool,
) -> Result<NewNodes, LoadError> {
    let id = match names {
        NamesOfRows::Given => Some(rows.find(&schema.id)?),
        NamesOfRows::Optional => rows.find(&schema.id).ok(),
    };
    let mut encoder = Encoder::knowing(schema, rows.header(), strict);
    let other_columns = |rows: &Rows<'_>, found: &Mismatches| {
        let (missing, extra) = (found.missing_columns.clone(), found.extra_columns.clone());
        let other = strict && !(missing.is_empty() && extra.is_empty());
        if other { Err(rows.problem(TableProblem::OtherColumns { missing, extra })) } else { Ok(()) }
    };
    other_columns(&rows, encoder.mismatches())?;
    let path = rows.path().to_owned();
    let show = schema.show.as_ref().and_then(|show| rows.header().iter().position(|column| column == show));
    let naming = Naming { id, required: names, show };
    let ReadRows { names: texts, titles, lines } = read_rows(&mut rows, &naming, &mut encoder, &HashSet::new())?;
    // Columns that some node types have are missed once there is a row of such a type.
    other_columns(&rows, encoder.mismatches())?;
    if lines.is_empty() {
        return Err(LoadError::NoNodes { path });
    }
    let named = |(row, name): (usize, &str)| if name.is_empty() { format!("new {}", row + 1) } else { name.to_owned() };
    let texts: Texts = texts.iter().enumerate().map(named).collect();
    let mut encoded = encoder.end();
    let mut mismatches = std::mem::take(&mut encoded.mismatches);
    let attributes = attributes(schema, encoded, AttributeNames::default());
    // Whoever has the rows in memory counts on an answer for each.
    let may_repeat = names == NamesOfRows::Given && !strict;
    let kept = without_repeated(&texts, &attributes, may_repeat, &lines);
    let kept = kept.map_err(|(row, problem)| LoadError::Line { path, line: lines[row], problem })?;
    mismatches.repeated_rows = texts.len() - kept.len();
    if mismatches.repeated_rows == 0 {
        return Ok(NewNodes { names: Names::Texts(texts), titles, attributes, mismatches });
    }
    let of_kept = |texts: &Texts| kept.iter().map(|&row| texts.get(row as usize)).collect::<Texts>();
    let (names, titles) = (Names::Texts(of_kept(&texts)), titles.as_ref().map(of_kept));
    Ok(NewNodes { names, titles, attributes: attributes.select(&kept), mismatches })
}

/// The rows of new nodes without those that say the same as an earlier row of that name, or the row that says something else.
fn without_repeated(
    names: &Texts,
    attributes: &Attributes,
    may_repeat: bool,
    lines: &[u64],
) -> Result<Vec<NodeId>, (usize, LineProblem)> {
    let mut first = HashMap::with_capacity(names.len());
    let mut kept = Vec::with_capacity(names.len());
    for (row, name) in names.iter().enumerate() {
        match first.entry(name) {
            Entry::Vacant(free) => {
                free.insert(row as NodeId);
                kept.push(row as NodeId);
            }
            Entry::Occupied(taken) => {
                let rows = [*taken.get(), row as NodeId];
                let [a, b] = rows.map(|row| attributes.select(&[row]));
                if !may_repeat || a != b {
                    let line = lines[rows[0] as usize];
                    return Err((row, LineProblem::RepeatedNode { name: name.to_owned(), first: line }));
                }
            }
        }
    }
    Ok(kept)
}

/// What the columns of a node table are.
struct Kinds {
    /// The place of the names.
    id: usize,
    /// The place of what is shown beside them.
    show: Option<usize>,
    /// How all other columns are read.
    readings: Vec<Reading>,
    /// What was found out about them.
    findings: Vec<Finding>,
}

/// Kinds are those that are given, and the others by a look through the table.
fn find_kinds(mut rows: Rows<'_>, ends: &HashSet<String>, given: &Columns) -> Result<Kinds, LoadError> {
    let header = rows.header().to_vec();
    let named = |name: &str| header.iter().position(|column| column.eq_ignore_ascii_case(name));
    let mut id = match &given.id {
        Some(id) => rows.find_said(id)?,
        None => ["id", "node", "name"].iter().find_map(|name| named(name)).unwrap_or(0),
    };
    let said = given.columns.keys().chain(given.show.iter().filter(|name| !name.is_empty()));
    said.into_iter().try_for_each(|name| rows.find_said(name).map(drop))?;
    let (mut surveys, mut by_column) = (Surveys::of(header.len()), EndsByColumn::new(ends, header.len()));
    let is_open = |name: &String| !given.columns.contains_key(name) || given.show.is_none() && is_called_a_title(name);
    if (0..header.len()).any(|column| column != id && is_open(&header[column])) {
        while let Some((_, row)) = rows.next()? {
            by_column.look(row);
            surveys.look(row);
        }
    }
    if given.id.is_none() {
        id = by_column.names(id);
    }
    let show = surveys.shown(&header, id, given);
    let findings = surveys.findings(&header, id, given);
    let read = |(place, kind, finding)| (Reading::of(place, kind, given), finding);
    let (readings, findings): (Vec<_>, Vec<_>) = findings.into_iter().map(read).unzip();
    Ok(Kinds { id, show, readings: readings.concat(), findings })
}
