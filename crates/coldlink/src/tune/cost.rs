//! What a training run is likely to cost, from sizes alone.

use crate::config::{Config, Loss, Objective};
use crate::graph::NodeId;
use crate::network::{Features, SparseRows};
use crate::split::{MOST_CANDIDATES, Split, TrainView};
use crate::train::QUESTIONS;

/// Floating-point operations of dense products that two cores do in a second.
const DENSE_RATE: f64 = 1.4e11;
/// The same of sums over sparse rows, which wait for memory.
const SPARSE_RATE: f64 = 2.5e10;
/// Floating-point operations of inner products of rows that are looked through for the nearest ones.
const SEARCH_RATE: f64 = 3e10;
/// Seconds that two cores take for the terms of a candidate in a list.
const CANDIDATE: f64 = 2.5e-7;
/// Seconds that two cores take for a source: its walk and its votes.
const SOURCE: f64 = 5e-4;
/// Bytes of embeddings that are copied in a second.
const COPY_RATE: f64 = 1.5e9;
/// How often nodes join a graph with roles, so that pairs of known nodes are weighed: with a copy of all embeddings each time.
const JOINS: f64 = 10.0;
/// In how many of these a question of one of two opposite roles is asked, on average.
const JOINED: f64 = 4.0;
/// Seconds of a step that do not depend on sizes.
const STEP_OVERHEAD: f64 = 2e-4;

/// Seconds that `steps` of training take on two ordinary cores, roughly. The same on every machine, so that a choice under a
/// budget is as well.
pub(super) fn estimated_seconds(config: &Config, view: &TrainView<'_>, features: &Features, steps: u64) -> f64 {
    let warm = view.warm().len() as f64;
    let (pairs, width) = (config.batch.pairs(warm as usize, view.graph().links()) as f64, config.width as f64);
    let (drawn, loss) = match config.loss {
        Loss::Pairs => (2.0 * pairs, 12.0 * pairs * width / SPARSE_RATE),
        Loss::Softmax => {
            let negatives = (config.negatives as f64).min(warm);
            // Three products of 2 pairs × 2 negatives × width.
            (2.0 * pairs + negatives, 24.0 * pairs * negatives * width / DENSE_RATE)
        }
    };
    // Distinct nodes among those drawn.
    let nodes = warm * (1.0 - (-drawn / warm.max(1.0)).exp());
    let first = config.hidden.first().copied().unwrap_or(config.width) as f64;
    // Forward and backward, and the optimiser on each touched row.
    let sparse = |rows: &SparseRows| {
        let entries = nodes * rows.mean_entries();
        (4.0 * entries + 12.0 * entries.min(rows.width() as f64)) * first / SPARSE_RATE
    };
    let dense = |width: usize| 4.0 * nodes * width as f64 * first / DENSE_RATE;
    let input = match features {
        Features::Sparse(rows) => sparse(rows),
        Features::Dense(matrix) => dense(matrix.columns()),
        Features::Mixed(rows, matrix) => sparse(rows) + dense(matrix.columns()),
    };
    let mut hidden = 0.0;
    let mut inputs = first;
    for &outputs in config.hidden.iter().skip(1).chain(config.hidden.first().map(|_| &config.width)) {
        hidden += 6.0 * nodes * inputs * outputs as f64 / DENSE_RATE;
        inputs = outputs as f64;
    }
    steps as f64 * (STEP_OVERHEAD + loss + input + hidden + 20.0 * nodes * width / SPARSE_RATE)
}

/// Seconds that the fit of a score's weights takes on two ordinary cores: all nodes are embedded, each new node of the half that is
/// fitted on looks through all warm ones, and some have lists.
pub(super) fn scoring_seconds(split: &Split, config: &Config, features: &Features) -> f64 {
    let (view, [_, weighing]) = (split.search(), split.validation_halves());
    if config.terms.is_empty() {
        return 0.0;
    }
    let (nodes, warm, width) = (view.graph().nodes() as f64, view.warm().len() as f64, config.width as f64);
    let mut sources: Vec<NodeId> = weighing.iter().map(|pair| pair.source).collect();
    sources.sort_unstable();
    sources.dedup();
    let (sources, roles) = (sources.len() as f64, view.roles().count() as f64);
    let embedding = 2.0 * nodes * (entries(features) + 1.0) * width / SPARSE_RATE;
    let source = SOURCE + 2.0 * warm * width / SEARCH_RATE;
    // Each role has its own questions, about nodes in the opposite role.
    let questions = sources.min(QUESTIONS as f64 * roles);
    let lists = if config.objective == Objective::Lists { questions } else { 0.0 };
    let ranking = lists * (warm / roles).min(MOST_CANDIDATES as f64) * CANDIDATE;
    // In a graph without roles, those that join it are so few that `SOURCE` counts them.
    let copying = JOINS * 8.0 * nodes * width / COPY_RATE;
    let joining = if roles > 1.0 { copying + JOINED * questions / 2.0 * source } else { 0.0 };
    embedding + sources * source + ranking + joining
}

/// Bytes that training takes at the most: weights with their moments and the best of them; or both embeddings of all nodes with what
/// terms are computed from.
pub(super) fn memory(split: &Split, config: &Config, features: &Features) -> f64 {
    let (view, width) = (split.search(), config.width as f64);
    let (nodes, links) = (view.graph().nodes() as f64, view.graph().links() as f64);
    let first = config.hidden.first().copied().unwrap_or(config.width) as f64;
    let weights = 4.0 * (nodes * width + features.width() as f64 * first);
    let rows = 8.0 * nodes * entries(features);
    let embeddings = weights + 8.0 * nodes * width + 2.0 * rows;
    8.0 * links + 40.0 * nodes + rows + (4.0 * weights).max(embeddings)
}

/// Attributes of a node, on average.
fn entries(features: &Features) -> f64 {
    match features {
        Features::Sparse(rows) => rows.mean_entries(),
        Features::Dense(matrix) => matrix.columns() as f64,
        Features::Mixed(rows, matrix) => rows.mean_entries() + matrix.columns() as f64,
    }
}
