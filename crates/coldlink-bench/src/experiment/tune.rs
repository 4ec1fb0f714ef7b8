//! Searches settings for a row on the validation pairs of the first split: a grid, every point of it.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use coldlink::split::Split;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::fit::{FitError, Look, Task};
use super::folder::{held, write};
use super::parallel::{Workers, lock};
use super::rows::Log;
use super::settings::{Ready, one_line};
use super::{BenchError, Block, Experiment, Found, Row, Wanted, find_set};
use crate::method::{MethodError, flat};

/// The split whose validation pairs settings are chosen on.
const SPLIT: u64 = 0;

/// A trial, as it is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TrialRow {
    /// Which block.
    pub block: String,
    /// Which row.
    pub method: String,
    /// Which set.
    pub set: String,
    /// What was tried, in TOML on one line.
    pub settings: String,
    /// On validation pairs.
    pub auc: f64,
    /// On validation pairs.
    pub ap: f64,
    /// The best number of steps.
    pub steps: u64,
    /// Wall time.
    pub seconds: f64,
    /// Of method and settings.
    pub configuration: String,
}

/// What goes on in a search.
pub enum TuneEvent<'a> {
    /// A trial is begun; so many are finished, and so many left with this one.
    Begun {
        /// Which.
        trial: &'a Trial<'a>,
        /// Finished now or before.
        done: usize,
        /// Still to make, this one included.
        left: usize,
    },
    /// Something in a trial under way.
    Look(&'a Trial<'a>, Look),
    /// A trial is over.
    Ended(&'a TrialRow),
}

/// All points of a grid. A key is a setting, or several joined by `+` that share a value.
fn grid(path: &Path) -> Result<Vec<Table>, BenchError> {
    let refuse = |message: &str| BenchError::File {
        path: path.to_owned(),
        message: message.to_owned(),
        hint: "a space has a list of values for each setting, as in `width = [32, 64]`".to_owned(),
    };
    let text = fs::read_to_string(path).map_err(|source| BenchError::io("read", path, source))?;
    let axes: Table = text.parse().map_err(|error: toml::de::Error| refuse(&error.to_string()))?;
    if axes.is_empty() {
        return Err(refuse("the space names no setting"));
    }
    let mut points = vec![Table::new()];
    for (key, values) in flat(&axes, "") {
        let values = values.as_array().filter(|values| !values.is_empty()).cloned();
        let values = values.ok_or_else(|| refuse(&format!("`{key}` has no list of values")))?;
        let with = |point: &Table| {
            let put = |value: &Value| {
                let mut point = point.clone();
                point.extend(key.split('+').map(|part| (part.trim().to_owned(), value.clone())));
                point
            };
            values.iter().map(put).collect::<Vec<_>>()
        };
        points = points.iter().flat_map(with).collect();
    }
    Ok(points)
}

/// A point of a row's space on one set.
pub struct Trial<'e> {
    /// In which block.
    pub block: &'e Block,
    /// Of which row.
    pub row: &'e Row,
    /// On which set.
    pub set: &'e str,
    point: Table,
    ready: Ready,
}

impl Trial<'_> {
    fn is(&self, row: &TrialRow) -> bool {
        let own = (self.block.name.as_str(), self.row.name.as_str(), self.set, self.ready.configuration.as_str());
        own == (row.block.as_str(), row.method.as_str(), row.set.as_str(), row.configuration.as_str())
    }

    fn is_beside(&self, other: &Trial<'_>) -> bool {
        (&self.block.name, &self.row.name, self.set) == (&other.block.name, &other.row.name, other.set)
    }
}

/// What all workers share.
struct Shared {
    log: Log,
    known: Vec<TrialRow>,
    opened: Opened,
}

/// Tries every point of each row's space on each set, and keeps the winner of each grid that is complete. Trials that were made
/// before are not made again.
pub fn tune(
    experiment: &Experiment,
    data: &Path,
    wanted: &Wanted,
    workers: Workers,
    observe: &mut (dyn FnMut(TuneEvent<'_>) + Send),
) -> Result<(), BenchError> {
    wanted.check(experiment, data)?;
    check_spaces(experiment)?;
    let folder = experiment.folder.join("tuned").join(&experiment.tuned);
    fs::create_dir_all(&folder).map_err(|source| BenchError::io("write", &folder, source))?;
    let _lock = held(&folder)?;
    let (log, known) = Log::open::<TrialRow>(&folder.join("trials.csv"))?;
    let trials = trials(experiment, data, wanted)?;
    for trial in &trials {
        keep_winner(experiment, trial, &trials, &known)?;
    }
    let open: Vec<&Trial<'_>> = trials.iter().filter(|trial| !known.iter().any(|row| trial.is(row))).collect();
    let before = trials.len() - open.len();
    let shared = Mutex::new(Shared { log, known, opened: None });
    let observe = Mutex::new(observe);
    workers.each(open.len(), |place| {
        let trial = open[place];
        let split = {
            let mut shared = lock(&shared);
            let done = shared.known.len().min(before + place);
            lock(&observe)(TuneEvent::Begun { trial, done, left: trials.len() - done });
            opened(&mut shared.opened, trial, data)?
        };
        let row = try_out(trial, &split, &mut |look| lock(&observe)(TuneEvent::Look(trial, look)))?;
        let mut shared = lock(&shared);
        shared.log.append(std::slice::from_ref(&row))?;
        lock(&observe)(TuneEvent::Ended(&row));
        shared.known.push(row);
        keep_winner(experiment, trial, &trials, &shared.known)
    })
}

/// All trials that can be made here.
fn trials<'e>(experiment: &'e Experiment, data: &Path, wanted: &Wanted) -> Result<Vec<Trial<'e>>, BenchError> {
    let mut trials = Vec::new();
    for set in &experiment.sets {
        if matches!(find_set(data, set)?, Found::Missing) {
            continue;
        }
        for block in &experiment.blocks {
            let is_open = |row: &&Row| wanted.cell(block, row, set) && experiment.reason(&row.name, set).is_none();
            for row in experiment.rows.iter().filter(is_open) {
                let Some(space) = &row.space else { continue };
                for point in grid(&experiment.space_path(space))? {
                    let settings: Table = point.clone().into_iter().chain(row.settings.clone()).collect();
                    trials.push(Trial { block, row, set, point, ready: Ready::new(row, settings, true)? });
                }
            }
        }
    }
    Ok(trials)
}

/// A split, and of which data set and block it is.
type Opened = Option<(String, String, Arc<Split>)>;

/// The trial's split; trials that follow one another mostly share it.
fn opened(last: &mut Opened, trial: &Trial<'_>, data: &Path) -> Result<Arc<Split>, BenchError> {
    let split = match &*last {
        Some((set, block, split)) if set == trial.set && *block == trial.block.name => split.clone(),
        _ => {
            let dataset = find_set(data, trial.set)?.open(data, trial.set)?;
            let Block { protocol, validation, .. } = trial.block;
            Arc::new(Split::make(&dataset, protocol, Some(*validation), SPLIT)?)
        }
    };
    *last = Some((trial.set.to_owned(), trial.block.name.clone(), split.clone()));
    Ok(split)
}

fn try_out(trial: &Trial<'_>, split: &Split, observe: &mut dyn FnMut(Look)) -> Result<TrialRow, BenchError> {
    let started = Instant::now();
    let task = Task { method: &*trial.ready.method, split, seed: SPLIT };
    let best = match task.search(observe) {
        Ok(searched) => searched.best,
        // Settings that cannot be trained with lose.
        Err(FitError::Diverged { .. }) => None,
        Err(FitError::Method(error)) => return Err(error.into()),
    };
    Ok(TrialRow {
        block: trial.block.name.clone(),
        method: trial.row.name.clone(),
        set: trial.set.to_owned(),
        settings: one_line(&trial.point),
        auc: best.map_or(0.0, |best| best.auc),
        ap: best.map_or(0.0, |best| best.ap),
        steps: best.map_or(0, |best| best.step),
        seconds: started.elapsed().as_secs_f64(),
        configuration: trial.ready.configuration.clone(),
    })
}

impl Experiment {
    fn space_path(&self, space: &str) -> std::path::PathBuf {
        self.folder.join("spaces").join(format!("{space}.toml"))
    }
}

/// Every space must exist, name settings of its method only, and have as many points as the others.
fn check_spaces(experiment: &Experiment) -> Result<(), BenchError> {
    let mut sizes: Vec<(String, usize)> = Vec::new();
    for row in &experiment.rows {
        let Some(space) = &row.space else { continue };
        let path = experiment.space_path(space);
        let points = grid(&path)?;
        for point in &points {
            let named = |error: MethodError| BenchError::File {
                path: path.clone(),
                message: error.to_string(),
                hint: error.hint().unwrap_or_default(),
            };
            row.method.with(&point.clone().into_iter().chain(row.settings.clone()).collect()).map_err(named)?;
        }
        sizes.push((space.clone(), points.len()));
    }
    let different = sizes.iter().find(|(_, size)| Some(size) != sizes.first().map(|(_, first)| first));
    match (different.filter(|_| experiment.equal_trials), sizes.first()) {
        (Some((space, size)), Some((first, count))) => Err(BenchError::File {
            path: experiment.space_path(space),
            message: format!("has {size} points, but `{first}` has {count}"),
            hint: "every row gets the same number of trials, unless the experiment says `equal_trials = false`"
                .to_owned(),
        }),
        _ => Ok(()),
    }
}

/// Keeps the first of the best trials by AUC + AP, once all trials of a row on a set are made and one of them could be trained.
fn keep_winner(
    experiment: &Experiment,
    of: &Trial<'_>,
    trials: &[Trial<'_>],
    known: &[TrialRow],
) -> Result<(), BenchError> {
    let beside = || trials.iter().filter(|trial| trial.is_beside(of));
    let made: Vec<(&Trial<'_>, &TrialRow)> =
        beside().filter_map(|trial| Some((trial, known.iter().find(|row| trial.is(row))?))).collect();
    let quality = |row: &TrialRow| row.auc + row.ap;
    let best = made.iter().copied().reduce(|best, next| if quality(next.1) > quality(best.1) { next } else { best });
    let Some((trial, row)) = best.filter(|best| made.len() == beside().count() && best.1.auc > 0.0) else {
        return Ok(());
    };
    let text = format!(
        "# The best of {} trials on validation pairs of split {SPLIT}: AUC {:.4}, AP {:.4} after {} steps.\n{}",
        made.len(),
        row.auc,
        row.ap,
        row.steps,
        trial.point
    );
    write(&experiment.tuned_path(of.block, of.row, of.set), &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(text: &str) -> Result<Vec<String>, BenchError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("space.toml");
        fs::write(&path, text).unwrap();
        Ok(grid(&path)?.iter().map(one_line).collect())
    }

    #[test]
    fn a_grid_has_every_combination_and_joined_settings_share_a_value() {
        let points = points("\"a+b\" = [1, 2]\n[training]\nlearning_rate = [0.1, 0.2]").unwrap();
        assert_eq!(points.len(), 4);
        assert!(points.contains(&"a = 2; b = 2; training.learning_rate = 0.1".to_owned()), "{points:?}");
    }

    #[test]
    fn a_space_without_settings_or_values_is_refused() {
        for text in ["", "width = 64", "width = []", "width"] {
            let error = points(text).unwrap_err();
            assert!(error.hint().unwrap().contains("list of values"), "{error}");
        }
    }
}
