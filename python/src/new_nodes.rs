//! New nodes and what a model says of them.

use coldlink::dataset::{End, NewNodes as Loaded};
use coldlink::graph::{Attributes, NameIndex, Names, NodeId};
use coldlink::model::{Among, Newcomers, Wish};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

use crate::arrays;
use crate::error::{out_of_range, raised, refused};
use crate::graph::texts;
use crate::trained::Trained;

/// New nodes, or pairs, that are worked on between two looks at Ctrl-C.
const PER_ROUND: usize = 4_096;
const WHERE_NAMES_ARE: &str = "`model.names` lists the nodes of the graph";

/// Nodes that are not in the graph, as their model sees them.
#[pyclass(frozen, module = "coldlink._coldlink")]
pub struct NewNodes {
    trained: Py<Trained>,
    names: Names,
    attributes: Attributes,
    notes: Vec<String>,
    met: Newcomers,
}

/// A column for each of: the row of the new node, the rank, the number of the other node, the score.
type Links<'py> =
    (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f32>>);

/// A score, what attributes add to it, what similar nodes, popularity and the rest add, and the most similar nodes.
type Explained = (f64, Vec<(String, f64)>, f64, f64, f64, Vec<(NodeId, f32)>);

impl NewNodes {
    pub fn meet(trained: Bound<'_, Trained>, loaded: Loaded) -> PyResult<Self> {
        let notes = loaded.notes();
        let Loaded { names, attributes, .. } = loaded;
        let model = &trained.get().model;
        let met = trained.py().detach(|| model.meet(&attributes));
        Ok(NewNodes { names, attributes, notes, met, trained: trained.unbind() })
    }
}

#[pymethods]
impl NewNodes {
    fn __len__(&self) -> usize {
        self.names.len()
    }

    /// What the user should know about them.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// Their names; none where they are numbers.
    fn names(&self) -> Option<Vec<String>> {
        texts(&self.names)
    }

    /// The likeliest links, best first; new nodes that are found are numbered after those of the graph.
    fn recommend<'py>(
        &self,
        py: Python<'py>,
        count: usize,
        among: &str,
        exclude: Vec<String>,
        only: (Option<String>, Vec<(String, String)>),
        popularity: f32,
    ) -> PyResult<Links<'py>> {
        let among = match among {
            "seen" => Among::Seen,
            "new" => Among::New,
            "both" => Among::Both,
            other => {
                return Err(out_of_range("among", "\"seen\", \"new\" or \"both\"", format!("\"{other}\"")));
            }
        };
        if !(0.0..=1.0).contains(&popularity) {
            return Err(out_of_range("popularity", "from 0 to 1", popularity));
        }
        let model = &self.trained.get().model;
        let (candidates, values) = only;
        let mut excluded = self.numbers(&exclude);
        for (column, value) in &values {
            excluded.extend(model.without_value(column, value).map_err(raised)?);
        }
        excluded.sort_unstable();
        excluded.dedup();
        let kind = candidates.map(|name| model.node_type(&name)).transpose().map_err(raised)?;
        let wish = Wish { count, among, excluded: &excluded, kind, popularity };
        let (mut new, mut rank, mut other, mut score) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for first in (0..self.names.len()).step_by(PER_ROUND) {
            let round = first..self.names.len().min(first + PER_ROUND);
            let found = py.detach(|| model.best_links(&self.met, round.clone(), wish));
            for (row, hits) in round.zip(found) {
                for (place, hit) in hits.iter().enumerate() {
                    new.push(row as u32);
                    rank.push(place as u32 + 1);
                    other.push(hit.node);
                    score.push(hit.score);
                }
            }
            py.check_signals()?;
        }
        Ok((
            PyArray1::from_vec(py, new),
            PyArray1::from_vec(py, rank),
            PyArray1::from_vec(py, other),
            PyArray1::from_vec(py, score),
        ))
    }

    /// The scores of pairs. The first name is that of a new node, the second that of a node of the graph or else of a new one;
    /// where there is no new node, both are of the graph.
    fn score<'py>(
        &self,
        py: Python<'py>,
        first: Vec<String>,
        second: Vec<String>,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let model = &self.trained.get().model;
        let pairs = self.ends(&first, &second)?;
        let mut scores = Vec::with_capacity(pairs.len());
        for round in pairs.chunks(PER_ROUND) {
            scores.extend(py.detach(|| model.score_pairs(&self.met, round)));
            py.check_signals()?;
        }
        Ok(PyArray1::from_vec(py, scores))
    }

    /// Probabilities for scores, at a share of linked pairs among all; none where scores give none.
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        scores: numpy::PyReadonlyArray1<'py, f32>,
        base_rate: Option<f64>,
    ) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
        let model = &self.trained.get().model;
        if let Some(share) = base_rate.filter(|share| !(*share > 0.0 && *share < 1.0)) {
            return Err(out_of_range("base_rate", "above 0 and below 1", share));
        }
        let base_rate = base_rate.unwrap_or_else(|| model.base_rate());
        let probabilities: Option<Vec<f64>> =
            scores.as_array().iter().map(|&score| model.probability(score, base_rate)).collect();
        // Without scores nothing tells whether there are probabilities.
        let exist = model.memory.is_some();
        Ok(probabilities.filter(|_| exist).map(|probabilities| PyArray1::from_vec(py, probabilities)))
    }

    /// Their embeddings.
    fn embed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        arrays::array(py, &self.met.embeddings.attributes)
    }

    /// Why a new node scores as it does with another.
    fn explain(&self, py: Python<'_>, row: usize, other: String) -> PyResult<Explained> {
        if row >= self.names.len() {
            let message = format!("there is no row {row} among {} new nodes", self.names.len());
            return Err(refused(message, "rows are counted from 0"));
        }
        let model = &self.trained.get().model;
        let end = find(&model.names.index(), &self.names.index(), &other);
        let end = end.ok_or_else(|| refused(format!("there is no node `{other}`"), WHERE_NAMES_ARE))?;
        let explained = py.detach(|| model.explain(&self.attributes, &self.met, row as NodeId, end));
        let names = model.attribute_names();
        let name = |column: u32| names.get(column as usize).cloned().unwrap_or_else(|| format!("attribute {column}"));
        let attributes = explained.attributes.iter().map(|&(column, adds)| (name(column), adds)).collect();
        let parts = (explained.similar_nodes, explained.popularity, explained.rest);
        Ok((explained.score, attributes, parts.0, parts.1, parts.2, explained.most_similar))
    }
}

impl NewNodes {
    /// The numbers of nodes in rising order; those of new ones come after those of the graph, and names of none are passed over.
    fn numbers(&self, names: &[String]) -> Vec<NodeId> {
        if names.is_empty() {
            return Vec::new();
        }
        let model = &self.trained.get().model;
        let (first_new, seen, new) = (model.names.len() as NodeId, model.names.index(), self.names.index());
        let find = |name: &String| [seen.find(name), new.find(name).map(|node| first_new + node)];
        let mut numbers: Vec<NodeId> = names.iter().flat_map(find).flatten().collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    fn ends(&self, first: &[String], second: &[String]) -> PyResult<Vec<(End, End)>> {
        let model = &self.trained.get().model;
        let (seen, new) = (model.names.index(), self.names.index());
        let source = |row: usize, name: &str| {
            let found =
                if self.names.is_empty() { seen.find(name).map(End::Seen) } else { new.find(name).map(End::New) };
            let what = if self.names.is_empty() { "node" } else { "new node" };
            let message = || format!("row {row} of `pairs`: there is no {what} `{name}`");
            found.ok_or_else(|| refused(message(), "a pair is the name of a new node and that of a node of the graph"))
        };
        let target = |row: usize, name: &str| {
            let message = || format!("row {row} of `pairs`: there is no node `{name}`");
            find(&seen, &new, name).ok_or_else(|| refused(message(), WHERE_NAMES_ARE))
        };
        let ends = first.iter().zip(second).enumerate();
        ends.map(|(row, (first, second))| Ok((source(row, first)?, target(row, second)?))).collect()
    }
}

/// A node of the graph, or else a new one.
fn find(seen: &NameIndex<'_>, new: &NameIndex<'_>, name: &str) -> Option<End> {
    seen.find(name).map(End::Seen).or_else(|| new.find(name).map(End::New))
}
