//! A model with an index: made, measured, kept beside the model's file, and used only where it belongs to the model.

use std::path::Path;
use std::sync::Arc;

use rand::SeedableRng;
use rand::seq::index::sample;
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use xxhash_rust::xxh3::Xxh3;

use super::{Model, Plan};
use crate::config::Term;
use crate::graph::NodeId;
use crate::hint::Hint;
use crate::index::{AboutIndex, Effort, Hit, Hnsw, LinkIndex};
use crate::kernel::{Chunk, Kernel, Real, Simd, normalise};
use crate::score::STARTS;
use crate::split::PairClass;
use crate::storage::{FileError, FileProblem};

/// Efforts in rising order; the first that finds enough is kept.
const EFFORTS: [Effort; 5] = [
    Effort { dense: 64, sparse: 200, ranked_again: 0, similar: STARTS },
    Effort { dense: 64, sparse: 200, ranked_again: 2_000, similar: STARTS },
    Effort { dense: 128, sparse: 500, ranked_again: 4_000, similar: 700 },
    Effort { dense: 256, sparse: 2_000, ranked_again: 8_000, similar: 1_500 },
    Effort { dense: 1_000, sparse: 4_000, ranked_again: 16_000, similar: 3_000 },
];
/// What is enough: a little more than what is promised, which a sample can miss by chance.
const ENOUGH: f64 = 0.985;
/// How far scores may be off on average: log-odds that nobody sees.
const CLOSE: f64 = 0.02;
/// Nodes that recall is measured on.
const SAMPLE: usize = 200;
/// Nodes that are scored for it at the most, by every node of the sample together; but at least [`LEAST_SAMPLE`] are measured on.
const MOST_SCORED: usize = 40_000_000;
/// With ten links each, the standard error of a recall of .98 is .007.
const LEAST_SAMPLE: usize = 40;
/// Links of each that are compared.
const COMPARED: usize = 10;

/// Why an index that lies beside a model is not used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexProblem {
    /// It cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// It was made from another model, or the model was trained again.
    #[error("the index `{0}` was built from another model")]
    Stale(std::path::PathBuf),
}

/// Nodes from which on an index is worth its file: below, scoring every node takes few milliseconds.
const WORTH_AN_INDEX: usize = 50_000;

impl IndexProblem {
    /// What to do about it.
    pub fn hint(&self) -> Option<Hint> {
        Some(Hint::new("build the index again with {coldlink index}"))
    }
}

impl Model {
    /// Whether links should be found through an index.
    pub fn is_worth_an_index(&self) -> bool {
        self.roles.is_plain() && self.summary.nodes >= WORTH_AN_INDEX
    }

    /// Whether an index should be made when the model is saved there: it is worth one, or it takes the place of a model with one.
    pub fn needs_index_at(&self, path: &Path) -> bool {
        self.is_worth_an_index() || LinkIndex::path_of(path).exists()
    }

    /// Opens a model, and the index beside it where there is one. A model whose index cannot be used finds the same links and better,
    /// only slower; why it cannot is handed back.
    pub fn open_indexed(path: &Path) -> Result<(Self, Option<IndexProblem>), FileError> {
        let mut model = Model::open(path)?;
        let beside = LinkIndex::path_of(path);
        let problem = match LinkIndex::open(&beside, model.config.width) {
            Ok(index) if model.fits(&index) => {
                model.set_index(index);
                None
            }
            Ok(_) => Some(IndexProblem::Stale(beside)),
            Err(FileError { problem: FileProblem::Io(error), .. }) if error.kind() == std::io::ErrorKind::NotFound => {
                None
            }
            Err(error) => Some(error.into()),
        };
        Ok((model, problem))
    }

    /// The index that links are found through, if any.
    pub fn index(&self) -> Option<&AboutIndex> {
        self.index.as_ref().map(|index| &index.about)
    }

    /// Finds links through an index from now on. It must have been built by this model.
    pub fn set_index(&mut self, index: LinkIndex) {
        self.index = Some(Arc::new(index));
        if let Some(memory) = &self.memory {
            memory.words.prepare();
        }
        self.derived();
    }

    /// Builds an index of all nodes and measures what is found through it.
    pub fn build_index(&self) -> LinkIndex {
        self.in_one().index_of_all()
    }

    fn index_of_all(&self) -> LinkIndex {
        let nodes = self.embeddings.nodes();
        let all = (0..nodes as NodeId).collect();
        let dense = Hnsw::build(&self.dense_vectors(), &centred(self.dense_biases()), &self.popularities(), all);
        let similar = self.has_walks().then(|| {
            let mut unit = self.embeddings.attributes.clone();
            let width = unit.row_chunks().max(1);
            unit.chunks_mut().par_chunks_mut(width).for_each(|row| f32::run(Unit(row)));
            let zeros = vec![0.0; nodes];
            Hnsw::build(&unit, &zeros, &zeros, self.derived().warm.nodes().to_vec())
        });
        let of = format!("{:016x}", self.identity(nodes));
        let about = AboutIndex { of, nodes, recall: 0.0, score_difference: None, sample: 0, effort: EFFORTS[0] };
        self.measured(LinkIndex { about, dense, similar })
    }

    /// The index with the least effort that finds enough, or else with the greatest.
    fn measured(&self, index: LinkIndex) -> LinkIndex {
        let nodes = self.sample();
        let held = self.as_if_new(&nodes);
        let plan = Plan::best(COMPARED);
        let exact: Vec<Vec<Hit>> = self.links_of_held(&held, &nodes, plan, None);
        let mut index = index;
        for effort in EFFORTS {
            index.about.effort = effort;
            let found = self.links_of_held(&held, &nodes, plan, Some(&index));
            let pairs = found.iter().zip(&exact).flat_map(|(found, exact)| {
                let same =
                    |hit: &Hit| found.iter().find(|found| found.node == hit.node).map(|found| (found.score, hit.score));
                exact.iter().filter_map(same).collect::<Vec<_>>()
            });
            let differences: Vec<f64> = pairs.map(|(found, exact)| f64::from((found - exact).abs())).collect();
            let wanted: usize = exact.iter().map(Vec::len).sum();
            index.about.recall = if wanted == 0 { 1.0 } else { differences.len() as f64 / wanted as f64 };
            let difference = differences.iter().sum::<f64>() / differences.len().max(1) as f64;
            index.about.score_difference = Some(difference);
            index.about.sample = nodes.len();
            if index.about.recall >= ENOUGH && difference <= CLOSE {
                break;
            }
        }
        index
    }

    /// Some warm nodes, the same every time.
    fn sample(&self) -> Vec<NodeId> {
        let warm: Vec<NodeId> = (0..self.role_nodes() as NodeId).filter(|&node| self.is_warm_in_role(node)).collect();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
        let wanted = (MOST_SCORED / warm.len().max(1)).clamp(LEAST_SAMPLE, SAMPLE);
        let mut chosen: Vec<NodeId> =
            sample(&mut random, warm.len(), wanted.min(warm.len())).into_iter().map(|place| warm[place]).collect();
        chosen.sort_unstable();
        chosen
    }

    /// Whether an index was made from this model, or from what this model was before nodes were added to it.
    fn fits(&self, index: &LinkIndex) -> bool {
        let about = &index.about;
        about.nodes <= self.role_nodes()
            && about.of == format!("{:016x}", self.identity(about.nodes))
            && index.similar.is_some() == self.has_walks()
    }

    /// A checksum of all that an index of the first nodes is made from.
    fn identity(&self, nodes: usize) -> u64 {
        if nodes > self.embeddings.nodes() {
            return self.in_one().identity(nodes);
        }
        let mut hash = Xxh3::new();
        for matrix in [&self.embeddings.attributes, &self.embeddings.structure] {
            hash.update(bytemuck::cast_slice(&matrix.chunks()[..nodes * matrix.row_chunks()]));
        }
        match &self.memory {
            Some(memory) => {
                hash.update(bytemuck::cast_slice(&memory.graph.offsets()[..=nodes]));
                for class in [PairClass::ColdWarm, PairClass::ColdCold] {
                    let weights = memory.weights.of(class, 0);
                    // A term that is newer than the index counts where it has a weight.
                    let (first, later) = weights.terms.split_at(Term::Votes as usize);
                    hash.update(bytemuck::cast_slice(first));
                    later.iter().filter(|weight| **weight != 0.0).for_each(|weight| hash.update(&weight.to_le_bytes()));
                    hash.update(bytemuck::bytes_of(&weights.intercept));
                }
            }
            None => hash.update(bytemuck::bytes_of(&self.config.lambda)),
        }
        hash.digest()
    }

    fn has_walks(&self) -> bool {
        let of = |terms: &[f64; Term::ALL.len()]| terms[Term::Near as usize] != 0.0 || terms[Term::Far as usize] != 0.0;
        self.memory.as_ref().is_some_and(|memory| of(&memory.weights.cold_warm.terms))
    }

    fn popularities(&self) -> Vec<f32> {
        let Some(memory) = &self.memory else { return vec![0.0; self.embeddings.nodes()] };
        (0..self.embeddings.nodes() as NodeId).map(|node| memory.graph.popularity(node)).collect()
    }
}

/// What all nodes get changes no order, but would put them far from where queries are.
fn centred(mut biases: Vec<f32>) -> Vec<f32> {
    let mean = (biases.iter().map(|bias| f64::from(*bias)).sum::<f64>() / biases.len().max(1) as f64) as f32;
    biases.iter_mut().for_each(|bias| *bias -= mean);
    biases
}

struct Unit<'a>(&'a mut [Chunk<f32>]);

impl Kernel<f32> for Unit<'_> {
    type Output = ();
    #[inline(always)]
    fn on<S: Simd<Scalar = f32>>(self, simd: S) {
        normalise(simd, self.0);
    }
}
