//! A trained model as users keep it: one file that embeds new nodes and scores them against the nodes it has seen.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::embeddings::embed_attributes;
use super::indexed::Lazily;
use super::{
    Archive, ArchiveWriter, Deal, EmbeddingScorer, Embeddings, Features, FileError, FileProblem, Kinds, Parameter,
};
use crate::Config;
use crate::evaluate::Scorer;
use crate::graph::{Attributes, Buffer, Dataset, Graph, Names, NodeId, Texts, Types};
use crate::index::{ExactIndex, Hit, Index, LinkIndex, best};
use crate::kernel::{Entry, LANES, Matrix};
use crate::load::{End, Schema};
use crate::score::{Evidence, KindWeights, LinkScorer, ScoreWeights, Side, Terms, TfIdfRows};
use crate::split::{PairKind, Preparation, StoredPreparation, TrainView};
use crate::train::{Fitted, Validated};

const KIND: &str = "model";
/// 2 added the score's weights and what they need; a model of version 1 has none. 3 added what is fitted to tables.
const VERSION: u32 = 4;

/// How a model came to be. It holds no times, paths or thread counts: the same training gives the same file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// What the graph was called.
    pub dataset: String,
    /// Its nodes, and those that joined later.
    pub nodes: usize,
    /// Nodes that joined without training.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub added: usize,
    /// Its links.
    pub links: usize,
    /// Its attributes.
    pub attributes: usize,
    /// The seed.
    #[serde(with = "large_seed")]
    pub seed: u64,
    /// The preset that the configuration started from.
    pub preset: String,
    /// Steps of training.
    pub steps: u64,
    /// The validation that chose them.
    pub validation: Option<Validated>,
}

/// Models that nobody added to are written as ever.
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// TOML's numbers end at 2⁶³, seeds do not: larger ones are written as text.
mod large_seed {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(seed: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        if i64::try_from(*seed).is_ok() { serializer.serialize_u64(*seed) } else { serializer.collect_str(seed) }
    }

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Number(u64),
        Text(String),
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        match Written::deserialize(deserializer)? {
            Written::Number(seed) => Ok(seed),
            Written::Text(text) => text.parse().map_err(D::Error::custom),
        }
    }
}

/// A trained model.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// All settings.
    pub config: Config,
    /// How it came to be.
    pub summary: Summary,
    /// The names of the nodes it knows.
    pub names: Names,
    /// How tables become attributes, where it was trained on tables.
    pub schema: Option<Schema>,
    /// What was fitted to these attributes.
    pub preparation: Option<Preparation>,
    /// Kinds of nodes, where there are several.
    pub kinds: Option<Kinds>,
    /// Both embeddings of the nodes it knows.
    pub embeddings: Embeddings,
    /// What else it knows of them, where its score is made of fitted terms.
    pub memory: Option<Memory>,
    pub(super) encoder: Deal<f32>,
    /// Through which links are found, where there is one.
    pub(super) index: Option<Arc<LinkIndex>>,
    pub(super) kept: Lazily,
}

/// What a score of fitted terms needs beside embeddings.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// The links.
    pub graph: Graph,
    /// tf-idf rows of the nodes.
    pub words: TfIdfRows,
    /// The weights of the terms.
    pub weights: ScoreWeights,
}

/// New nodes as a model sees them.
#[derive(Clone, Debug, PartialEq)]
pub struct Newcomers {
    /// Their embeddings; none is seen.
    pub embeddings: Embeddings,
    pub(super) words: Option<TfIdfRows>,
    /// Their kinds, where the model's nodes have kinds.
    pub types: Option<Arc<Types>>,
}

/// Which nodes are looked through for links of a new one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Among {
    /// Those of the graph.
    #[default]
    Seen,
    /// The other new ones.
    New,
    /// All of them.
    Both,
}

/// Which links are looked for, and how they are ranked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wish<'a> {
    /// How many links of each new node.
    pub count: usize,
    /// Where they are looked for.
    pub among: Among,
    /// Nodes that are passed over, in rising order; new ones are numbered after those of the graph.
    pub excluded: &'a [NodeId],
    /// The kind of node that is wished; without it, kinds that are linked with the new node's. Without effect where all nodes are of
    /// one kind.
    pub kind: Option<usize>,
    /// From 1, as scored, down to 0, where a node's many links are no argument for it. Without effect on a score by λ.
    pub popularity: f32,
}

/// What stands in the file beside the tensors.
#[derive(Serialize, Deserialize)]
struct About {
    width: usize,
    numbered: Option<usize>,
    summary: Summary,
    config: Config,
    schema: Option<Schema>,
    weights: Option<ScoreWeights>,
    kinds: Option<KindNames>,
}

/// Kinds of nodes without the nodes.
#[derive(Clone, Serialize, Deserialize)]
struct KindNames {
    names: Vec<String>,
    linked: Vec<[u8; 2]>,
}

impl Wish<'_> {
    /// The best nodes of the graph, as scored.
    pub fn best(count: usize) -> Self {
        Wish { count, among: Among::Seen, excluded: &[], kind: None, popularity: 1.0 }
    }

    /// The nodes that are looked through, where there are so many.
    fn candidates(&self, seen: usize, new: usize) -> Vec<NodeId> {
        let range = match self.among {
            Among::Seen => 0..seen,
            Among::New => seen..seen + new,
            Among::Both => 0..seen + new,
        };
        let all = range.map(|node| node as NodeId);
        all.filter(|node| self.excluded.binary_search(node).is_err()).collect()
    }
}

impl Model {
    /// A model from a finished training run on all of `dataset`.
    pub fn new(dataset: &Dataset, fitted: &Fitted, config: &Config, preset: &str, seed: u64) -> Self {
        let nodes: Vec<NodeId> = (0..dataset.graph.nodes() as NodeId).collect();
        let is_seen = |node| dataset.graph.degree(node) > 0;
        let embeddings = Embeddings::of(&fitted.model, &fitted.features, &nodes, is_seen);
        let visible = vec![true; nodes.len()];
        let fitted_to = fitted.preparation.as_ref();
        let attributes = fitted_to.map_or(Cow::Borrowed(&dataset.attributes), |preparation| {
            Cow::Owned(preparation.apply(&dataset.attributes))
        });
        let view = TrainView::prepared(&dataset.graph, &attributes, &visible, fitted_to);
        let memory = fitted.weights.as_ref().map(|weights| Memory {
            graph: dataset.graph.clone(),
            words: TfIdfRows::of(&view),
            weights: weights.clone(),
        });
        let summary = Summary {
            dataset: dataset.name.clone(),
            nodes: dataset.graph.nodes(),
            added: 0,
            links: dataset.graph.links(),
            attributes: attributes.width(),
            seed,
            preset: preset.to_owned(),
            steps: fitted.steps,
            validation: fitted.history.iter().find(|validated| validated.step == fitted.steps).copied(),
        };
        // Values that are left out need not be known.
        let (schema, preparation) = match (&dataset.schema, fitted_to) {
            (Some(schema), Some(preparation)) => {
                let kept = preparation.kept();
                let (schema, remaining) = schema.keeping(|attribute| kept[attribute as usize]);
                (Some(schema), Some(preparation.selecting(&remaining)))
            }
            _ => (dataset.schema.clone(), fitted.preparation.clone()),
        };
        Model {
            config: config.clone(),
            summary,
            names: dataset.names.clone(),
            schema,
            preparation,
            kinds: dataset.attributes.types().map(|types| Kinds::of(&dataset.graph, types)),
            embeddings,
            memory,
            encoder: fitted.model.frozen().without_table(),
            index: None,
            kept: Lazily::default(),
        }
    }

    /// λ of Eq. 10.
    pub fn lambda(&self) -> [f32; 3] {
        self.config.lambda.map(|weight| weight as f32)
    }

    /// How many columns attributes of new nodes have.
    pub fn loaded_width(&self) -> usize {
        self.preparation.as_ref().map_or(self.summary.attributes, Preparation::loaded_width)
    }

    /// What the attributes are called that explanations name; nothing where that is not known.
    pub fn attribute_names(&self) -> Vec<String> {
        let loaded = self.schema.as_ref().map(Schema::attribute_names).unwrap_or_default();
        self.preparation.as_ref().map(|preparation| preparation.names(&loaded)).unwrap_or(loaded)
    }

    /// Attributes of new nodes as the encoder sees them.
    pub(super) fn prepared<'a>(&self, attributes: &'a Attributes) -> Cow<'a, Attributes> {
        match &self.preparation {
            Some(preparation) => Cow::Owned(preparation.apply(attributes)),
            None => Cow::Borrowed(attributes),
        }
    }

    /// z_a of new nodes, whose attributes stand in [`Model::loaded_width`] columns.
    pub fn embed(&self, attributes: &Attributes) -> Matrix<f32> {
        self.embed_prepared(&self.prepared(attributes))
    }

    fn embed_prepared(&self, attributes: &Attributes) -> Matrix<f32> {
        let features = Features::new(attributes, self.config.scaling);
        let nodes: Vec<NodeId> = (0..attributes.rows() as NodeId).collect();
        embed_attributes(&self.encoder, &features, &nodes)
    }

    /// New nodes in the form that scores are computed from.
    pub fn meet(&self, attributes: &Attributes) -> Newcomers {
        let attributes = &*self.prepared(attributes);
        let embedded = self.embed_prepared(attributes);
        let seen = vec![false; embedded.rows()];
        let words = self.memory.as_ref().map(|memory| memory.words.of_new(attributes));
        let types = attributes.types().cloned();
        Newcomers { embeddings: Embeddings { structure: embedded.clone(), seen, attributes: embedded }, words, types }
    }

    /// The scores of pairs of which each end is a new node or one of the graph.
    pub fn score_pairs(&self, new: &Newcomers, pairs: &[(End, End)]) -> Vec<f32> {
        let Some(scorer) = self.link_scorer(new) else { return self.score_by_lambda(new, pairs) };
        scorer.scores(&pairs.iter().map(|&(a, b)| (self.number(a), self.number(b))).collect::<Vec<_>>())
    }

    /// The likeliest links of some of the new nodes, best first by what is wished; their scores are those of the model. New nodes
    /// that are found are numbered after those of the graph. Nodes of the graph are found through the index, where there is one.
    pub fn best_links(&self, new: &Newcomers, rows: Range<usize>, wish: Wish<'_>) -> Vec<Vec<Hit>> {
        let scorer = self.link_scorer(new);
        match &self.index {
            Some(index) if wish.among == Among::Seen => {
                let exact = |row: usize| self.best_of_all(scorer.as_ref(), new, row..row + 1, wish).remove(0);
                let find = |row| self.retrieve(index, scorer.as_ref(), new, row, wish).unwrap_or_else(|| exact(row));
                rows.into_par_iter().map(find).collect()
            }
            _ => self.best_of_all(scorer.as_ref(), new, rows, wish),
        }
    }

    /// The same by scoring every node.
    pub(super) fn best_of_all(
        &self,
        scorer: Option<&LinkScorer<'_>>,
        new: &Newcomers,
        rows: Range<usize>,
        wish: Wish<'_>,
    ) -> Vec<Vec<Hit>> {
        let candidates = wish.candidates(self.summary.nodes, new.embeddings.nodes());
        if let Some(scorer) = scorer {
            let penalty = |node: NodeId| scorer.evidence.popularity(node) * (1.0 - wish.popularity);
            let wished = |row: usize, node: NodeId| self.is_wished(new, row, wish, node);
            return self.best_of(scorer, rows, &candidates, wish.count, penalty, wished);
        }
        if wish.among == Among::Seen && wish.excluded.is_empty() && self.kinds.is_none() {
            return self.best_by_dense(new, rows, wish.count);
        }
        let all = self.embeddings.followed_by(&new.embeddings);
        let scorer = EmbeddingScorer { embeddings: &all, lambda: self.lambda() };
        let wished = |row: usize, node: NodeId| self.is_wished(new, row, wish, node);
        self.best_of(&scorer, rows, &candidates, wish.count, |_| 0.0, wished)
    }

    /// The best nodes of the graph by the dense part of the score alone.
    pub fn best_by_dense(&self, new: &Newcomers, rows: Range<usize>, count: usize) -> Vec<Vec<Hit>> {
        let queries = &new.embeddings.attributes;
        let part = Matrix::from_fn(rows.len(), queries.columns(), |row, column| queries.row(rows.start + row)[column]);
        ExactIndex::new(self.search_vectors()).search(&self.query_vectors(&part), count)
    }

    /// The best candidates for each new node of `rows` that are wished for it by their scores less a penalty, never the node
    /// itself.
    fn best_of(
        &self,
        scorer: &impl Scorer,
        rows: Range<usize>,
        candidates: &[NodeId],
        count: usize,
        penalty: impl Fn(NodeId) -> f32 + Sync,
        wished: impl Fn(usize, NodeId) -> bool + Sync,
    ) -> Vec<Vec<Hit>> {
        let find = |scores: &mut Vec<f32>, row: usize| {
            let own = (self.summary.nodes + row) as NodeId;
            scorer.scores_against(own, candidates, scores);
            let places =
                (0..candidates.len()).filter(|&place| candidates[place] != own && wished(row, candidates[place]));
            let ranked = places.map(|place| (place as NodeId, scores[place] - penalty(candidates[place])));
            let hit = |hit: Hit| Hit { node: candidates[hit.node as usize], score: scores[hit.node as usize] };
            best(ranked, count).into_iter().map(hit).collect()
        };
        rows.into_par_iter().map_init(|| vec![0.0; candidates.len()], find).collect()
    }

    /// The probability of a link, given its score and the share of linked pairs among all; `None` where the score is none of
    /// fitted terms.
    pub fn probability(&self, score: f32, base_rate: f64) -> Option<f64> {
        Some(self.memory.as_ref()?.weights.probability(f64::from(score), base_rate))
    }

    /// The share of linked pairs among all pairs of the training graph. Nodes that joined later had no chance of a link yet, so
    /// they do not make links rarer.
    pub fn base_rate(&self) -> f64 {
        let nodes = self.summary.nodes.saturating_sub(self.summary.added) as f64;
        2.0 * self.summary.links as f64 / (nodes * (nodes - 1.0)).max(1.0)
    }

    fn link_scorer<'a>(&'a self, new: &'a Newcomers) -> Option<LinkScorer<'a>> {
        self.link_scorer_through(new, self.index.as_deref())
    }

    /// What scores pairs of new nodes. All that is said of a pair with one index is said from the same walk.
    pub(super) fn link_scorer_through<'a>(
        &'a self,
        new: &'a Newcomers,
        index: Option<&'a LinkIndex>,
    ) -> Option<LinkScorer<'a>> {
        let (memory, words) = (self.memory.as_ref()?, new.words.as_ref()?);
        let known = Side { embeddings: &self.embeddings, words: &memory.words };
        let evidence = Evidence::with_seen(&memory.graph, known, Cow::Borrowed(&self.kept().seen));
        let similar = index.and_then(LinkIndex::similar_nodes);
        let evidence = evidence.with_new(Side { embeddings: &new.embeddings, words }).through(similar);
        Some(LinkScorer { evidence, weights: &memory.weights, popularity: 1.0 })
    }

    /// The terms of a new node with another, and the weights of their kind; none where the score has no terms.
    pub(super) fn weighed_terms(&self, new: &Newcomers, node: NodeId, other: End) -> Option<(Terms, &KindWeights)> {
        let (evidence, weights) = (self.link_scorer(new)?.evidence, &self.memory.as_ref()?.weights);
        let pair = (self.number(End::New(node)), self.number(other));
        Some((evidence.terms(&[pair])[0], weights.of(self.kind_with(other))))
    }

    /// Where a new node's walk starts: see [`Evidence::starts`]; none where the model keeps no score of terms.
    pub(super) fn starts(&self, new: &Newcomers, node: NodeId) -> Option<Vec<(NodeId, f32)>> {
        Some(self.link_scorer(new)?.evidence.starts(self.number(End::New(node)), None))
    }

    /// The kind of a pair of a new node and another.
    pub(super) fn kind_with(&self, other: End) -> PairKind {
        match other {
            End::Seen(node) if self.embeddings.seen[node as usize] => PairKind::NewOld,
            _ => PairKind::NewNew,
        }
    }

    /// The products of the tf-idf weights that a new node shares with another, by their columns.
    pub(super) fn shared_words(&self, new: &Newcomers, node: NodeId, other: End) -> Vec<(u32, f64)> {
        let (Some(memory), Some(words)) = (&self.memory, &new.words) else { return Vec::new() };
        let other = match other {
            End::Seen(node) => memory.words.row(node as usize),
            End::New(node) => words.row(node as usize),
        };
        let shared = |entry: &Entry<f32>| {
            let place = other.binary_search_by_key(&entry.index, |other| other.index).ok()?;
            Some((entry.index, f64::from(entry.weight) * f64::from(other[place].weight)))
        };
        words.row(node as usize).iter().filter_map(shared).collect()
    }

    /// The number of a node where new ones come after those of the graph.
    fn number(&self, end: End) -> NodeId {
        match end {
            End::Seen(node) => node,
            End::New(node) => self.summary.nodes as NodeId + node,
        }
    }

    fn score_by_lambda(&self, new: &Newcomers, pairs: &[(End, End)]) -> Vec<f32> {
        let width = self.config.width;
        let mut ends = Embeddings {
            attributes: Matrix::zeros(2 * pairs.len(), width),
            structure: Matrix::zeros(2 * pairs.len(), width),
            seen: Vec::with_capacity(2 * pairs.len()),
        };
        for (row, end) in pairs.iter().flat_map(|&(source, target)| [source, target]).enumerate() {
            let (from, node) = match end {
                End::Seen(node) => (&self.embeddings, node as usize),
                End::New(node) => (&new.embeddings, node as usize),
            };
            ends.attributes.row_mut(row).copy_from_slice(from.attributes.row(node));
            ends.structure.row_mut(row).copy_from_slice(from.structure.row(node));
            ends.seen.push(from.seen[node]);
        }
        let rows: Vec<(NodeId, NodeId)> = (0..pairs.len() as NodeId).map(|pair| (2 * pair, 2 * pair + 1)).collect();
        EmbeddingScorer { embeddings: &ends, lambda: self.lambda() }.scores(&rows)
    }

    /// Writes the model, whole or not at all.
    pub fn save(&self, path: &Path) -> Result<(), FileError> {
        let numbered = match self.names {
            Names::Numbered(count) => Some(count),
            Names::Texts(_) => None,
        };
        let about = About {
            width: self.encoder.width(),
            numbered,
            summary: self.summary.clone(),
            config: self.config.clone(),
            schema: self.schema.clone(),
            weights: self.memory.as_ref().map(|memory| memory.weights.clone()),
            kinds: self
                .kinds
                .as_ref()
                .map(|kinds| KindNames { names: kinds.types.names.clone(), linked: kinds.linked.clone() }),
        };
        let about = toml::to_string(&about).map_err(|error| write_error(path, std::io::Error::other(error)))?;
        let seen: Vec<u8> = self.embeddings.seen.iter().map(|seen| u8::from(*seen)).collect();
        let mut writer = ArchiveWriter::default();
        for (name, parameter) in self.encoder.parameters() {
            if parameter.weights.rows() > 0 {
                writer.matrix(name, &parameter.weights);
            }
        }
        writer.matrix("embeddings.attributes", &self.embeddings.attributes);
        writer.matrix("embeddings.structure", &self.embeddings.structure);
        writer.bytes("seen", &seen);
        if let Some(Memory { graph, words, .. }) = &self.memory {
            writer.u64s("links.offsets", graph.offsets());
            writer.u32s("links.neighbors", graph.neighbor_array());
            writer.f32s("words.idf", words.idf());
            writer.u64s("words.offsets", words.offsets());
            writer.f32s("words.entries", bytemuck::cast_slice(words.entries()));
        }
        let preparation = self.preparation.as_ref().map(Preparation::to_arrays);
        if let Some(arrays) = &preparation {
            writer.u32s("preparation.columns", &arrays.columns);
            writer.f32s("preparation.numbers", &arrays.numbers);
            writer.u32s("preparation.ranked", &arrays.ranked);
            writer.f32s("preparation.knots", &arrays.knots);
            writer.u32s("preparation.units", &arrays.units);
            writer.f32s("preparation.weights", &arrays.weights);
        }
        if let Some(kinds) = &self.kinds {
            writer.bytes("kinds", kinds.types.all());
        }
        if let Names::Texts(texts) = &self.names {
            writer.u64s("names.offsets", texts.offsets());
            writer.bytes("names.bytes", texts.bytes());
        }
        writer.write(path, KIND, VERSION, &about).map_err(|error| write_error(path, error))
    }

    /// Opens a model by memory map.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let archive = Archive::open(path, KIND, VERSION)?;
        let about: About = toml::from_str(&archive.about).map_err(|error| archive.inconsistent(error.to_string()))?;
        about.config.check().map_err(|error| archive.inconsistent(error.to_string()))?;
        if !about.schema.as_ref().is_none_or(Schema::is_sound) {
            return Err(archive.inconsistent("a schema that makes no sense"));
        }
        let (nodes, width) = (about.summary.nodes, about.config.width);
        let embeddings = Embeddings {
            attributes: archive.matrix("embeddings.attributes", nodes, width)?,
            structure: archive.matrix("embeddings.structure", nodes, width)?,
            seen: archive.buffer::<u8>("seen")?.iter().map(|seen| *seen != 0).collect(),
        };
        let names = match about.numbered {
            Some(count) => Names::Numbered(count),
            None => {
                let (offsets, bytes): (Buffer<u64>, Buffer<u8>) =
                    (archive.buffer("names.offsets")?, archive.buffer("names.bytes")?);
                Names::Texts(Texts::from_parts(offsets, bytes).map_err(|problem| archive.inconsistent(problem))?)
            }
        };
        if embeddings.seen.len() != nodes || names.len() != nodes {
            return Err(archive.inconsistent(format!("{nodes} nodes, but {} names", names.len())));
        }
        let encoder = read_encoder(&archive, &about)?;
        let memory = about.weights.clone().map(|weights| read_memory(&archive, &about, weights)).transpose()?;
        let preparation = read_preparation(&archive, &about)?;
        let kinds = about.kinds.clone().map(|kinds| read_kinds(&archive, nodes, kinds)).transpose()?;
        let About { config, summary, schema, .. } = about;
        let (index, kept) = (None, Lazily::default());
        Ok(Model { config, summary, names, schema, preparation, kinds, embeddings, memory, encoder, index, kept })
    }
}

fn write_error(path: &Path, error: std::io::Error) -> FileError {
    FileError { path: path.to_owned(), problem: FileProblem::Write(error) }
}

fn read_kinds(archive: &Archive, nodes: usize, kinds: KindNames) -> Result<Kinds, FileError> {
    let of = archive.buffer::<u8>("kinds")?.to_vec();
    let types = Types::new(kinds.names, of).filter(|types| types.all().len() == nodes);
    let types = types.filter(|_| kinds.linked.is_sorted_by(|a, b| a < b));
    let types = types.ok_or_else(|| archive.inconsistent("kinds of nodes that do not fit them"))?;
    Ok(Kinds { types, linked: kinds.linked })
}

fn read_preparation(archive: &Archive, about: &About) -> Result<Option<Preparation>, FileError> {
    let width = about.summary.attributes;
    let loaded = about.schema.as_ref().map(Schema::width);
    if !archive.has("preparation.columns") {
        return match loaded {
            Some(loaded) if loaded != width => Err(archive.inconsistent("a schema of other attributes")),
            _ => Ok(None),
        };
    }
    let stored = StoredPreparation {
        columns: archive.buffer("preparation.columns")?.to_vec(),
        numbers: archive.buffer("preparation.numbers")?.to_vec(),
        ranked: archive.buffer("preparation.ranked")?.to_vec(),
        knots: archive.buffer("preparation.knots")?.to_vec(),
        units: archive.buffer("preparation.units")?.to_vec(),
        weights: archive.buffer("preparation.weights")?.to_vec(),
    };
    let read = Preparation::from_arrays(&stored).filter(|preparation| preparation.width() == width);
    let read = read.filter(|preparation| loaded == Some(preparation.loaded_width()));
    read.map(Some).ok_or_else(|| archive.inconsistent("what was fitted to the attributes does not fit them"))
}

fn read_memory(archive: &Archive, about: &About, weights: ScoreWeights) -> Result<Memory, FileError> {
    let graph = Graph::from_parts(archive.buffer("links.offsets")?, archive.buffer("links.neighbors")?);
    let graph = graph.map_err(|problem| archive.inconsistent(problem))?;
    let idf: Buffer<f32> = archive.buffer("words.idf")?;
    let sizes = (graph.nodes(), idf.len());
    let words = TfIdfRows::from_parts(idf, archive.buffer("words.offsets")?, archive.buffer("words.entries")?);
    let words = words.map_err(|problem| archive.inconsistent(problem))?;
    if sizes != (about.summary.nodes, about.summary.attributes) || words.rows() != about.summary.nodes {
        return Err(archive.inconsistent("links or tf-idf rows of another graph"));
    }
    if !weights.are_sound() {
        return Err(archive.inconsistent("weights of the score that are no numbers"));
    }
    Ok(Memory { graph, words, weights })
}

fn read_encoder(archive: &Archive, about: &About) -> Result<Deal<f32>, FileError> {
    let attributes = about.summary.attributes;
    let shape = archive.shape("attributes.0.weights")?;
    let widest = about.config.hidden.first().unwrap_or(&about.config.width).next_multiple_of(LANES);
    if shape != [attributes, widest] {
        return Err(archive.inconsistent(format!("an encoder of shape {shape:?} for {attributes} attributes")));
    }
    let mut encoder = Deal::shaped(0, attributes, &about.config);
    for (name, parameter) in encoder.parameters_mut() {
        if archive.has(&name) {
            let (rows, columns) = (parameter.weights.rows(), parameter.weights.columns());
            parameter.weights = archive.matrix(&name, rows, columns)?;
        } else if parameter.weights.rows() > 0 {
            return Err(archive.inconsistent(format!("there is no tensor `{name}`")));
        }
    }
    Ok(encoder)
}

impl Deal<f32> {
    /// The attribute encoder alone, which is all that new nodes need.
    fn without_table(mut self) -> Self {
        let width = self.width();
        self.structure.table = Parameter::new(Matrix::zeros(0, width));
        self.structure.gains = None;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::super::AddError;
    use super::*;
    use crate::graph::Notes;
    use crate::load::{NewNodes, Surprises};
    use crate::split::Split;
    use crate::train::{Fit, Silent};

    /// A small model, trained for real, under any settings and seed.
    fn trained(settings: &[&str], seed: u64) -> Model {
        let row = |node: u32| vec![(node % 7, 1.0), (7 + node % 5, 0.5)];
        let dataset = Dataset {
            name: "small".into(),
            graph: Graph::from_links(60, (0..58).flat_map(|node| [(node, node + 1), (node, (node * 7 + 2) % 60)])),
            attributes: Attributes::from_rows(12, &(0..60).map(row).collect::<Vec<_>>()).unwrap(),
            names: Names::from_texts((0..60).map(|node| format!("n{node}"))),
            schema: None,
            notes: Notes::default(),
        };
        let base = Config::default().set("steps=20").unwrap();
        let config = settings.iter().fold(base, |config, setting| config.set(setting).unwrap());
        let split = Split::for_training(&dataset.graph, &dataset.attributes, config.validation, seed).unwrap();
        let attributes = &dataset.attributes;
        let fit = Fit { split: &split, attributes, config: &config, seed, checkpoints: None };
        Model::new(&dataset, &fit.run(&mut Silent).unwrap(), &config, "default", seed)
    }

    #[test]
    fn a_model_is_read_as_it_was_written_under_any_settings_and_seed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        for settings in [&["width=20"][..], &["width=5", "hidden=[7,9]", "bias=true", "similarity=dot"]] {
            for seed in [3, u64::MAX] {
                let model = trained(settings, seed);
                model.save(&path).unwrap();
                let read = Model::open(&path).unwrap();
                assert_eq!(read.summary, model.summary);
                assert_eq!(read.embeddings, model.embeddings);
                let new = Attributes::from_rows(12, &[vec![(1, 1.0)], vec![]]).unwrap();
                assert_eq!(read.embed(&new), model.embed(&new));
            }
        }
    }

    /// The same with weights as if they had been fitted: such a small graph has too few validation pairs.
    fn with_memory(mut model: Model) -> Model {
        let links = (0..58).flat_map(|node| [(node, node + 1), (node, node % 3)]);
        let graph = Graph::from_links(60, links);
        let row = |node: u32| vec![(node % 7, 1.0), (7 + node % 5, 0.5)];
        let attributes = Attributes::from_rows(12, &(0..60).map(row).collect::<Vec<_>>()).unwrap();
        let words = TfIdfRows::of(&TrainView::whole(&graph, &attributes, &[true; 60]));
        let kind =
            |degree: f64| KindWeights { terms: [1.0, 1.0, 0.0, 2.0, degree, 0.1, 0.1], intercept: -1.0, pairs: 9 };
        let weights = ScoreWeights { old_old: kind(0.2), new_old: kind(0.2), new_new: kind(0.0), prevalence: 0.5 };
        model.embeddings.seen = (0..60).map(|node| graph.degree(node) > 0).collect();
        model.memory = Some(Memory { graph, words, weights });
        model
    }

    #[test]
    fn a_model_with_fitted_terms_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        let model = with_memory(trained(&["width=20"], 3));
        model.save(&path).unwrap();
        let read = Model::open(&path).unwrap();
        assert_eq!(read.memory, model.memory);
        let new = Attributes::from_rows(12, &[vec![(1, 1.0)], vec![]]).unwrap();
        let wish = Wish::best(7);
        assert_eq!(read.best_links(&read.meet(&new), 0..2, wish), model.best_links(&model.meet(&new), 0..2, wish));
    }

    #[test]
    fn less_popularity_changes_the_order_and_not_the_scores() {
        let model = with_memory(trained(&["width=20"], 3));
        let new = Attributes::from_rows(12, &[vec![(1, 1.0), (8, 0.5)]]).unwrap();
        let newcomers = model.meet(&new);
        let found = |popularity| model.best_links(&newcomers, 0..1, Wish { popularity, ..Wish::best(60) }).remove(0);
        let (mut usual, mut quiet) = (found(1.0), found(0.0));
        assert!(usual.is_sorted_by(|a, b| a.score >= b.score));
        let place = |hits: &[Hit], node: NodeId| hits.iter().position(|hit| hit.node == node);
        assert!(place(&quiet, 0) > place(&usual, 0), "a hub falls");
        let pairs: Vec<_> = usual.iter().map(|hit| (End::New(0), End::Seen(hit.node))).collect();
        for (hit, score) in usual.iter().zip(model.score_pairs(&newcomers, &pairs)) {
            assert!((hit.score - score).abs() < 1e-4);
        }
        usual.sort_by_key(|hit| hit.node);
        quiet.sort_by_key(|hit| hit.node);
        assert_eq!(usual, quiet);
        assert_eq!(model.probability(0.0, 0.5), Some(0.5));
    }

    #[test]
    fn links_are_looked_for_where_it_is_wished() {
        let new = Attributes::from_rows(12, &[vec![(1, 1.0)], vec![(1, 1.0), (8, 0.5)], vec![(4, 1.0)]]).unwrap();
        for model in [with_memory(trained(&["width=20"], 3)), trained(&["width=20", "terms=[]"], 3)] {
            let newcomers = model.meet(&new);
            let found = |among, excluded: &[NodeId]| {
                let wish = Wish { among, excluded, ..Wish::best(100) };
                let mut hits = model.best_links(&newcomers, 0..1, wish).remove(0);
                assert!(hits.is_sorted_by(|a, b| a.score >= b.score));
                hits.sort_by_key(|hit| hit.node);
                hits
            };
            let (seen, new, both) = (found(Among::Seen, &[]), found(Among::New, &[]), found(Among::Both, &[]));
            let nodes = |hits: &[Hit]| hits.iter().map(|hit| hit.node).collect::<Vec<_>>();
            assert_eq!(nodes(&seen), (0..60).collect::<Vec<_>>());
            assert_eq!(nodes(&new), [61, 62], "a node is not its own link");
            assert_eq!(nodes(&both), [nodes(&seen), nodes(&new)].concat());
            assert_eq!(
                nodes(&found(Among::Both, &[3, 61])),
                [(0..3).collect::<Vec<_>>(), (4..60).collect(), vec![62]].concat()
            );
            let end = |node: NodeId| if node < 60 { End::Seen(node) } else { End::New(node - 60) };
            let pairs: Vec<_> = both.iter().map(|hit| (End::New(0), end(hit.node))).collect();
            for (hit, score) in both.iter().zip(model.score_pairs(&newcomers, &pairs)) {
                assert!((hit.score - score).abs() < 1e-4, "{}: {} instead of {score}", hit.node, hit.score);
            }
        }
    }

    /// What `rest` must be: the intercept with the walks' smallest chances, and the embedding of no attributes.
    fn check_explanation(model: &Model, intercept: f64) {
        let new = Attributes::from_rows(12, &[vec![(1, 1.0), (3, 0.7), (8, 0.5)], vec![(0, 1.0), (8, 2.0)]]).unwrap();
        let newcomers = model.meet(&new);
        for other in [End::Seen(1), End::Seen(17), End::New(1)] {
            let explained = model.explain(&new, &newcomers, 0, other);
            let score = f64::from(model.score_pairs(&newcomers, &[(End::New(0), other)])[0]);
            let attributes: f64 = explained.attributes.iter().map(|amount| amount.1).sum();
            let sum = attributes + explained.similar_nodes + explained.popularity + explained.rest;
            assert!((sum - score).abs() < 1e-9);
            assert!((explained.rest - intercept).abs() < 2e-3, "{} instead of {intercept}", explained.rest);
            assert!(explained.attributes.iter().all(|&(column, _)| [1, 3, 8].contains(&column)));
            assert!(explained.attributes.is_sorted_by(|a, b| a.1.abs() >= b.1.abs()));
            assert_eq!(explained.most_similar.len(), 5);
        }
    }

    #[test]
    fn what_attributes_and_the_other_parts_add_is_the_score() {
        // Weights as in `with_memory`: -1, and .1 of the logarithm of the smallest chance for each of two walks.
        let intercept = -1.0 + 0.2 * f64::from(crate::score::SMALL_CHANCE.ln());
        check_explanation(&with_memory(trained(&["width=20"], 3)), intercept);
        check_explanation(&with_memory(trained(&["width=6", "hidden=[9,7]", "last_elu=true"], 3)), intercept);
        check_explanation(&trained(&["width=20", "terms=[]"], 3), 0.0);
        check_explanation(&trained(&["width=20", "terms=[]", "similarity=dot"], 3), 0.0);
    }

    fn new_nodes(names: Names, rows: &[Vec<(u32, f32)>]) -> NewNodes {
        NewNodes { names, attributes: Attributes::from_rows(12, rows).unwrap(), surprises: Surprises::default() }
    }

    #[test]
    fn added_nodes_are_found_and_the_scores_of_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        let query = Attributes::from_rows(12, &[vec![(1, 1.0), (8, 0.5)]]).unwrap();
        let added = new_nodes(Names::from_texts(["x", "y"]), &[vec![(1, 1.0), (8, 0.5)], vec![]]);
        for model in [with_memory(trained(&["width=20"], 3)), trained(&["width=20", "terms=[]"], 3)] {
            model.add(&added).unwrap().save(&path).unwrap();
            let larger = Model::open(&path).unwrap();
            assert_eq!((larger.summary.nodes, larger.names.len(), larger.names.get(60).as_ref()), (62, 62, "x"));
            assert_eq!(larger.base_rate(), model.base_rate());
            let scores = |model: &Model| {
                let mut hits = model.best_links(&model.meet(&query), 0..1, Wish::best(100)).remove(0);
                hits.sort_by_key(|hit| hit.node);
                hits
            };
            let (before, after) = (scores(&model), scores(&larger));
            assert_eq!(after[..60], before);
            assert_eq!(after.len(), 62);
            assert!(after[60].score > after[61].score, "its own like rather than a node without attributes");
        }
    }

    #[test]
    fn a_name_is_given_once() {
        let model = trained(&["width=20"], 3);
        let check = |names: &[&str]| model.add(&new_nodes(Names::from_texts(names), &vec![vec![]; names.len()]));
        let name = |name: &str| name.to_owned();
        assert_eq!(check(&["x", "n3"]).unwrap_err(), AddError::Known { name: name("n3") });
        assert_eq!(check(&["x", "x"]).unwrap_err(), AddError::Repeated { name: name("x") });
        assert_eq!(check(&["x", ""]).unwrap_err(), AddError::NoName { row: 2 });
        let wide = Attributes::from_rows(13, &[vec![]]).unwrap();
        let wide = NewNodes { attributes: wide, ..new_nodes(Names::from_texts(["x"]), &[]) };
        assert_eq!(model.add(&wide).unwrap_err(), AddError::Width { expected: 12, found: 13 });
    }

    #[test]
    fn numbered_nodes_go_on_counting() {
        let model = Model { names: Names::Numbered(60), ..trained(&["width=20"], 3) };
        let larger = model.add(&new_nodes(Names::Numbered(2), &[vec![(0, 1.0)], vec![]])).unwrap();
        assert_eq!(larger.names, Names::Numbered(62));
        let larger = larger.add(&new_nodes(Names::from_texts(["x"]), &[vec![]])).unwrap();
        assert_eq!((larger.names.get(61), larger.names.get(62)), ("61".into(), "x".into()));
    }
}
