//! Runs the cells of an experiment that are not finished yet.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use coldlink::dataset::Dataset;
use coldlink::evaluate::{Metrics, Validated};
use coldlink::split::Split;

use super::data::check_folder;
use super::fit::{FitError, Fitted, Look, Task};
use super::parallel::{Workers, lock};
use super::rows::Log;
use super::settings::{Ready, one_line};
use super::{BenchError, Block, CellRow, Configuration, CurvePoint, Experiment, Folder, Found, Row, find_set};

/// Which cells of an experiment are wanted.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Rows by name; all where empty.
    pub rows: Vec<String>,
    /// Sets by name; all where empty.
    pub sets: Vec<String>,
    /// Blocks by name; all where empty.
    pub blocks: Vec<String>,
    /// Seeds from 0; the experiment's own number where none is given.
    pub seeds: Option<u64>,
    /// The first seed.
    pub first_seed: u64,
}

impl Wanted {
    /// Refuses names that the experiment does not have, no splits, and a folder of data that is not there.
    pub fn check(&self, experiment: &Experiment, data: &Path) -> Result<(), BenchError> {
        check_folder(data)?;
        let path = experiment.folder.join(format!("{}.toml", experiment.name));
        if self.seeds(experiment).is_empty() {
            let message = "no split is left to run".to_owned();
            return Err(BenchError::File { path, message, hint: "give `--seeds` 1 or more".to_owned() });
        }
        let unknown =
            |wanted: &[String], known: Vec<&str>| wanted.iter().find(|name| !known.contains(&name.as_str())).cloned();
        let rows = unknown(&self.rows, experiment.rows.iter().map(|row| row.name.as_str()).collect());
        let sets = unknown(&self.sets, experiment.sets.iter().map(String::as_str).collect());
        let blocks = unknown(&self.blocks, experiment.blocks.iter().map(|block| block.name.as_str()).collect());
        let Some((what, name)) =
            [("row", rows), ("set", sets), ("block", blocks)].into_iter().find_map(|(what, name)| Some((what, name?)))
        else {
            return Ok(());
        };
        let rows = experiment.rows.iter().map(|row| format!("`{}`", row.name)).collect::<Vec<_>>().join(", ");
        let blocks = experiment.blocks.iter().map(|block| format!("`{}`", block.name)).collect::<Vec<_>>().join(", ");
        let sets = experiment.sets.iter().map(|set| format!("`{set}`")).collect::<Vec<_>>().join(", ");
        Err(BenchError::File {
            path,
            message: format!("there is no {what} `{name}`"),
            hint: format!("rows: {rows}; sets: {sets}; blocks: {blocks}"),
        })
    }

    /// Whether a set is wanted.
    pub fn set(&self, set: &str) -> bool {
        Self::has(&self.sets, set)
    }

    /// The seeds that are wanted.
    pub fn seeds(&self, experiment: &Experiment) -> std::ops::Range<u64> {
        self.first_seed..self.seeds.map_or(experiment.seeds, |seeds| self.first_seed.saturating_add(seeds))
    }

    fn has(list: &[String], name: &str) -> bool {
        list.is_empty() || list.iter().any(|each| each == name)
    }

    /// Whether a cell is wanted.
    pub fn cell(&self, block: &Block, row: &Row, set: &str) -> bool {
        Self::has(&self.blocks, &block.name) && Self::has(&self.rows, &row.name) && Self::has(&self.sets, set)
    }
}

/// A cell to run: which block, row, set and split.
#[derive(Clone)]
pub struct Cell<'e> {
    /// Which block.
    pub block: &'e Block,
    /// Which row.
    pub row: &'e Row,
    /// Which set.
    pub set: &'e str,
    /// Which split.
    pub seed: u64,
}

/// What goes on in a run.
pub enum Event<'a> {
    /// A cell is begun; so many were finished and so many are left, with this one, and so many seconds they may take.
    Begun {
        /// Which.
        cell: &'a Cell<'a>,
        /// Finished now or before.
        done: usize,
        /// Still to run, this one included.
        left: usize,
        /// What is left of the work, as far as it can be told.
        seconds_left: Option<f64>,
    },
    /// Something in a cell under way.
    Look(&'a Cell<'a>, Look),
    /// A cell is finished.
    Ended(&'a CellRow),
}

/// A cell that would take longer than this for ten splits is run on three.
const LONGEST_CELL: f64 = 3600.0;
/// As many splits a long cell gets.
const SPLITS_OF_LONG_CELLS: u64 = 3;

/// A run: an experiment, where its results go, and where its data is.
pub struct Run<'e> {
    /// Which experiment.
    pub experiment: &'e Experiment,
    /// Where results go.
    pub folder: &'e Folder,
    /// Where the data sets are.
    pub data: &'e Path,
    /// Cells at a time.
    pub workers: Workers,
}

/// What all workers share.
struct Shared {
    rows: Vec<CellRow>,
    row_log: Log,
    curve_log: Log,
    configuration_log: Log,
    noted: Vec<Configuration>,
    dataset: Option<(String, Arc<Dataset>)>,
    split: Option<((String, String, u64), Arc<Split>)>,
}

impl Run<'_> {
    /// Runs what is wanted and not finished yet.
    pub fn cells(&self, wanted: &Wanted, observe: &mut (dyn FnMut(Event<'_>) + Send)) -> Result<(), BenchError> {
        let (row_log, rows) = Log::open::<CellRow>(&self.folder.file("rows.csv"))?;
        let (curve_log, _) = Log::open::<CurvePoint>(&self.folder.file("curves.csv"))?;
        let (configuration_log, noted) = Log::open::<Configuration>(&self.folder.file("configurations.csv"))?;
        let cells = cells(self.experiment, self.data, wanted)?;
        let (dataset, split) = (None, None);
        let shared = Mutex::new(Shared { rows, row_log, curve_log, configuration_log, noted, dataset, split });
        let observe = Mutex::new(observe);
        self.workers.each(cells.len(), |place| self.cell(&cells, place, &shared, &observe))
    }

    fn cell(
        &self,
        cells: &[Cell<'_>],
        place: usize,
        shared: &Mutex<Shared>,
        observe: &Mutex<&mut (dyn FnMut(Event<'_>) + Send)>,
    ) -> Result<(), BenchError> {
        let cell = &cells[place];
        let ready = self.experiment.ready(cell.block, cell.row, cell.set)?;
        let split = {
            let mut shared = lock(shared);
            if is_finished(&shared.rows, cell, &ready.configuration, self.folder)? || is_too_long(&shared.rows, cell) {
                return Ok(());
            }
            let is_open = |cell: &&Cell<'_>| !is_there(&shared.rows, cell) && !is_too_long(&shared.rows, cell);
            let left: Vec<&Cell<'_>> = cells.iter().filter(is_open).collect();
            let seconds_left = seconds_left(&shared.rows, &left).map(|seconds| seconds / self.workers.jobs as f64);
            let done = cells.len() - left.len();
            lock(observe)(Event::Begun { cell, done, left: left.len(), seconds_left });
            shared.note(&ready, cell.row.method.name)?;
            shared.open(cell, self.data)?
        };
        let look = &mut |look| lock(observe)(Event::Look(cell, look));
        let task = Task { method: &*ready.method, split: &split, seed: cell.seed };
        let outcome = task.fit(look).and_then(|fitted| Ok((task.measure(&fitted)?, fitted)));
        let mut shared = lock(shared);
        let row = match outcome {
            Ok((measured, fitted)) => {
                let scores = self.folder.scores_path(&cell.block.name, &cell.row.name, cell.set, cell.seed);
                self.folder.write_scores(&scores, &measured.scores)?;
                if cell.seed == 0 {
                    shared.curve_log.append(&cell.curve(&fitted.history, &ready.configuration))?;
                }
                cell.measured(&fitted, &measured.metrics, &ready)
            }
            // A cell of its own kind: it is told in the table, and the others go on.
            Err(FitError::Diverged { step }) => cell.astray(step, &ready),
            Err(FitError::Method(error)) => return Err(error.into()),
        };
        shared.row_log.append(std::slice::from_ref(&row))?;
        lock(observe)(Event::Ended(&row));
        shared.rows.push(row);
        Ok(())
    }
}

impl Shared {
    /// Keeps what a configuration's short name stands for.
    fn note(&mut self, ready: &Ready, method: &str) -> Result<(), BenchError> {
        let (configuration, method) = (ready.configuration.clone(), method.to_owned());
        let note = Configuration { configuration, method, settings: one_line(&ready.changes) };
        if !self.noted.contains(&note) {
            self.configuration_log.append(std::slice::from_ref(&note))?;
            self.noted.push(note);
        }
        Ok(())
    }

    /// The cell's split; cells that follow one another mostly share it.
    fn open(&mut self, cell: &Cell<'_>, data: &Path) -> Result<Arc<Split>, BenchError> {
        let dataset = match &self.dataset {
            Some((name, dataset)) if name == cell.set => dataset.clone(),
            _ => Arc::new(find_set(data, cell.set)?.open(data, cell.set)?),
        };
        self.dataset = Some((cell.set.to_owned(), dataset.clone()));
        let key = (cell.block.name.clone(), cell.set.to_owned(), cell.seed);
        let split = match &self.split {
            Some((known, split)) if *known == key => split.clone(),
            _ => Arc::new(Split::make(&dataset, &cell.block.protocol, Some(cell.block.validation), cell.seed)?),
        };
        self.split = Some((key, split.clone()));
        Ok(split)
    }
}

/// All cells that can be run here, split by split, so that a run that is stopped has something of everything.
fn cells<'e>(experiment: &'e Experiment, data: &Path, wanted: &Wanted) -> Result<Vec<Cell<'e>>, BenchError> {
    let mut cells = Vec::new();
    for set in &experiment.sets {
        if matches!(find_set(data, set)?, Found::Missing) {
            continue;
        }
        for seed in wanted.seeds(experiment) {
            for block in &experiment.blocks {
                let rows = experiment
                    .rows
                    .iter()
                    .filter(|row| wanted.cell(block, row, set) && experiment.reason(&row.name, set).is_none());
                cells.extend(rows.map(|row| Cell { block, row, set, seed }));
            }
        }
    }
    Ok(cells)
}

impl Cell<'_> {
    fn is(&self, row: &CellRow) -> bool {
        self.is_like(row) && row.seed == self.seed
    }

    /// The same up to the split.
    fn is_like(&self, row: &CellRow) -> bool {
        row.block == self.block.name && row.method == self.row.name && row.set == self.set
    }

    fn measured(&self, fitted: &Fitted<'_>, metrics: &Metrics, ready: &Ready) -> CellRow {
        CellRow {
            block: self.block.name.clone(),
            method: self.row.name.clone(),
            set: self.set.to_owned(),
            seed: self.seed,
            auc: metrics.pooled.auc,
            ap: metrics.pooled.ap,
            prevalence: metrics.pooled.prevalence,
            mrr: metrics.mrr,
            hits_at_10: metrics.hits.at_10,
            new_old_auc: metrics.cold_warm.and_then(|measures| measures.auc),
            new_old_ap: metrics.cold_warm.and_then(|measures| measures.ap),
            new_new_auc: metrics.cold_cold.and_then(|measures| measures.auc),
            new_new_ap: metrics.cold_cold.and_then(|measures| measures.ap),
            validation_auc: fitted.best.map(|best| best.auc),
            validation_ap: fitted.best.map(|best| best.ap),
            seconds: fitted.seconds,
            steps: fitted.steps,
            parameters: fitted.parameters,
            threads: rayon::current_num_threads(),
            searched: ready.searched,
            configuration: ready.configuration.clone(),
        }
    }

    /// The row of a cell whose training went astray.
    fn astray(&self, step: u64, ready: &Ready) -> CellRow {
        CellRow {
            block: self.block.name.clone(),
            method: self.row.name.clone(),
            set: self.set.to_owned(),
            seed: self.seed,
            steps: step,
            threads: rayon::current_num_threads(),
            searched: ready.searched,
            configuration: ready.configuration.clone(),
            ..CellRow::default()
        }
    }

    fn curve(&self, history: &[Validated], configuration: &str) -> Vec<CurvePoint> {
        let point = |validated: &Validated| CurvePoint {
            block: self.block.name.clone(),
            method: self.row.name.clone(),
            set: self.set.to_owned(),
            step: validated.step,
            auc: validated.auc,
            ap: validated.ap,
            configuration: configuration.to_owned(),
        };
        history.iter().map(point).collect()
    }
}

fn is_there(rows: &[CellRow], cell: &Cell<'_>) -> bool {
    rows.iter().any(|row| cell.is(row))
}

/// Whether a cell has its row; one of another configuration is refused, since both would end in one mean.
fn is_finished(rows: &[CellRow], cell: &Cell<'_>, hash: &str, folder: &Folder) -> Result<bool, BenchError> {
    match rows.iter().find(|row| cell.is_like(row) && row.configuration != hash) {
        Some(other) => Err(BenchError::File {
            path: folder.file("rows.csv"),
            message: format!(
                "rows of `{}` on `{}` were made with configuration {}, which is now {hash}",
                other.method, other.set, other.configuration
            ),
            hint: "take these rows away, put the settings back, or start anew with `--out`".to_owned(),
        }),
        None => Ok(is_there(rows, cell)),
    }
}

/// Whether this split is not among the first three of a cell that is long.
fn is_too_long(rows: &[CellRow], cell: &Cell<'_>) -> bool {
    cell.seed >= SPLITS_OF_LONG_CELLS && is_long(rows.iter().filter(|row| cell.is_like(row)))
}

/// Whether ten splits of a cell would take more than an hour of two cores, by the splits that were made.
pub(super) fn is_long<'r>(rows: impl Iterator<Item = &'r CellRow>) -> bool {
    let (mut sum, mut count) = (0.0, 0);
    for row in rows {
        sum += row.seconds * row.threads as f64 / 2.0;
        count += 1;
    }
    10.0 * sum > LONGEST_CELL * f64::from(count)
}

/// What cells may still take: as long as others of their row and set, or else of their row.
fn seconds_left(rows: &[CellRow], left: &[&Cell<'_>]) -> Option<f64> {
    let mut of_cell: HashMap<(&str, &str, &str), (f64, usize)> = HashMap::new();
    let mut of_row: HashMap<&str, (f64, usize)> = HashMap::new();
    for row in rows {
        for sum in
            [of_cell.entry((&row.block, &row.method, &row.set)).or_default(), of_row.entry(&row.method).or_default()]
        {
            *sum = (sum.0 + row.seconds, sum.1 + 1);
        }
    }
    let mean = |&(sum, count): &(f64, usize)| sum / count as f64;
    let of = |cell: &&Cell<'_>| {
        let known = of_cell.get(&(cell.block.name.as_str(), cell.row.name.as_str(), cell.set));
        known.or_else(|| of_row.get(cell.row.name.as_str())).map(mean)
    };
    left.iter().map(of).sum()
}
