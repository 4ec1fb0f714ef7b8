//! A graph as Python holds it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use coldlink::columns::{ColumnKind, Columns, EdgeColumns};
use coldlink::dataset::Dataset;
use coldlink::graph::{Names, NodeId};
use coldlink::load::{BuiltLinks, LoadOptions, UnknownNodes, load, load_in_memory, write_packed};
use coldlink::split::{Protocol, Split};
use coldlink::text::plain_reason;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Deserialize;

use crate::arrays;
use crate::error::{misconfigured, out_of_range, raised, refused, refused_rows};
use crate::table::Table;
use crate::threads::work;

/// A graph with attributes and names.
#[pyclass(frozen, module = "coldlink._coldlink")]
pub struct Graph {
    pub dataset: Dataset,
}

#[pymethods]
impl Graph {
    /// Reads a graph from a file or folder; `name` replaces what the path would call it, and `columns` says as JSON what columns
    /// are.
    #[staticmethod]
    fn read(
        py: Python<'_>,
        path: PathBuf,
        strict_input: bool,
        unknown_nodes: &str,
        columns: Option<&str>,
        name: Option<String>,
        directed: Option<bool>,
    ) -> PyResult<Self> {
        let options = LoadOptions { directed, ..options(strict_input, unknown_nodes, columns)? };
        let mut dataset = work(py, || load(&path, &options))?.map_err(raised)?;
        dataset.name = name.unwrap_or(dataset.name);
        Ok(Graph { dataset })
    }

    /// A graph from the columns of two tables.
    #[staticmethod]
    fn from_columns(
        nodes: &Bound<'_, PyDict>,
        edges: &Bound<'_, PyDict>,
        unknown_nodes: &str,
        columns: Option<&str>,
        name: String,
        directed: Option<bool>,
    ) -> PyResult<Self> {
        let options = LoadOptions { directed, ..options(false, unknown_nodes, columns)? };
        let (py, nodes, edges) = (nodes.py(), Table::new(nodes)?, Table::new(edges)?);
        let dataset = work(py, || load_in_memory(&nodes, &edges, &options))?.map_err(refused_rows)?;
        Ok(Graph { dataset: Dataset { name, ..dataset } })
    }

    /// A graph from the two ends of its links and a matrix of attributes; links may have weights, and times of which NaN is unknown.
    #[staticmethod]
    fn from_arrays(
        py: Python<'_>,
        ends: (Bound<'_, PyAny>, Bound<'_, PyAny>),
        carried: (Option<PyReadonlyArray1<'_, f64>>, Option<PyReadonlyArray1<'_, f64>>),
        x: &Bound<'_, PyAny>,
        names: Option<Vec<String>>,
        name: String,
        directed: Option<bool>,
    ) -> PyResult<Self> {
        let attributes = arrays::attributes(x)?;
        let nodes = attributes.rows();
        if NodeId::try_from(nodes).is_err() {
            return Err(refused(format!("{nodes} nodes are too many"), "a graph has fewer than 4,294,967,296 nodes"));
        }
        if attributes.width() == 0 {
            return Err(refused("`x` has no columns", "give each node a row of attributes"));
        }
        let links = arrays::ends(py, &ends.0, &ends.1, nodes)?;
        let names = named(names, nodes)?;
        let options = LoadOptions { directed, ..LoadOptions::default() };
        let list = |values: Option<PyReadonlyArray1<'_, f64>>| values.map(|values| values.as_array().to_vec());
        let given = arrays::carried(links, list(carried.0), list(carried.1))?;
        let built = work(py, || given.build(nodes, &options))?;
        let notes = built.notes();
        let BuiltLinks { graph, relations, .. } = built;
        if graph.links() == 0 {
            return Err(refused("there are no links between different nodes", "give a row of `edges` for each link"));
        }
        Ok(Graph { dataset: Dataset { name, graph, relations, attributes, names, titles: None, schema: None, notes } })
    }

    /// Writes a packed file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        work(py, || write_packed(&self.dataset, &path))?.map_err(raised)
    }

    /// Splits the graph and writes the split to a folder; what its audit found is in the answer.
    fn split(&self, py: Python<'_>, folder: PathBuf, protocol: &str, seed: u64) -> PyResult<Vec<String>> {
        let protocol: Protocol = protocol.parse().map_err(raised)?;
        let dataset = &self.dataset;
        let split = work(py, || Split::make(dataset, &protocol, None, seed))?.map_err(raised)?;
        work(py, || split.write(&folder, &dataset.names))?.map_err(raised)?;
        Ok(split.audit().findings().iter().map(ToString::to_string).collect())
    }

    #[getter]
    fn name(&self) -> &str {
        &self.dataset.name
    }

    #[getter]
    fn nodes(&self) -> usize {
        self.dataset.graph.nodes()
    }

    #[getter]
    fn links(&self) -> usize {
        self.dataset.graph.links()
    }

    #[getter]
    fn attributes(&self) -> usize {
        self.dataset.attributes.width()
    }

    /// What the user should know about the graph.
    #[getter]
    fn notes(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        work(py, || self.dataset.notes_in_words())
    }

    /// The nodes' names; none where they are numbers.
    fn names(&self) -> Option<Vec<String>> {
        texts(&self.dataset.names)
    }

    /// The attributes' names; none where they have none.
    fn attribute_names(&self) -> Vec<String> {
        self.dataset.attributes.names().0.clone()
    }

    /// Each link once, the smaller number first.
    fn edges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u32>>> {
        let graph = &self.dataset.graph;
        let flat: Vec<u32> = work(py, || graph.iter_links().flat_map(|(a, b)| [a, b]).collect())?;
        PyArray1::from_vec(py, flat).reshape([graph.links(), 2])
    }
}

fn options(strict_input: bool, unknown_nodes: &str, columns: Option<&str>) -> PyResult<LoadOptions> {
    let unknown_nodes = match unknown_nodes {
        "refuse" => UnknownNodes::Refuse,
        "drop" => UnknownNodes::Drop,
        other => {
            return Err(out_of_range("unknown_nodes", "\"refuse\" or \"drop\"", format!("\"{other}\"")));
        }
    };
    let wrong = |reason: String| {
        let hint = "write, for example, {\"price\": \"numeric\", \"title\": {\"kind\": \"text\", \"rare\": 3}}";
        misconfigured(format!("`columns`: {reason}"), Some(hint))
    };
    let columns = columns.map(said_of_columns).transpose().map_err(wrong)?.unwrap_or_default();
    Ok(LoadOptions { strict_input, columns, unknown_nodes, ..LoadOptions::default() })
}

/// What is said of columns, as `coldlink.graph` writes it; or what is wrong with it, by column.
fn said_of_columns(text: &str) -> Result<Columns, String> {
    /// Columns whose kinds are not looked at yet.
    #[derive(Deserialize)]
    struct Said {
        id: Option<String>,
        columns: BTreeMap<String, serde_json::Value>,
        edges: Option<EdgeColumns>,
    }
    let Said { id, columns, edges } = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let kind = |(name, said): (String, serde_json::Value)| match ColumnKind::deserialize(said) {
        Ok(kind) => Ok((name, kind)),
        Err(error) => Err(format!("column `{name}`: {}", plain_reason(&error.to_string()))),
    };
    let columns = columns.into_iter().map(kind).collect::<Result<_, String>>()?;
    Columns { id, columns, edges, ..Columns::default() }.checked()
}

/// Names that tell nodes apart, or numbers where none are given.
pub fn named(names: Option<Vec<String>>, nodes: usize) -> PyResult<Names> {
    let Some(names) = names else { return Ok(Names::Numbered(nodes)) };
    if names.len() != nodes {
        let message = format!("there are {} names but {nodes} nodes", names.len());
        return Err(refused(message, "give each node exactly one name"));
    }
    let mut seen = std::collections::HashSet::new();
    if let Some(twice) = names.iter().find(|name| !seen.insert(name.as_str())) {
        return Err(refused(format!("two nodes are named `{twice}`"), "give each node its own name"));
    }
    Ok(Names::from_texts(&names))
}

/// Names as they are shown; none where they are numbers.
pub fn texts(names: &Names) -> Option<Vec<String>> {
    match names {
        Names::Numbered(_) => None,
        Names::Texts(texts) => Some(texts.iter().map(str::to_owned).collect()),
    }
}
