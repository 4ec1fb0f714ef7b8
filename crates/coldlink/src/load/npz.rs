//! `.npz` files: an archive of numpy arrays, and the SparseGraph layout in it (gnn-benchmark, Graph2Gauss).

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use npyz::npz::NpzArchive;

use super::error::{ArrayProblem, LoadError, read_error};
use super::npy::Array;
use super::{LoadOptions, NewNodes, name_of};
use crate::graph::{AttributeNames, Attributes, Dataset, GraphBuilder, Names, NodeId, Notes};

/// An open `.npz` file. Arrays are read when they are asked for.
pub struct NpzFile {
    path: PathBuf,
    archive: NpzArchive<BufReader<File>>,
}

impl NpzFile {
    /// Opens a file and reads its list of arrays.
    pub fn open(path: &Path) -> Result<Self, LoadError> {
        let file = File::open(path).map_err(|source| read_error(path, source))?;
        let archive = NpzArchive::new(BufReader::new(file))
            .map_err(|error| LoadError::Archive { path: path.to_owned(), reason: error.to_string() })?;
        Ok(NpzFile { path: path.to_owned(), archive })
    }

    /// The arrays' names, sorted.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.archive.array_names().map(str::to_owned).collect();
        names.sort_unstable();
        names
    }

    /// Whether there is an array of that name.
    pub fn has(&self, name: &str) -> bool {
        self.archive.array_names().any(|array| array == name)
    }

    /// The shape and numbers of an array of whole numbers, row by row.
    pub fn integers(&mut self, name: &str) -> Result<(Vec<usize>, Vec<i64>), LoadError> {
        let array = self.array(name)?;
        let integers = array.integers().map_err(|problem| self.problem(name, problem))?;
        Ok((array.shape, integers))
    }

    /// The shape and numbers of an array of any numbers, row by row.
    pub fn floats(&mut self, name: &str) -> Result<(Vec<usize>, Vec<f64>), LoadError> {
        let array = self.array(name)?;
        let floats = array.floats();
        Ok((array.shape, floats))
    }

    fn array(&mut self, name: &str) -> Result<Array, LoadError> {
        if !self.has(name) {
            return Err(self.problem(name, ArrayProblem::Missing));
        }
        let file_name = npyz::npz::file_name_from_array_name(name);
        let array = match self.archive.zip_archive().by_name(&file_name) {
            Ok(entry) => Array::read(entry),
            Err(error) => Err(ArrayProblem::Damaged { reason: error.to_string() }),
        };
        array.map_err(|problem| self.problem(name, problem))
    }

    fn problem(&self, array: &str, problem: ArrayProblem) -> LoadError {
        LoadError::Array { path: self.path.clone(), array: array.to_owned(), problem }
    }
}

/// A graph with attributes in SparseGraph layout.
pub(super) fn load_sparse_graph(path: &Path, options: &LoadOptions) -> Result<Dataset, LoadError> {
    let mut npz = NpzFile::open(path)?;
    let adjacency = Csr::read(&mut npz, "adj")?;
    let (nodes, columns) = adjacency.shape;
    if nodes != columns {
        let expected = "square".to_owned();
        return Err(npz.problem("adj_shape", ArrayProblem::Shape { expected, found: vec![nodes, columns] }));
    }
    if nodes == 0 {
        return Err(LoadError::NoNodes { path: path.to_owned() });
    }
    let weighted = adjacency.is_weighted(&npz)?;
    let mut builder = GraphBuilder::new(nodes);
    builder.extend(adjacency.links());
    drop(adjacency);
    let (graph, mut tidied) = builder.build();
    // A symmetric matrix states each link twice by nature; only where some are stated once is that a direction.
    let directed = tidied.reciprocal != graph.links();
    if !directed {
        tidied.reciprocal = 0;
    }
    let notes = Notes { tidied, directed, weighted, ..Notes::default() };
    options.check(path, &graph, &notes)?;
    let attributes = read_attributes(&mut npz)?;
    if attributes.rows() != nodes {
        let expected = format!("a row for each of {nodes} nodes");
        let found = vec![attributes.rows(), attributes.width()];
        return Err(npz.problem("attr_shape", ArrayProblem::Shape { expected, found }));
    }
    Ok(Dataset { name: name_of(path), graph, attributes, names: Names::Numbered(nodes), schema: None, notes })
}

/// New nodes from the `attr_*` arrays of an `.npz` file; they must have `width` columns.
pub fn load_new_npz(path: &Path, width: usize) -> Result<NewNodes, LoadError> {
    let attributes = read_attributes(&mut NpzFile::open(path)?)?;
    if attributes.width() != width {
        return Err(LoadError::Width { path: path.to_owned(), expected: width, found: attributes.width() });
    }
    if attributes.rows() == 0 {
        return Err(LoadError::NoNodes { path: path.to_owned() });
    }
    Ok(NewNodes { names: Names::Numbered(attributes.rows()), attributes, unknown_values: 0 })
}

/// Rows with sorted columns: repeated ones are summed, as scipy does, and zeros left out.
fn read_attributes(npz: &mut NpzFile) -> Result<Attributes, LoadError> {
    let csr = Csr::read(npz, "attr")?;
    let given = csr.values.as_deref().ok_or_else(|| npz.problem("attr_data", ArrayProblem::Missing))?;
    let not_finite = |entry: usize, value: f64| npz.problem("attr_data", ArrayProblem::NotFinite { entry, value });
    let (mut offsets, mut columns, mut values) = (vec![0_u64], Vec::new(), Vec::new());
    let mut row: Vec<(u32, usize)> = Vec::new();
    for range in csr.offsets.windows(2).map(|pair| pair[0]..pair[1]) {
        row.clear();
        row.extend(range.map(|entry| (csr.columns[entry], entry)));
        row.sort_unstable();
        for same in row.chunk_by(|a, b| a.0 == b.0) {
            let (column, entry) = same[0];
            let sum: f64 = same.iter().map(|&(_, entry)| given[entry]).sum();
            let value = sum as f32;
            if !value.is_finite() {
                return Err(not_finite(entry, sum));
            }
            if value != 0.0 {
                columns.push(column);
                values.push(value);
            }
        }
        offsets.push(columns.len() as u64);
    }
    let names = AttributeNames::default();
    Attributes::from_parts(csr.shape.1, offsets.into(), columns.into(), values.into(), names)
        .map_err(|reason| npz.problem("attr_indices", ArrayProblem::Damaged { reason: reason.into() }))
}

/// A sparse matrix whose arrays fit together.
struct Csr {
    shape: (usize, usize),
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Option<Vec<f64>>,
}

impl Csr {
    fn read(npz: &mut NpzFile, prefix: &str) -> Result<Self, LoadError> {
        let name = |part: &str| format!("{prefix}_{part}");
        let shape = read_shape(npz, &name("shape"))?;
        let columns = read_columns(npz, &name("indices"), shape.1)?;
        let offsets = read_offsets(npz, &name("indptr"), shape.0, columns.len())?;
        let values = if npz.has(&name("data")) { Some(read_values(npz, &name("data"), columns.len())?) } else { None };
        Ok(Csr { shape, offsets, columns, values })
    }

    fn is_weighted(&self, npz: &NpzFile) -> Result<bool, LoadError> {
        let values = self.values.as_deref().unwrap_or_default();
        if let Some(entry) = values.iter().position(|value| !value.is_finite()) {
            return Err(npz.problem("adj_data", ArrayProblem::NotFinite { entry, value: values[entry] }));
        }
        Ok(values.iter().any(|&value| value != 0.0 && value != 1.0))
    }

    /// Every stored entry that is not zero, as (row, column).
    fn links(&self) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        let is_link = |entry: usize| self.values.as_ref().is_none_or(|values| values[entry] != 0.0);
        (0..self.shape.0).flat_map(move |row| {
            let entries = self.offsets[row]..self.offsets[row + 1];
            entries.filter(move |&entry| is_link(entry)).map(move |entry| (row as NodeId, self.columns[entry]))
        })
    }
}

fn read_shape(npz: &mut NpzFile, name: &str) -> Result<(usize, usize), LoadError> {
    let (shape, lengths) = npz.integers(name)?;
    let &[rows, columns] = lengths.as_slice() else {
        return Err(npz.problem(name, ArrayProblem::Shape { expected: "[2]".into(), found: shape }));
    };
    check_range(npz, name, &lengths, u32::MAX.into())?;
    Ok((rows as usize, columns as usize))
}

fn read_columns(npz: &mut NpzFile, name: &str, width: usize) -> Result<Vec<u32>, LoadError> {
    let (_, columns) = npz.integers(name)?;
    check_range(npz, name, &columns, width as i64 - 1)?;
    Ok(columns.iter().map(|&column| column as u32).collect())
}

fn read_offsets(npz: &mut NpzFile, name: &str, rows: usize, entries: usize) -> Result<Vec<usize>, LoadError> {
    let (shape, offsets) = npz.integers(name)?;
    if offsets.len() != rows + 1 {
        let expected = format!("[{}], one more than rows,", rows + 1);
        return Err(npz.problem(name, ArrayProblem::Shape { expected, found: shape }));
    }
    check_range(npz, name, &offsets, entries as i64)?;
    if let Some(entry) = offsets.windows(2).position(|pair| pair[0] > pair[1]) {
        return Err(npz.problem(name, ArrayProblem::Falling { entry: entry + 1 }));
    }
    // Entries that no row claims would be lost silently.
    check_exactly(npz, name, 0, offsets[0], 0)?;
    check_exactly(npz, name, rows, offsets[rows], entries as i64)?;
    Ok(offsets.iter().map(|&offset| offset as usize).collect())
}

fn read_values(npz: &mut NpzFile, name: &str, entries: usize) -> Result<Vec<f64>, LoadError> {
    let (shape, values) = npz.floats(name)?;
    if values.len() != entries {
        let expected = format!("[{entries}], as many as columns,");
        return Err(npz.problem(name, ArrayProblem::Shape { expected, found: shape }));
    }
    Ok(values)
}

fn check_range(npz: &NpzFile, name: &str, values: &[i64], limit: i64) -> Result<(), LoadError> {
    match values.iter().position(|value| !(0..=limit).contains(value)) {
        Some(entry) => Err(npz.problem(name, ArrayProblem::OutOfRange { entry, value: values[entry], limit })),
        None => Ok(()),
    }
}

fn check_exactly(npz: &NpzFile, name: &str, entry: usize, value: i64, expected: i64) -> Result<(), LoadError> {
    if value == expected {
        return Ok(());
    }
    Err(npz.problem(name, ArrayProblem::Unexpected { entry, value, expected }))
}
