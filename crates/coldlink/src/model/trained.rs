//! A trained model as users keep it: one file that embeds new nodes and scores them against the nodes it has seen.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::embeddings::embed_attributes;
use super::{Archive, ArchiveWriter, Deal, EmbeddingScorer, Embeddings, Features, FileError, FileProblem, Parameter};
use crate::Config;
use crate::evaluate::Scorer;
use crate::graph::{Attributes, Buffer, Dataset, Names, NodeId, Texts};
use crate::kernel::{LANES, Matrix};
use crate::load::{End, Schema};
use crate::train::{Fitted, Validated};

const KIND: &str = "model";
const VERSION: u32 = 1;

/// How a model came to be. It holds no times, paths or thread counts: the same training gives the same file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// What the graph was called.
    pub dataset: String,
    /// Its nodes.
    pub nodes: usize,
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
    /// Both embeddings of the nodes it knows.
    pub embeddings: Embeddings,
    encoder: Deal<f32>,
}

/// What stands in the file beside the tensors.
#[derive(Serialize, Deserialize)]
struct About {
    width: usize,
    numbered: Option<usize>,
    summary: Summary,
    config: Config,
    schema: Option<Schema>,
}

impl Model {
    /// A model from a finished training run on all of `dataset`.
    pub fn new(dataset: &Dataset, fitted: &Fitted, config: &Config, preset: &str, seed: u64) -> Self {
        let nodes: Vec<NodeId> = (0..dataset.graph.nodes() as NodeId).collect();
        let is_seen = |node| dataset.graph.degree(node) > 0;
        let embeddings = Embeddings::of(&fitted.model, &fitted.features, &nodes, is_seen);
        let summary = Summary {
            dataset: dataset.name.clone(),
            nodes: dataset.graph.nodes(),
            links: dataset.graph.links(),
            attributes: dataset.attributes.width(),
            seed,
            preset: preset.to_owned(),
            steps: fitted.steps,
            validation: fitted.history.iter().find(|validated| validated.step == fitted.steps).copied(),
        };
        Model {
            config: config.clone(),
            summary,
            names: dataset.names.clone(),
            schema: dataset.schema.clone(),
            embeddings,
            encoder: fitted.model.frozen().without_table(),
        }
    }

    /// λ of Eq. 10.
    pub fn lambda(&self) -> [f32; 3] {
        self.config.lambda.map(|weight| weight as f32)
    }

    /// z_a of new nodes, whose attributes stand in the columns of the training graph's.
    pub fn embed(&self, attributes: &Attributes) -> Matrix<f32> {
        let features = Features::new(attributes, self.config.scaling);
        let nodes: Vec<NodeId> = (0..attributes.rows() as NodeId).collect();
        embed_attributes(&self.encoder, &features, &nodes)
    }

    /// The embeddings of new nodes, in the form that scores are computed from: none is seen.
    pub fn embed_new(&self, attributes: &Attributes) -> Embeddings {
        let attributes = self.embed(attributes);
        Embeddings { structure: attributes.clone(), seen: vec![false; attributes.rows()], attributes }
    }

    /// The scores of pairs of which each end is a row of `new` or a node of the graph.
    pub fn score_pairs(&self, new: &Embeddings, pairs: &[(End, End)]) -> Vec<f32> {
        let width = self.config.width;
        let mut ends = Embeddings {
            attributes: Matrix::zeros(2 * pairs.len(), width),
            structure: Matrix::zeros(2 * pairs.len(), width),
            seen: Vec::with_capacity(2 * pairs.len()),
        };
        for (row, end) in pairs.iter().flat_map(|&(source, target)| [source, target]).enumerate() {
            let (from, node) = match end {
                End::Seen(node) => (&self.embeddings, node as usize),
                End::New(node) => (new, node as usize),
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
        Ok(Model { config: about.config, summary: about.summary, names, schema: about.schema, embeddings, encoder })
    }
}

fn write_error(path: &Path, error: std::io::Error) -> FileError {
    FileError { path: path.to_owned(), problem: FileProblem::Write(error) }
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
    use super::*;
    use crate::graph::{Graph, Notes};
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
}
