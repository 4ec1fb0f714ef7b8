//! Rows against the reference row: a paired bootstrap of AUC over the test nodes of all splits that both have scores of.

use std::cell::OnceCell;
use std::path::Path;

use coldlink::dataset::Dataset;
use coldlink::evaluate::bootstrap::{Bootstrap, ComparedScores, Metric};
use coldlink::split::{Pair, Split};

use super::folder::write;
use super::rows::read_log;
use super::{BenchError, Block, CellRow, Comparison, Experiment, Folder, Found, find_set};

/// Enough to tell p < .05 from p > .05.
const RESAMPLES: usize = 400;

/// Compares all rows whose scores are there, and keeps the outcome beside the rows. What was compared before, of the same
/// configurations and on as many splits, is kept: scores may be gone by now.
pub(super) fn compare(
    experiment: &Experiment,
    folder: &Folder,
    data: &Path,
    rows: &[CellRow],
) -> Result<Vec<Comparison>, BenchError> {
    let path = folder.file("comparisons.csv");
    let known: Vec<Comparison> = read_log(&path)?;
    let mut all = Vec::new();
    for set in &experiment.sets {
        let found = find_set(data, set)?;
        let dataset = OnceCell::new();
        for block in &experiment.blocks {
            let column = Column { experiment, folder, rows, block, set };
            let open = || open_once(&dataset, &found, data, set);
            all.extend(column.compare(&known, &open)?);
        }
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    let failed = |error: std::io::Error| BenchError::io("write", &path, error);
    for comparison in &all {
        writer.serialize(comparison).map_err(|error| failed(error.into()))?;
    }
    let bytes = writer.into_inner().map_err(|error| failed(error.into_error()))?;
    write(&path, &String::from_utf8_lossy(&bytes))?;
    Ok(all)
}

/// The data set, opened when it is first needed; none where it is not here.
fn open_once<'d>(
    dataset: &'d OnceCell<Dataset>,
    found: &Found,
    data: &Path,
    set: &str,
) -> Result<Option<&'d Dataset>, BenchError> {
    if matches!(found, Found::Missing) {
        return Ok(None);
    }
    if dataset.get().is_none() {
        let _ = dataset.set(found.open(data, set)?);
    }
    Ok(dataset.get())
}

/// One block on one set.
struct Column<'a> {
    experiment: &'a Experiment,
    folder: &'a Folder,
    rows: &'a [CellRow],
    block: &'a Block,
    set: &'a str,
}

/// The scores of a row on one split.
struct Scored<'a> {
    row: &'a CellRow,
    scores: Vec<f32>,
}

impl<'a> Column<'a> {
    /// The rows of a method whose scores are there.
    fn scored(&self, method: &str) -> Vec<Scored<'a>> {
        let is_own = |row: &&CellRow| row.block == self.block.name && row.method == method && row.set == self.set;
        let scores = |row: &'a CellRow| {
            let path = self.folder.scores_path(&row.block, &row.method, &row.set, row.seed);
            Some(Scored { row, scores: self.folder.read_scores(&path)? })
        };
        self.rows.iter().filter(is_own).filter_map(scores).collect()
    }

    fn compare(
        &self,
        known: &[Comparison],
        open: &dyn Fn() -> Result<Option<&'a Dataset>, BenchError>,
    ) -> Result<Vec<Comparison>, BenchError> {
        let reference = self.scored(&self.experiment.reference);
        let mut tests: Vec<(u64, Vec<Pair>)> = Vec::new();
        let mut found = Vec::new();
        for row in self.experiment.rows.iter().filter(|row| row.name != self.experiment.reference) {
            let own = self.scored(&row.name);
            let both: Vec<(&Scored<'_>, &Scored<'_>)> = own
                .iter()
                .filter_map(|own| Some((own, reference.iter().find(|other| other.row.seed == own.row.seed)?)))
                .collect();
            let before = known.iter().find(|known| {
                (&known.block, &known.method, known.set.as_str()) == (&self.block.name, &row.name, self.set)
            });
            let is_new = |(own, other): &(&Scored<'_>, &Scored<'_>)| {
                before.is_none_or(|known| {
                    known.configuration != own.row.configuration || known.reference != other.row.configuration
                })
            };
            let stale = both.iter().any(is_new) || both.len() > before.map_or(0, |known| known.splits);
            match (stale, both.first(), open()?) {
                (true, Some((first, other)), Some(dataset)) => {
                    let difference = self.bootstrap(&both, dataset, &mut tests)?;
                    found.push(Comparison {
                        block: self.block.name.clone(),
                        method: row.name.clone(),
                        set: self.set.to_owned(),
                        splits: both.len(),
                        difference: difference.difference,
                        low: difference.interval.0,
                        high: difference.interval.1,
                        p: difference.p,
                        configuration: first.row.configuration.clone(),
                        reference: other.row.configuration.clone(),
                    });
                }
                _ => found.extend(before.cloned()),
            }
        }
        Ok(found)
    }

    fn bootstrap(
        &self,
        both: &[(&Scored<'_>, &Scored<'_>)],
        dataset: &Dataset,
        tests: &mut Vec<(u64, Vec<Pair>)>,
    ) -> Result<coldlink::evaluate::bootstrap::Difference, BenchError> {
        let mut compared = Vec::new();
        for (own, other) in both {
            let seed = own.row.seed;
            if !tests.iter().any(|test| test.0 == seed) {
                let Block { protocol, validation, .. } = self.block;
                let split = Split::make(dataset, protocol, Some(*validation), seed)?;
                tests.push((seed, split.test().pairs().to_vec()));
            }
            let pairs = tests.iter().find(|test| test.0 == seed).map_or(&[][..], |test| &test.1);
            compared.push(ComparedScores::new(Metric::Auc, pairs, &own.scores, &other.scores)?);
        }
        Ok(Bootstrap { resamples: RESAMPLES, seed: 0 }.compare(&compared)?)
    }
}
