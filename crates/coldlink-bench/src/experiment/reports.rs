//! Writes what is shown of a results folder: summary, figures, and one page.

use std::path::Path;

use coldlink_chart::{Line, lines};

use super::compare::compare;
use super::folder::write;
use super::rows::read_log;
use super::similarity::SimilarityRow;
use super::summary::{curves, similarity_charts, table};
use super::{BenchError, Experiment, Folder};
use crate::report::{NamedChart, bars, html, markdown, readme};

/// Writes the reports of a folder anew from its raw rows.
pub fn write_reports(experiment: &Experiment, folder: &Folder, data: &Path) -> Result<(), BenchError> {
    let write = |name: &str, text: String| write(&folder.file(name), &text);
    if experiment.similarity.is_some() {
        return write_similarity(experiment, folder, &write);
    }
    let rows = folder.rows()?;
    let comparisons = compare(experiment, folder, data, &rows)?;
    let table = table(experiment, &rows, &comparisons, data, about(experiment, folder))?;
    write("summary.md", markdown(&table))?;
    write("short.md", readme(&table))?;
    for (place, block) in experiment.blocks.iter().enumerate() {
        write(&format!("bars-{}.svg", block.name), bars(&table, place))?;
    }
    let charts: Vec<_> = curves(experiment, &read_log(&folder.file("curves.csv"))?)
        .iter()
        .map(|NamedChart { name, chart }| (name.clone(), lines(chart), chart.title.clone()))
        .collect();
    for (name, picture, _) in &charts {
        write(&format!("{name}.svg"), picture.clone())?;
    }
    let charts: Vec<_> = charts.into_iter().map(|(_, picture, caption)| (picture, caption)).collect();
    write("report.html", html(&experiment.title, &[&table], &charts))
}

fn write_similarity(
    experiment: &Experiment,
    folder: &Folder,
    write: &dyn Fn(&str, String) -> Result<(), BenchError>,
) -> Result<(), BenchError> {
    let rows: Vec<SimilarityRow> = read_log(&folder.file("similarity.csv"))?;
    let charts = similarity_charts(experiment, &rows);
    let mut text =
        format!("# {}\n\n{}\n\n{}\n", experiment.title, experiment.about, about(experiment, folder).join("\n\n"));
    let mut pictures = Vec::new();
    for NamedChart { name, chart } in &charts {
        let picture = lines(chart);
        write(&format!("{name}.svg"), picture.clone())?;
        pictures.push((picture, chart.title.clone()));
        text += &format!("\n## {0}\n\n![{0}]({name}.svg)\n\n| distance |", chart.title);
        text += &chart.lines.iter().map(|line| format!(" {} |", line.label)).collect::<String>();
        text += &format!("\n|---|{}\n", "---|".repeat(chart.lines.len()));
        let hops = chart.lines.iter().map(|line| line.points.len()).max().unwrap_or(0);
        for hop in 0..hops {
            let value = |line: &Line| line.points.get(hop).map_or("–".to_owned(), |point| format!("{:.3}", point.1));
            let values: Vec<String> = chart.lines.iter().map(value).collect();
            text += &format!("| {} | {} |\n", hop + 1, values.join(" | "));
        }
    }
    write("summary.md", text)?;
    write("report.html", html(&experiment.title, &[], &pictures))
}

/// The command, and how settings were chosen.
fn about(experiment: &Experiment, folder: &Folder) -> Vec<String> {
    let rows = if experiment.similarity.is_some() { "similarity.csv" } else { "rows.csv" };
    let settings = if experiment.rows.iter().any(|row| row.space.is_some()) {
        "Settings were searched by grids (`experiments/spaces`) on validation pairs of the first split and used on all \
         splits. No test pair took part, but validation nodes of one split are test nodes of another."
    } else {
        "All settings are those of the experiment's file; none was searched for."
    };
    vec![
        format!("Made by `coldlink-bench run experiments/{}.toml`; raw rows are in `{rows}`.", experiment.name),
        settings.to_owned(),
        format!(
            "Machine: {}. Seconds are wall time of fitting, with as many threads as the rows state, beside other work.",
            folder.machine()
        ),
    ]
}
