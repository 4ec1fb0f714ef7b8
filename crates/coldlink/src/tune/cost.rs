//! What a training run is likely to cost, from sizes alone.

use crate::config::{Config, Loss};
use crate::network::{Features, SparseRows};
use crate::split::TrainView;

/// Floating-point operations of dense products that two cores do in a second.
const DENSE_RATE: f64 = 1.4e11;
/// The same of sums over sparse rows, which wait for memory.
const SPARSE_RATE: f64 = 2.5e10;
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
