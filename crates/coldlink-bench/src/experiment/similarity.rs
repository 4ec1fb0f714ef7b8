//! How similar nodes are by their distance, for several γ: the paper's Figure 3.

use coldlink::Config;
use coldlink::config::Preset;
use coldlink::dataset::Dataset;
use coldlink::graph::{Graph, NodeId};
use coldlink::kernel::Matrix;
use coldlink::random::{Purpose, stream};
use coldlink::score::{EmbeddingScorer, Embeddings, Scorer};
use coldlink::split::Split;
use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::fit::{FitError, Task};
use super::rows::Log;
use super::{BenchError, Found, Run, Similarity, Wanted, find_set};
use crate::method::{Core, MethodError, trained_embeddings};

/// The mean cosine of pairs at one distance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SimilarityRow {
    /// Which set.
    pub set: String,
    /// Which split.
    pub seed: u64,
    /// γ of both φ.
    pub gamma: f64,
    /// `structure` or `attributes`.
    pub side: String,
    /// The distance.
    pub hop: u32,
    /// The mean cosine; none where no pair is so far apart.
    pub cosine: Option<f64>,
    /// How many pairs.
    pub pairs: usize,
}

impl Run<'_> {
    /// Trains DEAL for each γ and split that is missing, each for the number of steps that validation chooses, and appends the means.
    pub fn similarities(
        &self,
        wanted: &Wanted,
        similarity: &Similarity,
        tell: &mut (dyn FnMut(&str) + Send),
    ) -> Result<(), BenchError> {
        let (mut log, rows) = Log::open::<SimilarityRow>(&self.folder.file("similarity.csv"))?;
        for set in self.experiment.sets.iter().filter(|set| wanted.set(set)) {
            let found = find_set(self.data, set)?;
            if matches!(found, Found::Missing) {
                continue;
            }
            let dataset = found.open(self.data, set)?;
            for seed in wanted.seeds(self.experiment) {
                let is_known =
                    |gamma: f64| rows.iter().any(|row| (&row.set, row.seed, row.gamma) == (set, seed, gamma));
                for &gamma in similarity.gammas.iter().filter(|gamma| !is_known(**gamma)) {
                    tell(&format!("{set}, seed {seed}, γ = {gamma}"));
                    let pool = self.workers.pool()?;
                    log.append(&pool.install(|| self.of_gamma(&dataset, (set, seed, gamma), similarity))?)?;
                }
            }
        }
        Ok(())
    }

    fn of_gamma(
        &self,
        dataset: &Dataset,
        (set, seed, gamma): (&str, u64, f64),
        similarity: &Similarity,
    ) -> Result<Vec<SimilarityRow>, BenchError> {
        let (Some(block), Some(row)) = (self.experiment.blocks.first(), self.experiment.rows.first()) else {
            return Ok(Vec::new());
        };
        let split = Split::make(dataset, &block.protocol, Some(block.validation), seed)?;
        let tuned = self.experiment.ready(block, row, set)?.changes.to_string();
        let config = Preset::Paper.config().merged(&tuned).map_err(MethodError::from)?;
        let method = Core(Config { gamma1: gamma, gamma2: gamma, ..config });
        let task = Task { method: &method, split: &split, seed };
        let diverged = |step| BenchError::Diverged { method: row.name.clone(), set: set.to_owned(), seed, step };
        let best = match task.search(&mut |_| {}) {
            Ok(searched) => searched.best,
            Err(FitError::Diverged { step }) => return Err(diverged(step)),
            Err(FitError::Method(error)) => return Err(error.into()),
        };
        let steps = best.map_or(method.0.steps, |best| best.step);
        let view = split.search();
        let embeddings = trained_embeddings(&method, view, seed, steps)?;
        let by_hop = pairs_by_hop(view.graph(), similarity, seed);
        let of = |side: &str, rows: &Matrix<f32>| means(rows, &by_hop, (set, seed, gamma), side);
        Ok([of("structure", &embeddings.structure), of("attributes", &embeddings.attributes)].concat())
    }
}

/// Pairs at each distance from 1, as many as are wanted at the most, from sources drawn at random.
fn pairs_by_hop(graph: &Graph, wanted: &Similarity, seed: u64) -> Vec<Vec<(NodeId, NodeId)>> {
    let random = &mut stream(seed, Purpose::Order, 0, 0);
    let mut pairs = vec![Vec::new(); wanted.hops as usize];
    for _ in 0..SOURCES {
        let source = random.random_range(0..graph.nodes() as NodeId);
        let mut known = vec![false; graph.nodes()];
        known[source as usize] = true;
        let mut level = vec![source];
        for of_hop in &mut pairs {
            let mut next = Vec::new();
            for &node in level.iter().flat_map(|&node| graph.neighbors(node)) {
                if !std::mem::replace(&mut known[node as usize], true) {
                    next.push(node);
                }
            }
            let room = wanted.pairs.saturating_sub(of_hop.len());
            of_hop.extend(next.iter().take(room).map(|&node| (source, node)));
            level = next;
        }
    }
    pairs
}

/// Nodes whose surroundings are looked at.
const SOURCES: usize = 1000;

fn means(
    rows: &Matrix<f32>,
    by_hop: &[Vec<(NodeId, NodeId)>],
    (set, seed, gamma): (&str, u64, f64),
    side: &str,
) -> Vec<SimilarityRow> {
    let embeddings = Embeddings { attributes: rows.clone(), structure: rows.clone(), warm: vec![false; rows.rows()] };
    let scorer = EmbeddingScorer { embeddings: &embeddings, lambda: [0.0, 1.0, 0.0] };
    let mean = |(hop, pairs): (usize, &Vec<(NodeId, NodeId)>)| {
        let sum: f64 = scorer.scores(pairs).into_iter().map(f64::from).sum();
        let cosine = (!pairs.is_empty()).then(|| sum / pairs.len() as f64);
        let (set, side) = (set.to_owned(), side.to_owned());
        SimilarityRow { set, seed, gamma, side, hop: hop as u32 + 1, cosine, pairs: pairs.len() }
    };
    by_hop.iter().enumerate().map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_as_far_apart_as_their_hop() {
        let path = Graph::from_links(6, [(0, 1), (1, 2), (2, 3), (3, 4)]);
        let wanted = Similarity { gammas: vec![1.0], hops: 5, pairs: 100 };
        let pairs = pairs_by_hop(&path, &wanted, 3);
        for (hop, pairs) in pairs.iter().enumerate() {
            assert!(pairs.iter().all(|&(a, b)| a.abs_diff(b) as usize == hop + 1), "{pairs:?}");
        }
        assert!(!pairs[3].is_empty() && pairs[4].is_empty());
    }
}
