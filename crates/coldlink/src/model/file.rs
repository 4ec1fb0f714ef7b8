//! The model's file.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{LinkedTypes, Memory, Model, Parts, Summary};
use crate::columns::{Preparation, Schema, StoredPreparation};
use crate::config::Config;
use crate::graph::{Graph, Names, NodeTypes, Texts};
use crate::kernel::Matrix;
use crate::network::{AttributeEncoder, Layer};
use crate::score::{Embeddings, ScoreWeights, TfIdfRows};
use crate::storage::{Buffer, Container, ContainerWriter, FileError, FileProblem};

const KIND: &str = "model";
const VERSION: u32 = 1;

/// What stands in the file beside the tensors.
#[derive(Serialize, Deserialize)]
struct About {
    width: usize,
    numbered: Option<usize>,
    summary: Summary,
    config: Config,
    schema: Option<Schema>,
    weights: Option<ScoreWeights>,
    types: Option<TypeNames>,
}

impl About {
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
}

impl Model {
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
            types: self
                .types
                .as_ref()
                .map(|kinds| TypeNames { names: kinds.types.names.clone(), linked: kinds.linked.clone() }),
        };
        let about = toml::to_string(&about).map_err(|error| write_error(path, std::io::Error::other(error)))?;
        let warm: Vec<u8> = self.embeddings.warm.iter().map(|warm| u8::from(*warm)).collect();
        let mut writer = ContainerWriter::default();
        for (name, weights) in self.encoder.parameters() {
            writer.matrix(name, weights);
        }
        writer.matrix("embeddings.attributes", &self.embeddings.attributes);
        writer.matrix("embeddings.structure", &self.embeddings.structure);
        writer.list("warm", &warm);
        if let Some(Memory { graph, words, .. }) = &self.memory {
            writer.list("links.offsets", graph.offsets());
            writer.list("links.neighbors", graph.neighbor_array());
            writer.list("words.idf", words.idf());
            writer.list("words.offsets", words.offsets());
            writer.list::<f32>("words.entries", bytemuck::cast_slice(words.entries()));
        }
        let preparation = self.preparation.as_ref().map(Preparation::to_arrays);
        if let Some(arrays) = &preparation {
            writer.list("preparation.dense", std::slice::from_ref(&arrays.dense));
            writer.list("preparation.columns", &arrays.columns);
            writer.list("preparation.numbers", &arrays.numbers);
            writer.list("preparation.ranked", &arrays.ranked);
            writer.list("preparation.knots", &arrays.knots);
            writer.list("preparation.units", &arrays.units);
            writer.list("preparation.weights", &arrays.weights);
        }
        if let Some(kinds) = &self.types {
            writer.list("types", kinds.types.all());
        }
        if let Names::Texts(texts) = &self.names {
            writer.list("names.offsets", texts.offsets());
            writer.list("names.bytes", texts.bytes());
        }
        writer.write(path, KIND, VERSION, &about).map_err(|error| write_error(path, error))
    }

    /// Opens a model by memory map.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let archive = Container::open(path, KIND, VERSION)?;
        let about: About = toml::from_str(&archive.about).map_err(|error| archive.inconsistent(error.to_string()))?;
        about.config.check().map_err(|error| archive.inconsistent(error.to_string()))?;
        if !about.schema.as_ref().is_none_or(Schema::is_sound) {
            return Err(archive.inconsistent("a schema that makes no sense"));
        }
        let (nodes, width) = (about.summary.nodes, about.config.width);
        let embeddings = Embeddings {
            attributes: archive.matrix("embeddings.attributes", nodes, width)?,
            structure: archive.matrix("embeddings.structure", nodes, width)?,
            warm: archive.list::<u8>("warm")?.iter().map(|warm| *warm != 0).collect(),
        };
        let names = match about.numbered {
            Some(count) => Names::Numbered(count),
            None => {
                let (offsets, bytes): (Buffer<u64>, Buffer<u8>) =
                    (archive.list("names.offsets")?, archive.list("names.bytes")?);
                Names::Texts(Texts::from_parts(offsets, bytes).map_err(|problem| archive.inconsistent(problem))?)
            }
        };
        if embeddings.warm.len() != nodes || names.len() != nodes {
            return Err(archive.inconsistent(format!("{nodes} nodes, but {} names", names.len())));
        }
        let encoder = read_encoder(&archive, &about)?;
        let preparation = read_preparation(&archive, &about)?;
        let words = about.words(preparation.as_ref());
        let memory = about.weights.clone().map(|weights| read_memory(&archive, &about, words, weights)).transpose()?;
        let types = about.types.clone().map(|kinds| read_types(&archive, nodes, kinds)).transpose()?;
        let About { config, summary, schema, .. } = about;
        let parts = Parts { config, summary, names, schema, preparation, types, embeddings, memory, encoder };
        Ok(parts.into())
    }
}

fn write_error(path: &Path, error: std::io::Error) -> FileError {
    FileError { path: path.to_owned(), problem: FileProblem::Write(error) }
}

fn read_types(archive: &Container, nodes: usize, named: TypeNames) -> Result<LinkedTypes, FileError> {
    let of = archive.list::<u8>("types")?.to_vec();
    let types = NodeTypes::new(named.names, of).filter(|types| types.all().len() == nodes);
    let types = types.filter(|_| named.linked.is_sorted_by(|a, b| a < b));
    let types = types.ok_or_else(|| archive.inconsistent("kinds of nodes that do not fit them"))?;
    Ok(LinkedTypes { types, linked: named.linked })
}

fn read_preparation(archive: &Container, about: &About) -> Result<Option<Preparation>, FileError> {
    let width = about.summary.attributes;
    let loaded = about.schema.as_ref().map(Schema::width);
    if !archive.has("preparation.columns") {
        return match loaded {
            Some(loaded) if loaded != width => Err(archive.inconsistent("a schema of other attributes")),
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
    read.map(Some).ok_or_else(|| archive.inconsistent("what was fitted to the attributes does not fit them"))
}

fn read_memory(
    archive: &Container,
    about: &About,
    attributes: usize,
    weights: ScoreWeights,
) -> Result<Memory, FileError> {
    let graph = Graph::from_parts(archive.list("links.offsets")?, archive.list("links.neighbors")?);
    let graph = graph.map_err(|problem| archive.inconsistent(problem))?;
    let idf: Buffer<f32> = archive.list("words.idf")?;
    let sizes = (graph.nodes(), idf.len());
    let words = TfIdfRows::from_parts(idf, archive.list("words.offsets")?, archive.list("words.entries")?);
    let words = words.map_err(|problem| archive.inconsistent(problem))?;
    if sizes != (about.summary.nodes, attributes) || words.rows() != about.summary.nodes {
        return Err(archive.inconsistent("links or tf-idf rows of another graph"));
    }
    if !weights.are_sound() {
        return Err(archive.inconsistent("weights of the score that are no numbers"));
    }
    Ok(Memory { graph, words, weights })
}

fn read_encoder(archive: &Container, about: &About) -> Result<AttributeEncoder<Matrix<f32>>, FileError> {
    let (attributes, config) = (about.summary.attributes, &about.config);
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
