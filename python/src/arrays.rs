//! numpy arrays and scipy matrices as attributes and links, read where they lie: the only copy is the library's own.

use coldlink::graph::{AttributeNames, Attributes, NodeId, UNKNOWN_TIME};
use coldlink::kernel::Matrix;
use coldlink::load::GivenLinks;
use numpy::ndarray::{ArrayView1, ArrayView2};
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::error::refused;

/// Attributes from a dense array, or from a matrix in compressed rows (whatever has `indptr`).
pub fn attributes(x: &Bound<'_, PyAny>) -> PyResult<Attributes> {
    if x.hasattr("indptr")? { compressed(x) } else { dense(x) }
}

/// The ends of links, which must be numbers of nodes.
pub fn ends(
    py: Python<'_>,
    sources: &Bound<'_, PyAny>,
    targets: &Bound<'_, PyAny>,
    nodes: usize,
) -> PyResult<Vec<(NodeId, NodeId)>> {
    fn read<T: Element + Into<i64> + Copy + Sync>(
        py: Python<'_>,
        sources: &PyReadonlyArray1<'_, T>,
        targets: &PyReadonlyArray1<'_, T>,
        nodes: usize,
    ) -> PyResult<Vec<(NodeId, NodeId)>> {
        let (sources, targets) = (sources.as_array(), targets.as_array());
        py.detach(|| pairs(sources, targets, nodes))
    }
    if let (Ok(sources), Ok(targets)) = (sources.extract(), targets.extract()) {
        return read::<i32>(py, &sources, &targets, nodes);
    }
    read::<i64>(py, &sources.extract()?, &targets.extract()?, nodes)
}

fn pairs<T: Into<i64> + Copy>(
    sources: ArrayView1<'_, T>,
    targets: ArrayView1<'_, T>,
    nodes: usize,
) -> PyResult<Vec<(NodeId, NodeId)>> {
    if sources.len() != targets.len() {
        let message = format!("there are {} sources of links and {} targets", sources.len(), targets.len());
        return Err(refused(message, "give a source and a target for each link"));
    }
    let node = |row: usize, end: T| match end.into() {
        end if (0..nodes as i64).contains(&end) => Ok(end as NodeId),
        end => {
            let message = format!("row {row} of `edges` has node {end}, but there are {nodes} nodes");
            Err(refused(message, "nodes are numbered from 0, in the order of the rows of attributes"))
        }
    };
    let ends = sources.iter().zip(targets.iter()).enumerate();
    ends.map(|(row, (&source, &target))| Ok((node(row, source)?, node(row, target)?))).collect()
}

/// Links with their weights and times, where they have any. A link of weight 0 is none.
pub fn carried(
    pairs: Vec<(NodeId, NodeId)>,
    weights: Option<Vec<f64>>,
    times: Option<Vec<f64>>,
) -> PyResult<GivenLinks> {
    let fits = |what: &str, values: &Option<Vec<f64>>| match values.as_ref().map_or(pairs.len(), Vec::len) {
        found if found == pairs.len() => Ok(()),
        found => {
            let message = format!("there are {found} {what} but {} links", pairs.len());
            Err(refused(message, "give one for each row of `edges`"))
        }
    };
    fits("weights", &weights)?;
    fits("times", &times)?;
    let bad = |weight: &f64| *weight < 0.0 || !(*weight as f32).is_finite();
    if let Some(row) = weights.iter().flatten().position(bad) {
        let weight = weights.iter().flatten().nth(row).copied().unwrap_or_default();
        let message = format!("row {row} of `weights` is {weight}, expected a finite number of 0 or more");
        return Err(refused(message, "a weight of 0 is no link; leave out links that speak against one another"));
    }
    if let Some(row) = times.iter().flatten().position(|time| time.is_infinite()) {
        return Err(refused(format!("row {row} of `times` is infinite"), "use NaN where a time is not known"));
    }
    let kept: Vec<usize> =
        (0..pairs.len()).filter(|&row| weights.as_ref().is_none_or(|weights| weights[row] != 0.0)).collect();
    let weight = |weights: &Vec<f64>, row: usize| (weights[row] as f32).max(f32::MIN_POSITIVE);
    let time = |times: &Vec<f64>, row: usize| if times[row].is_nan() { UNKNOWN_TIME } else { times[row] };
    Ok(GivenLinks {
        weights: weights.iter().flat_map(|weights| kept.iter().map(move |&row| weight(weights, row))).collect(),
        times: times.iter().flat_map(|times| kept.iter().map(move |&row| time(times, row))).collect(),
        pairs: kept.iter().map(|&row| pairs[row]).collect(),
        ..GivenLinks::default()
    })
}

fn dense(x: &Bound<'_, PyAny>) -> PyResult<Attributes> {
    if let Ok(x) = x.extract::<PyReadonlyArray2<'_, f32>>() {
        let (py, x) = (x.py(), x.as_array());
        return py.detach(|| from_dense(x));
    }
    let x = x.extract::<PyReadonlyArray2<'_, f64>>()?;
    let (py, x) = (x.py(), x.as_array());
    py.detach(|| from_dense(x))
}

/// Zeros are left out.
fn from_dense<T: Into<f64> + Copy>(x: ArrayView2<'_, T>) -> PyResult<Attributes> {
    let kept = |value: &T| (*value).into() as f32 != 0.0;
    let entries = x.iter().filter(|value| kept(value)).count();
    let mut rows = Rows::with_capacity(x.nrows(), entries);
    for (row, values) in x.outer_iter().enumerate() {
        for (column, &value) in values.iter().enumerate() {
            rows.push(row, column as u32, value.into())?;
        }
        rows.end();
    }
    rows.attributes(x.ncols())
}

fn compressed(x: &Bound<'_, PyAny>) -> PyResult<Attributes> {
    let (height, width): (usize, usize) = x.getattr("shape")?.extract()?;
    let (offsets, columns) = (x.getattr("indptr")?, x.getattr("indices")?);
    if let (Ok(offsets), Ok(columns)) = (offsets.extract(), columns.extract()) {
        return with_values::<i32>(x, &offsets, &columns, (height, width));
    }
    with_values::<i64>(x, &offsets.extract()?, &columns.extract()?, (height, width))
}

fn with_values<I: Element + Into<i64> + Copy + Sync>(
    x: &Bound<'_, PyAny>,
    offsets: &PyReadonlyArray1<'_, I>,
    columns: &PyReadonlyArray1<'_, I>,
    shape: (usize, usize),
) -> PyResult<Attributes> {
    let (py, values) = (x.py(), x.getattr("data")?);
    let (offsets, columns) = (offsets.as_array(), columns.as_array());
    if let Ok(values) = values.extract::<PyReadonlyArray1<'_, f32>>() {
        let values = values.as_array();
        return py.detach(|| from_compressed(offsets, columns, values, shape));
    }
    let values = values.extract::<PyReadonlyArray1<'_, f64>>()?;
    let values = values.as_array();
    py.detach(|| from_compressed(offsets, columns, values, shape))
}

/// Repeated columns of a row are summed, as scipy does, and zeros left out.
fn from_compressed<I: Into<i64> + Copy, T: Into<f64> + Copy>(
    offsets: ArrayView1<'_, I>,
    columns: ArrayView1<'_, I>,
    values: ArrayView1<'_, T>,
    (height, width): (usize, usize),
) -> PyResult<Attributes> {
    let torn = || {
        refused("the arrays of the matrix `x` do not fit together", "build it again with `scipy.sparse.csr_array(x)`")
    };
    if offsets.len() != height + 1 || columns.len() != values.len() || width > u32::MAX as usize {
        return Err(torn());
    }
    let mut rows = Rows::with_capacity(height, values.len());
    let mut entries: Vec<(u32, usize)> = Vec::new();
    let mut start = 0;
    for (row, &end) in offsets.iter().enumerate() {
        let end =
            usize::try_from(end.into()).ok().filter(|end| (start..=values.len()).contains(end)).ok_or_else(torn)?;
        if row == 0 {
            start = end;
            continue;
        }
        entries.clear();
        for entry in start..end {
            let column = columns[entry].into();
            if !(0..width as i64).contains(&column) {
                return Err(torn());
            }
            entries.push((column as u32, entry));
        }
        if !entries.is_sorted() {
            entries.sort_unstable();
        }
        for same in entries.chunk_by(|a, b| a.0 == b.0) {
            let sum: f64 = same.iter().map(|&(_, entry)| values[entry].into()).sum();
            rows.push(row - 1, same[0].0, sum)?;
        }
        rows.end();
        start = end;
    }
    rows.attributes(width)
}

/// Sparse rows that grow.
struct Rows {
    offsets: Vec<u64>,
    columns: Vec<u32>,
    values: Vec<f32>,
}

impl Rows {
    fn with_capacity(rows: usize, entries: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Rows { offsets, columns: Vec::with_capacity(entries), values: Vec::with_capacity(entries) }
    }

    fn push(&mut self, row: usize, column: u32, value: f64) -> PyResult<()> {
        let small = value as f32;
        if !small.is_finite() {
            let message = format!("`x` has {value} in row {row}, column {column}, expected a finite 32-bit number");
            return Err(refused(message, "replace missing and infinite values, for example by 0"));
        }
        if small != 0.0 {
            self.columns.push(column);
            self.values.push(small);
        }
        Ok(())
    }

    fn end(&mut self) {
        self.offsets.push(self.columns.len() as u64);
    }

    fn attributes(self, width: usize) -> PyResult<Attributes> {
        let Rows { offsets, columns, values } = self;
        Attributes::from_parts(width, offsets.into(), columns.into(), values.into(), AttributeNames::default()).map_err(
            |reason| refused(format!("`x` is not a matrix of attributes: {reason}"), "give a row for each node"),
        )
    }
}

/// A matrix as an array, without what fills its rows up.
pub fn array<'py>(py: Python<'py>, matrix: &Matrix<f32>) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let flat: Vec<f32> = (0..matrix.rows()).flat_map(|row| matrix.row(row)).copied().collect();
    PyArray1::from_vec(py, flat).reshape([matrix.rows(), matrix.columns()])
}
