//! A trained model as Python holds it.

use std::path::PathBuf;

use coldlink::Error;
use coldlink::columns::Mismatches;
use coldlink::dataset::{GivenLink, NewNodes as Loaded};
use coldlink::index::LinkIndex;
use coldlink::load::{Expected, Limits, LoadError, load_held_out_links, load_new_file, new_nodes};
use coldlink::model::{Model, QueryError};
use coldlink::pipeline::{HeldOut, Training};
use numpy::PyArray2;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays;
use crate::error::{out_of_range, raised, refused, refused_file, refused_rows, unanswered};
use crate::graph::{Graph, named, texts};
use crate::listener::watched;
use crate::new_nodes::NewNodes;
use crate::settings::Settings;
use crate::table::Table;
use crate::threads::work;

/// Held-out links: a table, or the names of both ends and the relation where there are several.
#[derive(FromPyObject)]
enum Links {
    File(PathBuf),
    Rows(Vec<(String, String, Option<String>)>),
}

/// The same once they are read: all links and, where they come from a file, where each stands.
struct ReadLinks {
    links: Vec<GivenLink>,
    file: Option<(PathBuf, Vec<u64>)>,
}

impl Links {
    fn read(self) -> Result<ReadLinks, LoadError> {
        match self {
            Links::File(path) => {
                let (lines, links) = load_held_out_links(&path)?.into_iter().unzip();
                Ok(ReadLinks { links, file: Some((path, lines)) })
            }
            Links::Rows(rows) => {
                let link = |(source, target, relation)| GivenLink { source, target, relation };
                Ok(ReadLinks { links: rows.into_iter().map(link).collect(), file: None })
            }
        }
    }
}

/// A trained model.
#[pyclass(frozen, module = "coldlink._coldlink")]
pub struct Trained {
    pub model: Model,
}

#[pymethods]
impl Trained {
    /// Trains as `coldlink train` does.
    #[staticmethod]
    fn fit(
        py: Python<'_>,
        graph: &Graph,
        settings: &Settings,
        seed: u64,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let (dataset, settings) = (&graph.dataset, &settings.inner);
        let model = watched(py, progress, |listener| Training::new(dataset, settings, seed).run(listener))?;
        Ok(Trained { model })
    }

    /// Opens a model, with its index unless links are to be `exact`, and tells why an index that is there cannot be used.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, exact: bool) -> PyResult<(Self, Option<String>)> {
        let open = || if exact { Model::open(&path).map(|model| (model, None)) } else { Model::open_indexed(&path) };
        let (model, problem) = work(py, open)?.map_err(raised)?;
        Ok((Trained { model }, problem.map(|problem| problem.to_string())))
    }

    /// Writes the model's file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        work(py, || self.model.save(&path))?.map_err(raised)
    }

    /// Whether an index should be made when the model is saved there.
    fn needs_index_at(&self, path: PathBuf) -> bool {
        self.model.needs_index_at(&path)
    }

    /// Makes an index beside the model's file.
    fn save_index(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        work(py, || self.model.build_index().save(&LinkIndex::path_of(&path)))?.map_err(raised)
    }

    /// The index that links are found through, as JSON.
    fn index(&self) -> Option<String> {
        self.model.index().and_then(|about| serde_json::to_string(about).ok())
    }

    /// How the model came to be, as JSON.
    fn summary(&self) -> String {
        serde_json::to_string(self.model.summary()).unwrap_or_default()
    }

    /// All settings, as JSON.
    fn settings(&self) -> String {
        serde_json::to_string(self.model.config()).unwrap_or_default()
    }

    #[getter]
    fn nodes(&self) -> usize {
        self.model.summary().nodes
    }

    /// How many columns attributes of new nodes have.
    #[getter]
    fn attributes(&self) -> usize {
        self.model.loaded_width()
    }

    /// The column that names nodes, where the model was trained on tables.
    #[getter]
    fn id_column(&self) -> Option<&str> {
        self.model.schema().map(|schema| schema.id.as_str())
    }

    /// The nodes' names; none where they are numbers.
    fn names(&self) -> Option<Vec<String>> {
        texts(self.model.names())
    }

    /// The embeddings of known nodes.
    fn embed<'py>(&self, py: Python<'py>, which: &str) -> PyResult<Bound<'py, PyArray2<f32>>> {
        match which {
            "attributes" => arrays::array(py, &work(py, || self.model.target_embeddings())?.attributes),
            "structure" => arrays::array(py, &work(py, || self.model.target_embeddings())?.structure),
            other => Err(out_of_range("which", "\"attributes\" or \"structure\"", format!("\"{other}\""))),
        }
    }

    /// New nodes from the columns of a table, those that were trained on.
    fn ask_columns(this: Bound<'_, Self>, columns: &Bound<'_, PyDict>) -> PyResult<NewNodes> {
        let schema = this.get().model.schema().ok_or_else(|| {
            let message = "these are rows of named columns, but the model was trained on numbered columns";
            refused(message, "give an array with a row for each new node")
        })?;
        let table = Table::new(columns)?;
        let loaded = work(this.py(), || new_nodes(&table, schema, false))?.map_err(refused_rows)?;
        NewNodes::ask(this, loaded)
    }

    /// New nodes from a file: a table, or an `.npz` file.
    fn ask_file(this: Bound<'_, Self>, path: PathBuf) -> PyResult<NewNodes> {
        let model = &this.get().model;
        if path.is_dir() {
            let message = format!("`{}` is a folder", path.display());
            return Err(refused_file(&path, message, "give new nodes as one table or `.npz` file"));
        }
        let (schema, width, limits) = (model.schema(), model.loaded_width(), Limits::default());
        let expected = Expected { schema, width, strict_input: false, limits };
        let loaded = work(this.py(), || load_new_file(&path, &expected))?;
        NewNodes::ask(this, loaded.map_err(raised)?)
    }

    /// How well the model finds links that it was not told of, as JSON, and what the user should know.
    fn evaluate_links(
        &self,
        py: Python<'_>,
        links: Links,
        new: Option<&NewNodes>,
        seed: u64,
    ) -> PyResult<(String, Vec<String>)> {
        let ReadLinks { links, file } = links.read().map_err(raised)?;
        let new = new.map(|new| new.asked().new_nodes().clone());
        let held_out = HeldOut { model: &self.model, new, links: &links, seed };
        let report = work(py, || held_out.run())?.map_err(|error| match (error, file) {
            (Error::Query(QueryError::Link { link, problem }), Some((path, lines))) => {
                raised(LoadError::Line { path, line: lines[link - 1], problem: problem.into() })
            }
            (Error::Query(error), _) => unanswered(error),
            (other, _) => raised(other),
        })?;
        Ok((serde_json::to_string(&report).unwrap_or_default(), report.notes))
    }

    /// Known nodes, by their names.
    fn ask_known(this: Bound<'_, Self>, names: Vec<String>) -> PyResult<NewNodes> {
        NewNodes::ask_known(this, names)
    }

    /// New nodes from a matrix with the columns of the graph's attributes.
    fn ask_arrays(this: Bound<'_, Self>, x: &Bound<'_, PyAny>, names: Option<Vec<String>>) -> PyResult<NewNodes> {
        let attributes = arrays::attributes(x)?;
        let names = named(names, attributes.rows())?;
        NewNodes::ask(this, Loaded { names, titles: None, attributes, mismatches: Mismatches::default() })
    }
}
