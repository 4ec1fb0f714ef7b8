//! New nodes and what a model answers about them.

use coldlink::dataset::{End, GivenLink, NewNodes as Loaded, PairQuery};
use coldlink::graph::NodeId;
use coldlink::model::{Asked, Direction, Link, Model, QueryError, Resolved};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

use crate::arrays;
use crate::error::{refused, unanswered};
use crate::graph::texts;
use crate::query::Query;
use crate::threads::work;
use crate::trained::Trained;

/// New nodes, or pairs, that are worked on between two looks at Ctrl-C.
const PER_ROUND: usize = 4_096;
/// New nodes between two looks where links are explained, which takes longer.
const EXPLAINED_PER_ROUND: usize = 64;

/// New nodes that a model is asked about.
#[pyclass(frozen, module = "coldlink._coldlink")]
pub struct NewNodes {
    trained: Py<Trained>,
    asked: Asked,
}

/// A column for each of: the row of the source, the rank, the number of the target, the score, the probability where there is
/// one, the relation and direction where there are any; and what the user should know about the query.
type Columns<'py> = (
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<f32>>,
    Option<Bound<'py, PyArray1<f64>>>,
    Vec<(Option<String>, Option<&'static str>)>,
    Vec<String>,
);

/// A score, what attributes add to it, what similar nodes, popularity and the baseline add, and the most similar nodes.
type Explained = (f32, Vec<(String, f64)>, f64, f64, f64, Vec<(String, f32)>);

impl NewNodes {
    pub fn ask(trained: Bound<'_, Trained>, loaded: Loaded) -> PyResult<Self> {
        let model = &trained.get().model;
        let asked = work(trained.py(), || model.ask(loaded))?.map_err(unanswered)?;
        Ok(NewNodes { asked, trained: trained.unbind() })
    }

    pub fn ask_known(trained: Bound<'_, Trained>, names: Vec<String>) -> PyResult<Self> {
        let model = &trained.get().model;
        let asked = trained.py().detach(|| model.ask_known(&names)).map_err(unanswered)?;
        Ok(NewNodes { asked, trained: trained.unbind() })
    }

    pub fn asked(&self) -> &Asked {
        &self.asked
    }
}

#[pymethods]
impl NewNodes {
    fn __len__(&self) -> usize {
        self.asked.len()
    }

    /// What the user should know about them.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.asked.new_nodes().notes()
    }

    /// Their names; none where they are numbers.
    fn names(&self) -> Option<Vec<String>> {
        texts(&self.asked.new_nodes().names)
    }

    /// The same nodes with links that they have already: the names of both ends, and the relation where there are several.
    fn linked(&self, py: Python<'_>, links: Vec<(String, String, Option<String>)>) -> PyResult<NewNodes> {
        let link = |(source, target, relation)| GivenLink { source, target, relation };
        let links: Vec<GivenLink> = links.into_iter().map(link).collect();
        let asked = py.detach(|| self.model().with_links(self.asked.clone(), &links)).map_err(unanswered)?;
        Ok(NewNodes { trained: self.trained.clone_ref(py), asked })
    }

    /// Their most likely links, best first, as columns of numbers; new nodes are numbered after known ones.
    fn recommend<'py>(&self, py: Python<'py>, query: &Query) -> PyResult<Columns<'py>> {
        let query = self.resolve(py, query)?;
        let model = self.model();
        let (mut sources, mut ranks, mut targets, mut scores) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (roles, mut found_roles) = (model.roles(), Vec::new());
        for first in (0..self.asked.len()).step_by(PER_ROUND) {
            let rows = first..self.asked.len().min(first + PER_ROUND);
            let found = work(py, || model.hits(&self.asked, &query, rows.clone()))?;
            for (row, hits) in rows.zip(found) {
                sources.extend(std::iter::repeat_n(row as u32, hits.len()));
                let mut rank = 0;
                for (place, hit) in hits.iter().enumerate() {
                    let role = roles.role(hit.node);
                    rank = if place > 0 && roles.role(hits[place - 1].node) == role { rank + 1 } else { 1 };
                    ranks.push(rank);
                    found_roles.push(role);
                }
                targets.extend(hits.iter().map(|hit| roles.node(hit.node)));
                scores.extend(hits.iter().map(|hit| hit.score));
            }
            py.check_signals()?;
        }
        let probabilities = probabilities(model, &scores, query.base_rate());
        let meaning = |role| {
            let (relation, direction) = model.meaning(role);
            (relation, direction.map(Direction::name))
        };
        Ok((
            PyArray1::from_vec(py, sources),
            PyArray1::from_vec(py, ranks),
            PyArray1::from_vec(py, targets),
            PyArray1::from_vec(py, scores),
            probabilities.map(|probabilities| PyArray1::from_vec(py, probabilities)),
            found_roles.into_iter().map(meaning).collect(),
            query.notes().to_vec(),
        ))
    }

    /// The same as JSON, in the form that every front end hands out.
    fn links(&self, py: Python<'_>, query: &Query) -> PyResult<(String, Vec<String>)> {
        let per_round = if query.inner.explain.is_some() { EXPLAINED_PER_ROUND } else { PER_ROUND };
        let query = self.resolve(py, query)?;
        let mut links: Vec<Link> = Vec::new();
        for first in (0..self.asked.len()).step_by(per_round) {
            let rows = first..self.asked.len().min(first + per_round);
            links.extend(work(py, || self.model().links(&self.asked, &query, rows))?.into_iter().flatten());
            py.check_signals()?;
        }
        Ok((serde_json::to_string(&links).unwrap_or_default(), query.notes().to_vec()))
    }

    /// The scores of pairs: of the name of a source, that of a target, and whether the target is a known node, if that is said.
    fn score<'py>(
        &self,
        py: Python<'py>,
        pairs: Vec<(String, String, Option<bool>)>,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        Ok(PyArray1::from_vec(py, self.scores(py, pairs)?))
    }

    /// Their probabilities.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        pairs: Vec<(String, String, Option<bool>)>,
        base_rate: Option<f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let model = self.model();
        let base_rate = model.checked_base_rate(base_rate).map_err(unanswered)?;
        if !model.gives_probabilities() {
            return Err(unanswered(QueryError::NoProbability));
        }
        let scores = self.scores(py, pairs)?;
        Ok(PyArray1::from_vec(py, probabilities(model, &scores, base_rate).unwrap_or_default()))
    }

    /// Their embeddings.
    fn embed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        arrays::array(py, &work(py, || self.model().source_embeddings(self.asked.encoded()))?)
    }

    /// Why a new node scores as it does with a target.
    fn explain(&self, py: Python<'_>, row: usize, target: String) -> PyResult<Explained> {
        if row >= self.asked.len() {
            let message = format!("there is no row {row} among {} new nodes", self.asked.len());
            return Err(refused(message, "rows are counted from 0"));
        }
        let source = self.asked.new_nodes().names.get(row as NodeId).into_owned();
        let pair = PairQuery { source, target, known: None, relation: None };
        let (model, asked) = (self.model(), &self.asked);
        let explained = work(py, || {
            let target = model.resolve_pairs(asked, &[pair])?[0].1;
            let source = End::New(model.roles().at(row as NodeId, model.roles().ends(0).0));
            let score = model.score_pairs(asked.encoded(), &[(source, target)])[0];
            Ok((score, model.explain_links(asked, row, &[target], usize::MAX).remove(0)))
        });
        let (score, explanation) = explained?.map_err(unanswered)?;
        let attributes = explanation.attributes.into_iter().map(|reason| (reason.name, reason.adds)).collect();
        let most_similar = explanation.most_similar.into_iter().map(|node| (node.name, node.cosine)).collect();
        let (similar_nodes, popularity) = (explanation.similar_nodes, explanation.popularity);
        Ok((score, attributes, similar_nodes, popularity, explanation.baseline, most_similar))
    }
}

impl NewNodes {
    fn model(&self) -> &Model {
        &self.trained.get().model
    }

    fn resolve(&self, py: Python<'_>, query: &Query) -> PyResult<Resolved> {
        work(py, || self.model().resolve(&self.asked, &query.inner))?.map_err(unanswered)
    }

    /// The scores of pairs. All names are looked up before anything is scored.
    fn scores(&self, py: Python<'_>, pairs: Vec<(String, String, Option<bool>)>) -> PyResult<Vec<f32>> {
        let pair = |(source, target, known)| PairQuery { source, target, known, relation: None };
        let pairs: Vec<PairQuery> = pairs.into_iter().map(pair).collect();
        let (model, asked) = (self.model(), &self.asked);
        let ends = work(py, || model.resolve_pairs(asked, &pairs))?.map_err(unanswered)?;
        let mut scores = Vec::with_capacity(ends.len());
        for round in ends.chunks(PER_ROUND) {
            scores.extend(work(py, || model.score_pairs(asked.encoded(), round))?);
            py.check_signals()?;
        }
        Ok(scores)
    }
}

/// Probabilities for scores; none where the model gives none.
fn probabilities(model: &Model, scores: &[f32], base_rate: f64) -> Option<Vec<f64>> {
    let of_all = || scores.iter().filter_map(|&score| model.probability(score, base_rate)).collect();
    model.gives_probabilities().then(of_all)
}
