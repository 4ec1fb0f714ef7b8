//! Searches settings for a row on the validation pairs of the first split: a grid, every point of it.

use std::fs;
use std::path::Path;

use coldlink::split::Split;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::fit::{FitError, Look, search};
use super::rows::Log;
use super::settings::{configuration_hash, one_line};
use super::{BenchError, Block, Experiment, Found, Row, Wanted, find_set};
use crate::method::MethodError;

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
    /// A trial of so many is begun.
    Begun(&'a Block, &'a Row, &'a str, usize, usize),
    /// Something in the trial under way.
    Look(Look),
    /// A trial is over.
    Ended(&'a TrialRow),
}

/// All points of a grid. A key is a setting, or several joined by `+` that share a value.
pub fn grid(path: &Path) -> Result<Vec<Table>, BenchError> {
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

/// Nested tables as dotted keys.
fn flat(table: &Table, prefix: &str) -> Vec<(String, Value)> {
    let entry = |(key, value): (&String, &Value)| match value {
        Value::Table(inner) => flat(inner, &format!("{prefix}{key}.")),
        value => vec![(format!("{prefix}{key}"), value.clone())],
    };
    table.iter().flat_map(entry).collect()
}

/// Tries every point of each row's space on each set, and keeps the winners. Trials that were made before are not made again.
pub fn tune(
    experiment: &Experiment,
    data: &Path,
    wanted: &Wanted,
    observe: &mut dyn FnMut(TuneEvent<'_>),
) -> Result<(), BenchError> {
    wanted.check(experiment)?;
    check_spaces(experiment)?;
    let folder = experiment.folder.join("tuned").join(&experiment.name);
    fs::create_dir_all(&folder).map_err(|source| BenchError::io("write", &folder, source))?;
    let (mut log, mut known) = Log::open::<TrialRow>(&folder.join("trials.csv"))?;
    for set in &experiment.sets {
        let found = find_set(data, set)?;
        if matches!(found, Found::Missing) || !wanted.sets.is_empty() && !wanted.sets.contains(set) {
            continue;
        }
        let dataset = found.open(data, set)?;
        for block in &experiment.blocks {
            let mut split = None;
            for row in experiment.rows.iter().filter(|row| wanted.cell(block, row, set)) {
                let Some(space) = &row.space else { continue };
                if experiment.reason(&row.name, set).is_some() {
                    continue;
                }
                let points = grid(&experiment.space_path(space))?;
                let mut trials: Vec<(Table, TrialRow)> = Vec::new();
                for (place, point) in points.iter().enumerate() {
                    let settings: Table = point.clone().into_iter().chain(row.settings.clone()).collect();
                    let hash = configuration_hash(row.method.name, &settings);
                    let is_this = |trial: &&TrialRow| {
                        (&trial.block, &trial.method, &trial.set, &trial.configuration)
                            == (&block.name, &row.name, set, &hash)
                    };
                    if let Some(trial) = known.iter().find(is_this) {
                        trials.push((point.clone(), trial.clone()));
                        continue;
                    }
                    observe(TuneEvent::Begun(block, row, set, place + 1, points.len()));
                    let split: &Split = match &mut split {
                        Some(split) => split,
                        none => none.insert(Split::make(&dataset, &block.protocol, Some(block.validation), SPLIT)?),
                    };
                    let method = row.method.with(&settings)?;
                    let started = std::time::Instant::now();
                    let view = split.search(&dataset.attributes);
                    let searched =
                        search(&*method, view, split.validation(), SPLIT, &mut |look| observe(TuneEvent::Look(look)));
                    let best = match searched {
                        Ok(searched) => searched.best(),
                        // Settings that cannot be trained with lose.
                        Err(FitError::Diverged { .. }) => None,
                        Err(FitError::Method(error)) => return Err(error.into()),
                    };
                    let trial = TrialRow {
                        block: block.name.clone(),
                        method: row.name.clone(),
                        set: set.clone(),
                        settings: one_line(point),
                        auc: best.map_or(0.0, |best| best.auc),
                        ap: best.map_or(0.0, |best| best.ap),
                        steps: best.map_or(0, |best| best.step),
                        seconds: started.elapsed().as_secs_f64(),
                        configuration: hash,
                    };
                    log.append(std::slice::from_ref(&trial))?;
                    observe(TuneEvent::Ended(&trial));
                    known.push(trial.clone());
                    trials.push((point.clone(), trial));
                }
                keep_winner(experiment, block, row, set, &trials)?;
            }
        }
    }
    Ok(())
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
        if let Some(point) = points.first() {
            let named = |error: MethodError| BenchError::File {
                path: path.clone(),
                message: error.to_string(),
                hint: error.hint().unwrap_or_default(),
            };
            row.method.with(point).map_err(named)?;
        }
        sizes.push((space.clone(), points.len()));
    }
    let different = sizes.iter().find(|(_, size)| Some(size) != sizes.first().map(|(_, first)| first));
    match (different, sizes.first()) {
        (Some((space, size)), Some((first, count))) => Err(BenchError::File {
            path: experiment.space_path(space),
            message: format!("has {size} points, but `{first}` has {count}"),
            hint: "every method gets the same number of trials".to_owned(),
        }),
        _ => Ok(()),
    }
}

/// The first of the best trials by AUC + AP.
fn keep_winner(
    experiment: &Experiment,
    block: &Block,
    row: &Row,
    set: &str,
    trials: &[(Table, TrialRow)],
) -> Result<(), BenchError> {
    let quality = |trial: &TrialRow| trial.auc + trial.ap;
    let better = |best: &'_ (Table, TrialRow), next: &'_ (Table, TrialRow)| quality(&next.1) > quality(&best.1);
    let Some(best) = trials.iter().reduce(|best, next| if better(best, next) { next } else { best }) else {
        return Ok(());
    };
    let (point, trial) = best;
    let path = experiment.tuned_path(block, row, set);
    let text = format!(
        "# The best of {} trials on validation pairs of split {SPLIT}: AUC {:.4}, AP {:.4} after {} steps.\n{point}",
        trials.len(),
        trial.auc,
        trial.ap,
        trial.steps
    );
    let beside = path.with_extension("partial");
    fs::write(&beside, text)
        .and_then(|()| fs::rename(&beside, &path))
        .map_err(|source| BenchError::io("write", &path, source))
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
