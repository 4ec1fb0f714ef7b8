//! `cargo xtask few`: lists of new nodes that have a few links already, by how many, into `results/`.

use std::fs;
use std::path::Path;

use anyhow::Result;
use coldlink_chart::{Line, LineChart, lines};
use serde_json::Value;

use crate::quality::{append, machine, newest, read, today};
use crate::real_data::{data, report};
use crate::steps::{Steps, cargo, root};

/// A graph, and for how many seeds it is split.
struct Graph {
    name: &'static str,
    path: &'static str,
    seeds: u64,
}

const GRAPHS: [Graph; 4] = [
    Graph { name: "Cora", path: "cora.npz", seeds: 8 },
    Graph { name: "CiteSeer", path: "citeseer.npz", seeds: 8 },
    Graph { name: "CS", path: "cs.npz", seeds: 3 },
    Graph { name: "Debian", path: "debian", seeds: 1 },
];

/// Evaluates what has no report yet, then writes the summary and the picture; or these alone.
pub fn run(arguments: &[String]) -> Result<()> {
    let only = arguments.first();
    if only.is_some_and(|only| only == "summary") {
        return write_summary(&newest("-few")?);
    }
    let data = data()?;
    let folder = root().join("results").join(format!("{}-few", today()?));
    fs::create_dir_all(&folder)?;
    let mut steps = Steps::default();
    steps.run("build", cargo(["build", "--release", "--package", "coldlink-cli"]))?;
    for graph in GRAPHS.iter().filter(|graph| only.is_none_or(|only| *only == graph.name)) {
        let path = folder.join(format!("{}.jsonl", graph.name));
        for seed in 0..graph.seeds {
            if read(&path)?.iter().all(|report| report["seeds"][0]["seed"] != seed) {
                steps.check(&format!("{}, seed {seed}", graph.name), || append(&path, &graph.report(&data, seed)?))?;
            }
        }
    }
    write_summary(&folder)?;
    steps.finish();
    Ok(())
}

impl Graph {
    fn report(&self, data: &Path, seed: u64) -> Result<Value> {
        let mut command = cargo(["run", "--quiet", "--release", "--package", "coldlink-cli", "--", "evaluate"]);
        command.arg(data.join(self.path)).args(["--protocol", "few:5", "--preset", "default"]);
        command.args(["--first-seed", &seed.to_string(), "--json"]);
        report(command)
    }
}

/// The mean over seeds of what a few links are worth, graph by graph.
fn write_summary(folder: &Path) -> Result<()> {
    let mut rows = vec![
        "| graph | links given | on average | MRR | kNN | recall@10 | kNN | first hit | kNN | seeds |".to_owned(),
        "|---|---|---|---|---|---|---|---|---|---|".to_owned(),
    ];
    let mut drawn = Vec::new();
    for Graph { name, .. } in &GRAPHS {
        let reports = read(&folder.join(format!("{name}.jsonl")))?;
        let Some(first) = reports.first() else { continue };
        let steps = first["few"].as_array().map_or(0, Vec::len);
        let mean = |step: usize, pointer: &str| {
            let values = reports.iter().map(|report| report["few"][step].pointer(pointer).and_then(Value::as_f64));
            values.map(|value| value.unwrap_or(f64::NAN)).sum::<f64>() / reports.len() as f64
        };
        for step in 0..steps {
            let numbers = ["/mrr", "/knn/mrr", "/recall@10", "/knn/recall@10", "/first_hit", "/knn/first_hit"];
            let numbers: Vec<String> = numbers.iter().map(|number| format!("{:.3}", mean(step, number))).collect();
            let (links, given) = (mean(step, "/links"), mean(step, "/given"));
            let (numbers, seeds) = (numbers.join(" | "), reports.len());
            rows.push(format!("| {name} | {links} | {given:.1} | {numbers} | {seeds} |"));
        }
        for (label, pointer) in [((*name).to_owned(), "/mrr"), (format!("{name}, kNN"), "/knn/mrr")] {
            let points = (0..steps).map(|step| (mean(step, "/links"), mean(step, pointer))).collect();
            drawn.push(Line { label, points });
        }
    }
    let picture = lines(&LineChart {
        title: "New nodes with a few links".to_owned(),
        x_label: "links that a new node has".to_owned(),
        y_label: "MRR of its other links".to_owned(),
        lines: drawn,
    });
    fs::write(folder.join("few.svg"), picture)?;
    let (machine, rows) = (machine(), rows.join("\n"));
    let text = format!(
        "# New nodes that have a few links\n\n    cargo xtask few\n\n{machine}\n- protocol few:5, preset default: a tenth of the nodes is hidden \
         and keeps up to 5 links, of fewer all but one; the same nodes are asked for the same other links with 0, 1, 2 and 5 of these\n\
         - *links given* is the most, *on average* what nodes that ask got\n- kNN: the 50 nodes vote whose words and given links are most alike\n\n\
         {rows}\n\n![MRR over the number of links](few.svg)\n"
    );
    fs::write(folder.join("summary.md"), text)?;
    Ok(())
}
