//! Steps of training per second, as one line of JSON: our side of `benches/against_pytorch.py`.
//!
//!     cargo run --release -p coldlink --example train_speed -- cora.npz --encoder linear --batch 270 --steps 2000

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use coldlink::Config;
use coldlink::dataset::Dataset;
use coldlink::load::{LoadOptions, load};
use coldlink::network::{Features, SparseRows};
use coldlink::split::TrainView;
use coldlink::train::{Learner, Trainer};

struct Options {
    graph: PathBuf,
    encoder: String,
    batch: Option<usize>,
    width: usize,
    steps: u64,
    threads: usize,
    form: String,
    settings: Vec<String>,
}

fn options() -> Result<Options, String> {
    let mut words = std::env::args().skip(1);
    let graph = words.next().ok_or("usage: train_speed GRAPH [--encoder linear|mlp] [--batch K] …")?.into();
    let mut options = Options {
        graph,
        encoder: "linear".into(),
        batch: None,
        width: 64,
        steps: 1000,
        threads: 2,
        form: "auto".into(),
        settings: Vec::new(),
    };
    while let Some(word) = words.next() {
        if word == "--json" {
            continue;
        }
        let value = words.next().ok_or(format!("{word} wants a value"))?;
        let number = || value.parse::<u64>().map_err(|error| format!("{word} {value}: {error}"));
        match word.as_str() {
            "--encoder" => options.encoder = value.clone(),
            "--batch" => options.batch = Some(number()? as usize),
            "--width" => options.width = number()? as usize,
            "--steps" => options.steps = number()?,
            "--threads" => options.threads = number()? as usize,
            "--form" => options.form = value.clone(),
            "--set" => options.settings.push(value.clone()),
            _ => return Err(format!("unknown option {word}")),
        }
    }
    Ok(options)
}

/// What both sides of the comparison train: loose alignment, cosine, weights by distance.
fn config(options: &Options, nodes: usize) -> Result<Config, String> {
    let batch = options.batch.unwrap_or(nodes / 10);
    let mut settings = vec![
        "loss=pairs".to_owned(),
        format!("width={}", options.width),
        format!("batch={batch}"),
        "alignment=loose".to_owned(),
        "beta=1.0".to_owned(),
        "gamma1=2.0".to_owned(),
        "gamma2=2.0".to_owned(),
        "theta=[0.1, 0.85, 0.05]".to_owned(),
        "attribute_dropout=0.0".to_owned(),
        "schedule=constant".to_owned(),
        "steps=1000000".to_owned(),
    ];
    match options.encoder.as_str() {
        "linear" => settings.push("hidden=[]".to_owned()),
        "mlp" => settings.extend(["hidden=[64]".to_owned(), "bias=true".to_owned()]),
        other => return Err(format!("unknown encoder {other}")),
    }
    settings.extend(options.settings.iter().cloned());
    Config::default().set_all(settings).map_err(|error| error.to_string())
}

fn measure(options: &Options, dataset: &Dataset) -> Result<String, String> {
    let config = config(options, dataset.graph.nodes())?;
    let features = match options.form.as_str() {
        "sparse" => Features::Sparse(SparseRows::new(&dataset.attributes, config.scaling)),
        _ => Features::new(&dataset.attributes, config.scaling),
    };
    let visible = vec![true; dataset.graph.nodes()];
    let view = TrainView::whole(&dataset.graph, &dataset.attributes, &visible);
    let mut trainer = Trainer::new(view, &features, &config, 1).map_err(|error| error.to_string())?;
    let warm_up = (options.steps / 10).max(10);
    trainer.advance(1);
    let first_loss = trainer.loss();
    trainer.advance(warm_up);
    let started = Instant::now();
    trainer.advance(warm_up + options.steps);
    let seconds = started.elapsed().as_secs_f64();
    Ok(serde_json::json!({
        "dataset": dataset.name,
        "encoder": options.encoder,
        "batch": trainer.pairs(),
        "width": config.width,
        "steps": options.steps,
        "threads": options.threads,
        "steps_per_second": options.steps as f64 / seconds,
        "milliseconds_per_step": 1e3 * seconds / options.steps as f64,
        "first_loss": first_loss,
        "last_loss": trainer.loss(),
    })
    .to_string())
}

fn main() -> ExitCode {
    let result = options().and_then(|options| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build();
        let pool = pool.map_err(|error| error.to_string())?;
        let dataset = load(&options.graph, &LoadOptions::default()).map_err(|error| error.to_string())?;
        pool.install(|| measure(&options, &dataset))
    });
    match result {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}
