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
        self.summary.nodes >= WORTH_AN_INDEX
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

    /// Builds an index of all nodes, in each role, and measures what is found through it.
    pub fn build_index(&self) -> LinkIndex {
        self.in_one().index_of_all()
    }

    fn index_of_all(&self) -> LinkIndex {
        let (nodes, roles) = (self.summary.nodes, self.roles.count());
        let of_role = |role: usize| (0..nodes as NodeId).map(move |node| self.roles.at(node, role));
        let (vectors, biases, popularities) = (self.dense_vectors(), self.dense_biases(), self.popularities());
        let biases = (0..roles).fold(biases, |biases, role| centred(biases, of_role(role)));
        let dense = |role: usize| Hnsw::build(&vectors, &biases, &popularities, of_role(role).collect());
        let dense = (0..roles).map(dense).collect();
        let similar = self.has_walks().then(|| {
            let mut unit = self.embeddings.attributes.clone();
            let width = unit.row_chunks().max(1);
            unit.chunks_mut().par_chunks_mut(width).for_each(|row| f32::run(Unit(row)));
            let zeros = vec![0.0; unit.rows()];
            let is_warm = |node: &NodeId| self.derived().warm.nodes().binary_search(node).is_ok();
            let graph = |role: usize| Hnsw::build(&unit, &zeros, &zeros, of_role(role).filter(is_warm).collect());
            (0..roles).map(graph).collect()
        });
        let of = format!("{:016x}", self.identity(nodes));
        let about = AboutIndex { of, nodes, roles, recall: 0.0, score_difference: None, sample: 0, effort: EFFORTS[0] };
        self.measured(LinkIndex { about, dense, similar })
    }

    /// The index with the least effort that finds enough, or else with the greatest.
    fn measured(&self, index: LinkIndex) -> LinkIndex {
        let nodes = self.sample();
        let held = self.as_if_new(&self.roles.all_of(&nodes));
        // Asked in every role in which it has links.
        let asks = |role: usize| {
            let plan = Plan { role, ..Plan::best(COMPARED) };
            let is_warm = |row: &usize| self.is_warm_in_role(self.roles.at(nodes[*row], role));
            (plan, (0..nodes.len()).filter(is_warm).collect::<Vec<usize>>())
        };
        let asks: Vec<(Plan<'_>, Vec<usize>)> = (0..self.roles.count()).map(asks).collect();
        let lists = |index: Option<&LinkIndex>| {
            let of_role =
                |(plan, rows): &(Plan<'_>, Vec<usize>)| self.links_of_held(&held, (&nodes, rows), *plan, index);
            asks.iter().map(of_role).collect::<Vec<_>>()
        };
        let (mut index, exact) = (index, lists(None));
        for effort in EFFORTS {
            index.about.effort = effort;
            let found = lists(Some(&index));
            let compared = found.iter().zip(&exact).map(|(found, exact)| Compared::of(found, exact));
            let compared: Vec<Compared> = compared.collect();
            let (found, off) = compared.iter().fold((0, 0.0), |sum, role| (sum.0 + role.found, sum.1 + role.off));
            // An index is as good as it is in its worst role.
            index.about.recall = compared.iter().map(Compared::recall).fold(1.0, f64::min);
            let difference = off / found.max(1) as f64;
            index.about.score_difference = Some(difference);
            index.about.sample = nodes.len();
            if index.about.recall >= ENOUGH && difference <= CLOSE {
                break;
            }
        }
        index
    }

    /// Some nodes with links, the same every time.
    fn sample(&self) -> Vec<NodeId> {
        let warm: Vec<NodeId> = (0..self.summary.nodes as NodeId).filter(|&node| self.is_warm(node)).collect();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
        let scored = warm.len().max(1) * self.roles.count();
        let wanted = (MOST_SCORED / scored).clamp(LEAST_SAMPLE, SAMPLE);
        let mut chosen: Vec<NodeId> =
            sample(&mut random, warm.len(), wanted.min(warm.len())).into_iter().map(|place| warm[place]).collect();
        chosen.sort_unstable();
        chosen
    }

    /// Whether an index was made from this model, or from what this model was before nodes were added to it.
    fn fits(&self, index: &LinkIndex) -> bool {
        let about = &index.about;
        about.nodes <= self.summary.nodes
            && about.roles == self.roles.count()
            && about.of == format!("{:016x}", self.identity(about.nodes))
            && index.similar.is_some() == self.has_walks()
    }

    /// A checksum of all that an index of the first nodes is made from.
    fn identity(&self, nodes: usize) -> u64 {
        if nodes * self.roles.count() > self.embeddings.nodes() {
            return self.in_one().identity(nodes);
        }
        let mut hash = Xxh3::new();
        let (roles, nodes) = (self.roles.count(), nodes * self.roles.count());
        for matrix in [&self.embeddings.attributes, &self.embeddings.structure] {
            hash.update(bytemuck::cast_slice(&matrix.chunks()[..nodes * matrix.row_chunks()]));
        }
        match &self.memory {
            Some(memory) => {
                hash.update(bytemuck::cast_slice(&memory.graph.offsets()[..=nodes]));
                let classes = [PairClass::ColdWarm, PairClass::ColdCold];
                for (role, class) in (0..roles).flat_map(|role| classes.map(|class| (role, class))) {
                    let weights = memory.weights.of(class, role);
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
        let of_role = |role: usize| Some(&self.memory.as_ref()?.weights.of(PairClass::ColdWarm, role).terms);
        (0..self.roles.count()).filter_map(of_role).any(of)
    }

    fn popularities(&self) -> Vec<f32> {
        let Some(memory) = &self.memory else { return vec![0.0; self.embeddings.nodes()] };
        (0..self.embeddings.nodes() as NodeId).map(|node| memory.graph.popularity(node)).collect()
    }
}

/// What some lists through an index have in common with those by scoring every node.
struct Compared {
    /// How many links there are.
    wanted: usize,
    /// How many of them are found.
    found: usize,
    /// By how much the scores of these differ, all together.
    off: f64,
}

impl Compared {
    fn of(found: &[Vec<Hit>], exact: &[Vec<Hit>]) -> Self {
        let pairs = found.iter().zip(exact).flat_map(|(found, exact)| {
            let same =
                |hit: &Hit| found.iter().find(|found| found.node == hit.node).map(|found| (found.score, hit.score));
            exact.iter().filter_map(same).collect::<Vec<_>>()
        });
        let differences: Vec<f64> = pairs.map(|(found, exact)| f64::from((found - exact).abs())).collect();
        let wanted = exact.iter().map(Vec::len).sum();
        Compared { wanted, found: differences.len(), off: differences.iter().sum() }
    }

    fn recall(&self) -> f64 {
        if self.wanted == 0 { 1.0 } else { self.found as f64 / self.wanted as f64 }
    }
}

/// What all nodes of a role get changes no order, but would put them far from where queries are.
fn centred(mut biases: Vec<f32>, of_role: impl Iterator<Item = NodeId> + Clone) -> Vec<f32> {
    let count = of_role.clone().count().max(1) as f64;
    let mean = (of_role.clone().map(|node| f64::from(biases[node as usize])).sum::<f64>() / count) as f32;
    of_role.for_each(|node| biases[node as usize] -= mean);
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
