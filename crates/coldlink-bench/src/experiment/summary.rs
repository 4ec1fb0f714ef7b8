//! From raw rows to what is shown.

use std::fs;
use std::path::Path;

use coldlink_chart::{Line, LineChart};
use toml::{Table as Toml, Value};

use super::run::is_long;
use super::similarity::SimilarityRow;
use super::{BenchError, Block, CellRow, Comparison, CurvePoint, Experiment, Found, Row, find_set, set_facts};
use crate::report::{self, Cell, Mark, MethodRow, NamedChart, Ours, Paper, SetColumn, Spread};

/// The table of an experiment.
pub(super) fn table(
    experiment: &Experiment,
    rows: &[CellRow],
    comparisons: &[Comparison],
    data: &Path,
    about: Vec<String>,
) -> Result<report::Table, BenchError> {
    let paper = Reference::read(experiment)?;
    let sets = experiment.sets.iter().map(|name| {
        let facts = set_facts(name)?;
        let is_missing = matches!(find_set(data, name)?, Found::Missing) && rows.iter().all(|row| row.set != *name);
        let missing = is_missing.then(|| facts.missing.to_owned());
        Ok(SetColumn { name: name.clone(), label: facts.label.to_owned(), missing })
    });
    let sets = sets.collect::<Result<Vec<_>, BenchError>>()?;
    let block = |block: &Block| {
        let row = |row: &Row| {
            let cell = |set: &SetColumn| {
                let own = (block.name.as_str(), row.name.as_str(), set.name.as_str());
                let cells: Vec<&CellRow> = rows
                    .iter()
                    .filter(|each| (each.block.as_str(), each.method.as_str(), each.set.as_str()) == own)
                    .collect();
                let compared = comparisons
                    .iter()
                    .find(|each| (each.block.as_str(), each.method.as_str(), each.set.as_str()) == own);
                Cell {
                    paper: paper.value(&block.name, &row.name, &set.name),
                    ours: ours(experiment, &cells, row, compared),
                    empty: match experiment.reason(&row.name, &set.name) {
                        Some(reason) => Some(reason.to_owned()),
                        None => (cells.is_empty() && set.missing.is_none()).then(|| "not run yet".to_owned()),
                    },
                }
            };
            MethodRow { name: row.name.clone(), label: row.label.clone(), cells: sets.iter().map(cell).collect() }
        };
        report::Block {
            label: block.label.clone(),
            about: block.about.clone(),
            rows: experiment.rows.iter().map(row).collect(),
        }
    };
    let blocks = experiment.blocks.iter().map(block).collect();
    let about = std::iter::once(experiment.about.clone()).filter(|text| !text.is_empty()).chain(about).collect();
    Ok(report::Table { name: experiment.name.clone(), title: experiment.title.clone(), about, sets, blocks })
}

/// What the paper states, by row and set, and by block where blocks differ.
struct Reference(Toml);

impl Reference {
    fn read(experiment: &Experiment) -> Result<Self, BenchError> {
        let path = experiment.folder.join("reference").join(format!("{}.toml", experiment.name));
        match fs::read_to_string(&path) {
            Ok(text) => text.parse().map(Reference).map_err(|error: toml::de::Error| BenchError::File {
                path,
                message: error.to_string(),
                hint: "it has a table for each row, with `set = [AUC, AP]`".to_owned(),
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Reference(Toml::new())),
            Err(source) => Err(BenchError::io("read", &path, source)),
        }
    }

    fn value(&self, block: &str, row: &str, set: &str) -> Option<Paper> {
        let of_block = self.0.get(block).and_then(Value::as_table).unwrap_or(&self.0);
        let values = of_block.get(row)?.as_table()?.get(set)?.as_array()?;
        Some(Paper { auc: values.first()?.as_float()?, ap: values.get(1)?.as_float()? })
    }
}

/// What our rows say of a cell, and why there are none or fewer.
fn ours(experiment: &Experiment, cells: &[&CellRow], row: &Row, compared: Option<&Comparison>) -> Option<Ours> {
    let column = |pick: fn(&CellRow) -> Option<f64>| cells.iter().copied().filter_map(pick).collect::<Vec<_>>();
    let mean_of = |pick: fn(&CellRow) -> Option<f64>| mean(&column(pick));
    let auc = column(|cell| cell.auc);
    let astray = cells.len() - auc.len();
    let splits = match auc.len() {
        count if count as u64 >= experiment.seeds => None,
        _ if is_long(cells.iter().copied()) => Some("three splits: ten would take more than an hour".to_owned()),
        1 => Some("one split".to_owned()),
        count => Some(format!("{count} splits")),
    };
    let notes = [
        splits,
        (astray > 0).then(|| format!("training went astray on {astray} splits")),
        cells.iter().any(|cell| !cell.searched).then(|| "settings were not searched".to_owned()),
        row.note.clone(),
    ];
    let notes: Vec<String> = notes.into_iter().flatten().collect();
    Some(Ours {
        seeds: auc.len(),
        auc: spread(&auc)?,
        ap: spread(&column(|cell| cell.ap))?,
        prevalence: mean_of(|cell| cell.prevalence)?,
        mrr: spread(&column(|cell| cell.mrr)),
        steps: mean_of(|cell| Some(cell.steps as f64))?,
        parameters: mean_of(|cell| Some(cell.parameters as f64))?,
        seconds: mean_of(|cell| Some(cell.seconds))?,
        mark: if row.name == experiment.reference { Some(Mark::Reference) } else { compared.map(mark) },
        note: (!notes.is_empty()).then(|| notes.join("; ")),
    })
}

fn mark(compared: &Comparison) -> Mark {
    match compared.difference {
        _ if compared.p >= 0.05 => Mark::NoDifference,
        difference if difference > 0.0 => Mark::Better,
        _ => Mark::Worse,
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn spread(values: &[f64]) -> Option<Spread> {
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let sd = (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt());
    Some(Spread { mean, sd })
}

/// The points of one cell. Where it was run more than once, the last run counts, which begins where steps begin anew.
fn curve(points: &[CurvePoint], (block, row, set): (&str, &str, &str)) -> Vec<(f64, f64)> {
    let mut line: Vec<(f64, f64)> = Vec::new();
    for point in points.iter().filter(|point| point.block == block && point.method == row && point.set == set) {
        if line.last().is_some_and(|last| last.0 >= point.step as f64) {
            line.clear();
        }
        line.push((point.step as f64, point.auc));
    }
    // Methods differ too much in what a step is for one axis of steps.
    let last = line.last().map_or(1.0, |last| last.0);
    line.into_iter().map(|(step, auc)| (step / last, auc)).collect()
}

/// Validation over steps on the first split, a chart for each block and set.
pub(super) fn curves(experiment: &Experiment, points: &[CurvePoint]) -> Vec<NamedChart> {
    let mut charts = Vec::new();
    for block in &experiment.blocks {
        for set in &experiment.sets {
            let line =
                |row: &Row| Line { label: row.label.clone(), points: curve(points, (&block.name, &row.name, set)) };
            let lines: Vec<Line> = experiment.rows.iter().map(line).filter(|line| !line.points.is_empty()).collect();
            if let (false, Ok(facts)) = (lines.is_empty(), set_facts(set)) {
                let chart = LineChart {
                    title: format!("{}: validation while training, {}", facts.label, block.label.to_lowercase()),
                    x_label: "share of the method's own training".to_owned(),
                    y_label: "AUC on validation pairs".to_owned(),
                    lines,
                };
                charts.push(NamedChart { name: format!("curves-{}-{set}", block.name), chart });
            }
        }
    }
    charts
}

/// Mean cosines by distance, a chart for each kind of embedding.
pub(super) fn similarity_charts(experiment: &Experiment, rows: &[SimilarityRow]) -> Vec<NamedChart> {
    let Some(wanted) = &experiment.similarity else { return Vec::new() };
    let chart = |(side, of): (&str, &str)| LineChart {
        title: format!("Mean cosine by distance, {of}"),
        x_label: "distance in the training graph".to_owned(),
        y_label: "mean cosine".to_owned(),
        lines: wanted
            .gammas
            .iter()
            .map(|&gamma| {
                let at = |hop: u32| {
                    let of_hop = rows.iter().filter(|row| row.side == side && row.gamma == gamma && row.hop == hop);
                    Some((f64::from(hop), mean(&of_hop.filter_map(|row| row.cosine).collect::<Vec<_>>())?))
                };
                Line { label: format!("γ = {gamma}"), points: (1..=wanted.hops).filter_map(at).collect() }
            })
            .collect(),
    };
    [("structure", "structure embeddings (Z_s)"), ("attributes", "attribute embeddings (Z_a)")]
        .map(|(side, of)| NamedChart { name: format!("similarity-{side}"), chart: chart((side, of)) })
        .into()
}
