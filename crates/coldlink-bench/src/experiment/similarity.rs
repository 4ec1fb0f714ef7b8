//! How similar nodes are by their distance, for several γ: the paper's Figure 3.

use std::path::Path;

use coldlink::evaluate::Scorer;
use coldlink::graph::{Graph, NodeId};
use coldlink::kernel::Matrix;
use coldlink::model::{EmbeddingScorer, Embeddings};
use coldlink::sample::{Purpose, stream};
use coldlink::split::Split;
use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::rows::Log;
use super::{BenchError, Experiment, Folder, Found, Similarity, find_set};
use crate::method::{Core, trained_embeddings};

/// The mean cosine of pairs at one distance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SimilarityRow {
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

/// Trains DEAL for each γ and split that is missing, and appends the means. Tuned settings are those of another experiment's
/// row `deal` on the same block and set.
pub fn similarities(
    experiment: &Experiment,
    wanted: &Similarity,
    folder: &Folder,
    data: &Path,
    seeds: u64,
    tell: &mut dyn FnMut(&str),
) -> Result<Vec<SimilarityRow>, BenchError> {
    let (mut log, mut rows) = Log::open::<SimilarityRow>(&folder.file("similarity.csv"))?;
    let (Some(block), Some(row)) = (experiment.blocks.first(), experiment.rows.first()) else { return Ok(rows) };
    for set in &experiment.sets {
        let found = find_set(data, set)?;
        if matches!(found, Found::Missing) {
            continue;
        }
        let dataset = found.open(data, set)?;
        for seed in 0..seeds {
            let missing = wanted
                .gammas
                .iter()
                .filter(|gamma| !rows.iter().any(|row| row.set == *set && row.seed == seed && row.gamma == **gamma));
            let missing: Vec<f64> = missing.copied().collect();
            if missing.is_empty() {
                continue;
            }
            let split = Split::make(&dataset, &block.protocol, Some(block.validation), seed)?;
            let graph = split.search(&dataset.attributes).graph().clone();
            let by_hop = pairs_by_hop(&graph, wanted, seed);
            for gamma in missing {
                tell(&format!("{set}, seed {seed}, γ = {gamma}"));
                let mut settings = experiment.settings(block, row, set)?;
                settings.extend([("gamma1".to_owned(), gamma.into()), ("gamma2".to_owned(), gamma.into())]);
                let config = coldlink::config::Preset::Paper.config().merged(&settings.to_string());
                let config = config.map_err(crate::method::MethodError::from)?;
                let embeddings = trained_embeddings(&Core(config), split.search(&dataset.attributes), seed)?;
                let found = means(&embeddings, &by_hop, set, seed, gamma);
                log.append(&found)?;
                rows.extend(found);
            }
        }
    }
    Ok(rows)
}

/// Pairs at each distance from 1, as many as are wanted at the most, from sources drawn at random.
fn pairs_by_hop(graph: &Graph, wanted: &Similarity, seed: u64) -> Vec<Vec<(NodeId, NodeId)>> {
    let random = &mut stream(seed, Purpose::Pairs, 0, 0);
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
    embeddings: &Embeddings,
    by_hop: &[Vec<(NodeId, NodeId)>],
    set: &str,
    seed: u64,
    gamma: f64,
) -> Vec<SimilarityRow> {
    let one = |side: &str, rows: &Matrix<f32>| {
        let seen = vec![false; rows.rows()];
        let embeddings = Embeddings { attributes: rows.clone(), structure: rows.clone(), seen };
        let scorer = EmbeddingScorer { embeddings: &embeddings, lambda: [0.0, 1.0, 0.0] };
        let mean = |(hop, pairs): (usize, &Vec<(NodeId, NodeId)>)| {
            let sum: f64 = scorer.scores(pairs).into_iter().map(f64::from).sum();
            SimilarityRow {
                set: set.to_owned(),
                seed,
                gamma,
                side: side.to_owned(),
                hop: hop as u32 + 1,
                cosine: (!pairs.is_empty()).then(|| sum / pairs.len() as f64),
                pairs: pairs.len(),
            }
        };
        by_hop.iter().enumerate().map(mean).collect::<Vec<_>>()
    };
    [one("structure", &embeddings.structure), one("attributes", &embeddings.attributes)].concat()
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
