//! Rows against the reference row: a paired bootstrap of AUC over the test nodes of all splits that both have scores of.

use std::fs;
use std::path::Path;

use coldlink::evaluate::bootstrap::{Bootstrap, ComparedScores, Metric};
use coldlink::graph::Dataset;
use coldlink::split::{Pair, Split};

use super::{BenchError, Block, Comparison, Experiment, Folder, Found, find_set};

/// Compares all rows whose scores are there, and keeps the outcome beside the rows. What was compared before on as many splits
/// is kept: scores may be gone by now.
pub fn compare(experiment: &Experiment, folder: &Folder, data: &Path) -> Result<Vec<Comparison>, BenchError> {
    let path = folder.file("comparisons.csv");
    let mut all: Vec<Comparison> = super::read_log(&path)?;
    for set in &experiment.sets {
        let found = find_set(data, set)?;
        if matches!(found, Found::Missing) || !folder.file("scores").exists() {
            continue;
        }
        let mut dataset = None;
        for block in &experiment.blocks {
            compare_block(experiment, folder, block, set, &mut all, &mut || match &mut dataset {
                Some(dataset) => Ok(Dataset::clone(dataset)),
                none => Ok(none.insert(found.open(data, set)?).clone()),
            })?;
        }
    }
    write(&path, &all)?;
    Ok(all)
}

fn compare_block(
    experiment: &Experiment,
    folder: &Folder,
    block: &Block,
    set: &str,
    all: &mut Vec<Comparison>,
    open: &mut dyn FnMut() -> Result<Dataset, BenchError>,
) -> Result<(), BenchError> {
    let scores = |row: &str, seed: u64| folder.read_scores(&folder.scores_path(&block.name, row, set, seed));
    let reference: Vec<(u64, Vec<f32>)> =
        (0..experiment.seeds).filter_map(|seed| Some((seed, scores(&experiment.reference, seed)?))).collect();
    let mut tests: Option<Vec<Vec<Pair>>> = None;
    for row in experiment.rows.iter().filter(|row| row.name != experiment.reference) {
        let both: Vec<(usize, Vec<f32>)> = reference
            .iter()
            .enumerate()
            .filter_map(|(place, (seed, _))| Some((place, scores(&row.name, *seed)?)))
            .collect();
        let is_this = |known: &Comparison| known.block == block.name && known.method == row.name && known.set == set;
        let known = all.iter().find(|known| is_this(known)).map_or(0, |known| known.splits);
        if both.is_empty() || known >= both.len() {
            continue;
        }
        let tests = match &tests {
            Some(tests) => tests,
            None => {
                let dataset = open()?;
                let made = reference.iter().map(|(seed, _)| {
                    let split = Split::make(&dataset, &block.protocol, Some(block.validation), *seed)?;
                    Ok(split.test().pairs().to_vec())
                });
                &*tests.insert(made.collect::<Result<Vec<_>, BenchError>>()?)
            }
        };
        let compared =
            both.iter().map(|(place, own)| ComparedScores::new(Metric::Auc, &tests[*place], own, &reference[*place].1));
        let compared = compared.collect::<Result<Vec<_>, _>>()?;
        let difference = Bootstrap { resamples: RESAMPLES, seed: 0 }.compare(&compared)?;
        all.retain(|known| !is_this(known));
        all.push(Comparison {
            block: block.name.clone(),
            method: row.name.clone(),
            set: set.to_owned(),
            splits: both.len(),
            difference: difference.difference,
            low: difference.interval.0,
            high: difference.interval.1,
            p: difference.p,
        });
    }
    Ok(())
}

/// Enough to tell p < .05 from p > .05.
const RESAMPLES: usize = 400;

fn write(path: &Path, all: &[Comparison]) -> Result<(), BenchError> {
    let io = |source| BenchError::io("write", path, source);
    let mut writer = csv::Writer::from_writer(Vec::new());
    for comparison in all {
        writer.serialize(comparison).map_err(|error| io(error.into()))?;
    }
    let bytes = writer.into_inner().map_err(|error| io(error.into_error()))?;
    let beside = path.with_extension("partial");
    fs::write(&beside, bytes).and_then(|()| fs::rename(&beside, path)).map_err(io)
}
