//! Writes what is shown of a results folder: summary, figures, and one page.

use std::fs;
use std::path::Path;

use super::{BenchError, Experiment, Folder, compare, curves, read_log, similarity_charts, table};
use crate::report::{bars, html, lines, markdown, readme};

/// Writes the reports of a folder anew from its raw rows.
pub fn write_reports(experiment: &Experiment, folder: &Folder, data: &Path) -> Result<(), BenchError> {
    let write = |name: &str, text: String| {
        let path = folder.file(name);
        let beside = path.with_extension("partial");
        fs::write(&beside, text)
            .and_then(|()| fs::rename(&beside, &path))
            .map_err(|source| BenchError::io("write", &path, source))
    };
    if experiment.similarity.is_some() {
        return write_similarity(experiment, folder, &write);
    }
    let comparisons = compare(experiment, folder, data)?;
    let rows = folder.rows()?;
    let table = table(experiment, &rows, &comparisons, data, about(experiment))?;
    write("summary.md", markdown(&table))?;
    write("short.md", readme(&table))?;
    for (place, block) in experiment.blocks.iter().enumerate() {
        write(&format!("bars-{}.svg", block.name), bars(&table, place))?;
    }
    let charts: Vec<_> = curves(experiment, &read_log(&folder.file("curves.csv"))?)
        .iter()
        .map(|chart| (chart.name.clone(), lines(chart), chart.title.clone()))
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
    let rows: Vec<super::SimilarityRow> = read_log(&folder.file("similarity.csv"))?;
    let charts = similarity_charts(experiment, &rows);
    let mut text = format!("# {}\n\n{}\n\n{}\n", experiment.title, experiment.about, about(experiment).join("\n\n"));
    let mut pictures = Vec::new();
    for chart in &charts {
        let picture = lines(chart);
        write(&format!("{}.svg", chart.name), picture.clone())?;
        pictures.push((picture, chart.title.clone()));
        text += &format!("\n## {}\n\n![{}]({}.svg)\n\n| distance |", chart.title, chart.title, chart.name);
        text += &chart.lines.iter().map(|line| format!(" {} |", line.label)).collect::<String>();
        text += &format!("\n|---|{}\n", "---|".repeat(chart.lines.len()));
        let hops = chart.lines.iter().map(|line| line.points.len()).max().unwrap_or(0);
        for hop in 0..hops {
            let value = |line: &crate::report::Line| {
                line.points.get(hop).map_or("–".to_owned(), |point| format!("{:.3}", point.1))
            };
            let values: Vec<String> = chart.lines.iter().map(value).collect();
            text += &format!("| {} | {} |\n", hop + 1, values.join(" | "));
        }
    }
    write("summary.md", text)?;
    write("report.html", html(&experiment.title, &[], &pictures))
}

/// The command, and how settings were chosen.
fn about(experiment: &Experiment) -> Vec<String> {
    vec![
        format!("Made by `coldlink-bench run experiments/{}.toml`; raw rows are in `rows.csv`, settings in `configurations.csv`.", experiment.name),
        "Settings of each method were searched by a grid of the same number of trials (`experiments/spaces`) on validation pairs of the first split and used on all splits. No test pair took part, but validation nodes of one split are test nodes of another.".to_owned(),
        machine(),
    ]
}

fn machine() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1)).unwrap_or("unknown");
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    format!(
        "Machine: {model}, {cores} cores. Seconds are wall time of fitting with the number of threads that the rows state, on a machine that may have had other work."
    )
}
