//! The model's file. Nodes that join later are written behind what is there, until there are so many of them that the whole is written
//! anew.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::added::AddedNodes;
use super::{LinkedTypes, Memory, Model, NodeFacts, Parts, Summary};
use crate::columns::{Preparation, Schema, StoredPreparation};
use crate::config::Config;
use crate::graph::{Names, NodeId, NodeTypes, RoleGraph, Roles};
use crate::kernel::Matrix;
use crate::network::{AttributeEncoder, Layer};
use crate::score::{Embeddings, ScoreWeights, TfIdfRows};
use crate::storage::{
    Buffer, Container, ContainerWriter, FileError, FileFormat, FileProblem, Lock, Segmented, Written, append,
};

const FORMAT: FileFormat = FileFormat::Model;
const VERSION: u32 = 1;
/// One in so many nodes may lie behind the others before the file is written anew, and at least [`ALWAYS_APART`].
const APART: usize = 16;
const ALWAYS_APART: usize = 1_000;
/// So may be so many additions.
const ADDITIONS: usize = 10_000;

/// What a file holds of a model: all of it, or all but the last nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stored {
    /// The checksum of all that is in the file.
    chain: u64,
    /// The nodes that it holds.
    nodes: usize,
    /// How many times something was added to it.
    additions: usize,
}

/// What stands in an addition beside the arrays.
#[derive(Serialize, Deserialize)]
struct AboutAddition {
    nodes: usize,
}

/// What stands in the file beside the arrays.
#[derive(Serialize, Deserialize)]
struct About {
    summary: Summary,
    config: Config,
    schema: Option<Schema>,
    weights: Option<ScoreWeights>,
    types: Option<TypeNames>,
    #[serde(default, skip_serializing_if = "has_no_relations")]
    roles: Roles,
}

/// Models of plain graphs are written as ever.
fn has_no_relations(roles: &Roles) -> bool {
    roles.relations().is_empty()
}

impl About {
    /// How many role nodes there are.
    fn role_nodes(&self) -> Option<usize> {
        let roles = Some(self.roles.count()).filter(|&count| count <= Roles::MOST)?;
        self.summary.nodes.checked_mul(roles).filter(|&nodes| nodes <= NodeId::MAX as usize)
    }

    /// How many numbers the encoder takes: one per attribute, and one more per attribute and role where there are several.
    fn inputs(&self) -> usize {
        let copies = if self.roles.is_plain() { 1 } else { 1 + self.roles.count() };
        self.summary.attributes.saturating_mul(copies)
    }

    /// How many columns of numbers there are.
    fn number_columns(&self) -> usize {
        self.schema.as_ref().map_or(0, |schema| schema.numbers().count())
    }

    /// How many attributes the encoder sees that are not in the dense part.
    fn words(&self, preparation: Option<&Preparation>) -> usize {
        let dense = match (preparation, &self.schema) {
            (Some(preparation), _) => preparation.dense_width(),
            (None, schema) => schema.as_ref().map_or(0, Schema::dense_width),
        };
        self.summary.attributes.saturating_sub(dense)
    }
}

/// Node types without the nodes.
#[derive(Clone, Serialize, Deserialize)]
struct TypeNames {
    names: Vec<String>,
    linked: Vec<[u8; 2]>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    in_roles: Vec<[u8; 3]>,
}

impl Model {
    /// Writes the model, whole or not at all. Waits for whoever is about to replace the same file.
    pub fn save(&self, path: &Path) -> Result<(), FileError> {
        let written = |error| write_error(path, error);
        let _lock = Lock::of(path).map_err(written)?;
        self.written(path).and_then(Written::publish).map_err(written)
    }

    /// The same for whoever holds the lock already: because it read the file, and no other change may come in between. A file
    /// that was moved over the locked one is not replaced. Where the file holds all but the last nodes, these alone are written.
    pub fn save_locked(&mut self, lock: &Lock) -> Result<(), FileError> {
        let path = lock.path();
        let saved = match self.append(lock) {
            Ok(false) => self.written(path).and_then(|written| written.publish_over(lock)),
            appended => appended.map(|_| ()),
        };
        saved.map_err(|error| write_error(path, error))
    }

    /// The checksum of the file that holds all of the model: the same model has the same. None of a model that was just trained, or that
    /// nodes were added to, before it is saved.
    pub fn fingerprint(&self) -> Option<String> {
        let stored = self.stored.filter(|stored| stored.nodes == self.summary.nodes)?;
        Some(format!("{:016x}", stored.chain))
    }

    /// Writes the nodes that the file does not hold behind it; says whether that could be done.
    fn append(&mut self, lock: &Lock) -> io::Result<bool> {
        let (Some(stored), Some(added)) = (self.stored, self.added.as_deref()) else { return Ok(false) };
        let of_added = added.embeddings.nodes() / self.roles.count();
        let first = self.summary.nodes - of_added;
        if of_added > (first / APART).max(ALWAYS_APART) || stored.additions >= ADDITIONS || stored.nodes < first {
            return Ok(false);
        }
        let about = AboutAddition { nodes: self.summary.nodes - stored.nodes };
        let new = added.last(about.nodes, self.roles.count());
        let about_text = toml::to_string(&about).map_err(io::Error::other)?;
        let names = match &self.names {
            Names::Numbered(_) => Names::Numbered(about.nodes),
            names => Names::from_texts((stored.nodes..names.len()).map(|node| names.get(node as NodeId))),
        };
        let mut writer = ContainerWriter::default();
        writer.matrix("embeddings.attributes", &new.embeddings.attributes);
        if let Some(words) = &new.words {
            writer.list("words.offsets", words.offsets());
            writer.records("words.entries", words.entries());
        }
        if let Some(types) = &self.types {
            writer.list("types", &types.types.all()[stored.nodes..]);
        }
        new.facts.write(&mut writer);
        writer.names(&names);
        let chain = append(lock, stored.chain, &writer.bytes(FORMAT, VERSION, &about_text)?)?;
        let Some(chain) = chain else { return Ok(false) };
        self.stored = Some(Stored { chain, nodes: self.summary.nodes, additions: stored.additions + 1 });
        Ok(true)
    }

    /// Writes the model beside its place.
    fn written(&self, path: &Path) -> io::Result<Written> {
        self.in_one().written_in_one(path)
    }

    fn written_in_one(&self, path: &Path) -> io::Result<Written> {
        let about = About {
            summary: self.summary.clone(),
            config: self.config.clone(),
            schema: self.schema.as_deref().cloned(),
            roles: self.roles.clone(),
            weights: self.memory.as_ref().map(|memory| memory.weights.clone()),
            types: self.types.as_ref().map(|LinkedTypes { types, linked, in_roles }| TypeNames {
                names: types.names.clone(),
                linked: linked.clone(),
                in_roles: in_roles.clone(),
            }),
        };
        let about = toml::to_string(&about).map_err(io::Error::other)?;
        let warm: Vec<u8> = self.embeddings.warm.iter().map(|warm| u8::from(*warm)).collect();
        let mut writer = ContainerWriter::default();
        for (name, weights) in self.encoder.parameters() {
            writer.matrix(name, weights);
        }
        writer.matrix("embeddings.attributes", &self.embeddings.attributes);
        writer.matrix("embeddings.structure", &self.embeddings.structure);
        writer.list("warm", &warm);
        if let Some(Memory { graph, words, .. }) = &self.memory {
            writer.links("links", graph);
            writer.list("words.idf", words.idf());
            writer.list("words.offsets", words.offsets());
            writer.records("words.entries", words.entries());
        }
        let preparation = self.preparation.as_deref().map(Preparation::to_arrays);
        if let Some(arrays) = &preparation {
            writer.list("preparation.dense", std::slice::from_ref(&arrays.dense));
            writer.list("preparation.columns", &arrays.columns);
            writer.list("preparation.numbers", &arrays.numbers);
            writer.list("preparation.ranked", &arrays.ranked);
            writer.list("preparation.knots", &arrays.knots);
            writer.list("preparation.units", &arrays.units);
            writer.list("preparation.weights", &arrays.weights);
        }
        if let Some(types) = &self.types {
            writer.list("types", types.types.all());
        }
        self.schema.iter().for_each(|schema| schema.write_vectors(&mut writer));
        self.facts.write(&mut writer);
        writer.names(&self.names);
        writer.written(path, FORMAT, VERSION, &about)
    }

    /// Opens a model by memory map.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let Segmented { first: archive, later, chain } = Container::open_segmented(path, FORMAT, VERSION)?;
        let mut about: About =
            toml::from_str(&archive.about).map_err(|error| archive.inconsistent(error.to_string()))?;
        about.config.check().map_err(|error| archive.inconsistent(error.to_string()))?;
        if !about.schema.as_ref().is_none_or(Schema::is_sound) {
            return Err(archive.inconsistent("its schema is invalid"));
        }
        about.schema.iter_mut().try_for_each(|schema| schema.read_vectors(&archive))?;
        let (nodes, width) = (about.summary.nodes, about.config.width);
        let role_nodes = about.role_nodes().ok_or_else(|| archive.inconsistent("it has too many roles"))?;
        let embeddings = Embeddings {
            attributes: archive.matrix("embeddings.attributes", role_nodes, width)?,
            structure: archive.matrix("embeddings.structure", role_nodes, width)?,
            warm: archive.list::<u8>("warm")?.iter().map(|warm| *warm != 0).collect(),
        };
        if embeddings.warm.len() != role_nodes {
            let marks = embeddings.warm.len();
            return Err(archive.inconsistent(format!("{nodes} nodes, but {marks} marks of warm ones")));
        }
        let names = archive.names(nodes)?;
        let facts = NodeFacts::read(&archive, nodes, about.number_columns())?;
        let encoder = read_encoder(&archive, &about)?;
        let preparation = read_preparation(&archive, &about)?;
        let words = about.words(preparation.as_ref());
        let memory = about.weights.clone().map(|weights| read_memory(&archive, &about, words, weights)).transpose()?;
        let types = about.types.clone().map(|named| read_types(&archive, nodes, named)).transpose()?;
        let About { config, summary, schema, roles, .. } = about;
        let parts =
            Parts { config, summary, names, schema, preparation, roles, types, embeddings, facts, memory, encoder };
        let mut model: Model = parts.into();
        model.read_additions(&later)?;
        model.stored = Some(Stored { chain, nodes: model.summary.nodes, additions: later.len() });
        Ok(model)
    }

    /// Takes up the nodes that were written behind the others.
    fn read_additions(&mut self, later: &[Container]) -> Result<(), FileError> {
        let (mut parts, mut names, mut types) = (Vec::with_capacity(later.len()), Vec::new(), Vec::new());
        let mut nodes = 0;
        for archive in later {
            let about: AboutAddition =
                toml::from_str(&archive.about).map_err(|error| archive.inconsistent(error.to_string()))?;
            let role_nodes = about.nodes.checked_mul(self.roles.count());
            let role_nodes = role_nodes.ok_or_else(|| archive.inconsistent("it has too many nodes"))?;
            parts.push(self.read_added(archive, about.nodes, role_nodes)?);
            match (&self.names, archive.names(about.nodes)?) {
                (Names::Numbered(_), Names::Numbered(_)) => {}
                (Names::Texts(_), added @ Names::Texts(_)) => names.push(added),
                _ => return Err(archive.inconsistent("some nodes have names and others have numbers")),
            }
            if self.types.is_some() {
                types.extend_from_slice(&archive.list::<u8>("types")?);
            }
            nodes += about.nodes;
            if (self.summary.nodes + nodes).saturating_mul(self.roles.count()) > NodeId::MAX as usize {
                return Err(archive.inconsistent("it has too many nodes"));
            }
        }
        let (Some(first), Some(added)) = (later.first(), AddedNodes::of(&parts.iter().collect::<Vec<_>>())) else {
            return Ok(());
        };
        let new_names = match &self.names {
            Names::Numbered(_) => Names::Numbered(nodes),
            Names::Texts(_) => Names::from_texts(names.iter().flat_map(Names::iter)),
        };
        let names = self.names.followed_by(&new_names).expect("both have texts, or neither");
        let types = self.types.as_ref().map(|known| {
            let of_added = NodeTypes::new(known.types.names.clone(), types).filter(|added| added.all().len() == nodes);
            let of_added =
                of_added.ok_or_else(|| first.inconsistent("the node types of an addition do not match its nodes"))?;
            Ok(known.followed_by(Some(&of_added), nodes))
        });
        *self = self.with_added(added, names, types.transpose()?, nodes);
        Ok(())
    }

    fn read_added(&self, archive: &Container, nodes: usize, role_nodes: usize) -> Result<AddedNodes, FileError> {
        let attributes: Matrix<f32> = archive.matrix("embeddings.attributes", role_nodes, self.config.width)?;
        let words = self.memory.as_ref().map(|memory| {
            let rows = memory.words.with_rows(archive.list("words.offsets")?, archive.records("words.entries")?);
            let rows = rows.map_err(|problem| archive.inconsistent(problem))?;
            if rows.rows() == role_nodes {
                Ok(rows)
            } else {
                Err(archive.inconsistent("its tf-idf rows do not match its nodes"))
            }
        });
        let columns = self.schema.as_deref().map_or(0, |schema| schema.numbers().count());
        let facts = NodeFacts::read(archive, nodes, columns)?;
        if !facts.follows(&self.facts) {
            return Err(archive.inconsistent("its titles or numbers do not match those of the first nodes"));
        }
        Ok(AddedNodes { embeddings: Embeddings::of_cold(attributes), facts, words: words.transpose()? })
    }
}

fn write_error(path: &Path, error: io::Error) -> FileError {
    FileError { path: path.to_owned(), problem: FileProblem::Write(error) }
}

fn read_types(archive: &Container, nodes: usize, named: TypeNames) -> Result<LinkedTypes, FileError> {
    let of = archive.list::<u8>("types")?.to_vec();
    let types = NodeTypes::new(named.names, of).filter(|types| types.all().len() == nodes);
    let is_sorted = named.linked.is_sorted_by(|a, b| a < b) && named.in_roles.is_sorted_by(|a, b| a < b);
    let types = types.filter(|_| is_sorted);
    let types = types.ok_or_else(|| archive.inconsistent("its node types do not match its nodes"))?;
    Ok(LinkedTypes { types, linked: named.linked, in_roles: named.in_roles })
}

fn read_preparation(archive: &Container, about: &About) -> Result<Option<Preparation>, FileError> {
    let width = about.summary.attributes;
    let loaded = about.schema.as_ref().map(Schema::width);
    if !archive.has("preparation.columns") {
        return match loaded {
            Some(loaded) if loaded != width => Err(archive.inconsistent("its schema does not match its attributes")),
            _ => Ok(None),
        };
    }
    let dense: Buffer<u32> = archive.list("preparation.dense")?;
    let [dense] = dense[..] else { return Err(archive.inconsistent("more than one dense part")) };
    let stored = StoredPreparation {
        dense,
        columns: archive.list("preparation.columns")?.to_vec(),
        numbers: archive.list("preparation.numbers")?.to_vec(),
        ranked: archive.list("preparation.ranked")?.to_vec(),
        knots: archive.list("preparation.knots")?.to_vec(),
        units: archive.list("preparation.units")?.to_vec(),
        weights: archive.list("preparation.weights")?.to_vec(),
    };
    let read = Preparation::from_arrays(&stored).filter(|preparation| preparation.width() == width);
    let read = read.filter(|preparation| loaded == Some(preparation.loaded_width()));
    read.map(Some).ok_or_else(|| archive.inconsistent("its preparation does not match its attributes"))
}

fn read_memory(
    archive: &Container,
    about: &About,
    attributes: usize,
    weights: ScoreWeights,
) -> Result<Memory, FileError> {
    let graph = archive.links("links")?;
    let idf: Buffer<f32> = archive.list("words.idf")?;
    let sizes = (graph.nodes(), idf.len());
    let words = TfIdfRows::from_parts(idf, archive.list("words.offsets")?, archive.records("words.entries")?);
    let words = words.map_err(|problem| archive.inconsistent(problem))?;
    let role_nodes = graph.nodes();
    let graph = match about.roles.is_plain() {
        true => Ok(graph),
        false => RoleGraph::from_parts(about.roles.clone(), graph, about.summary.nodes).map(|links| links.graph),
    };
    let graph = graph.map_err(|problem| archive.inconsistent(problem))?;
    if Some(sizes.0) != about.role_nodes() || sizes.1 != attributes || words.rows() != role_nodes {
        return Err(archive.inconsistent("its links or tf-idf rows do not match its nodes"));
    }
    if !weights.are_sound() {
        return Err(archive.inconsistent("the weights of its score are not numbers"));
    }
    Ok(Memory { graph, words, weights })
}

fn read_encoder(archive: &Container, about: &About) -> Result<AttributeEncoder<Matrix<f32>>, FileError> {
    let (attributes, config) = (about.inputs(), &about.config);
    let widths = config.hidden.iter().copied().chain([config.width]);
    let mut inputs = attributes;
    let layer = |(index, outputs): (usize, usize)| {
        let weights = archive.matrix(&format!("attributes.{index}.weights"), inputs, outputs)?;
        inputs = outputs;
        let bias = config.bias.then(|| archive.matrix(&format!("attributes.{index}.bias"), 1, outputs)).transpose()?;
        Ok(Layer { weights, bias })
    };
    let layers = widths.enumerate().map(layer).collect::<Result<_, FileError>>()?;
    Ok(AttributeEncoder { layers, last_elu: config.last_elu })
}
