//! Opens damaged files of every format: `cargo run --release --example damaged [COUNT] [SEED]`.
//!
//! Each is a sound file with bytes changed, cut off, repeated or put in. It must be refused by an error with a text, or, where its
//! format has no checksum, be read; a panic is a fault, and so is a file with a checksum that opens. `cargo xtask attack` runs it.

use std::collections::BTreeMap;
use std::fs;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use coldlink::Config;
use coldlink::dataset::Dataset;
use coldlink::index::LinkIndex;
use coldlink::load::{LoadOptions, load, load_new, load_new_npz, open_packed};
use coldlink::model::Model;
use coldlink::pipeline::{Settings, Training};
use coldlink::train::{Checkpoints, Silent};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const EDGES: &str = "source,target,weight\np1,é,1\né,p1,0.5\np3,\"p1\",\np3,p3,0\n";
const NODES: &str = "id,year,words,kind,title,made,look,fresh\n\
    p1,1999,graph|link,a,the art of graphs and links,2024-05-01,\"[0.5, 1]\",yes\n\
    é,,\"node, \"\"new\"\"\",b,on the art of nodes,2023-12-31T23:59:59Z,\"[2, -1e3]\",no\n\
    p3,-1e3,link,,graphs again and again,,\"[0, 0]\",\n";
const EDGE_LINES: &str =
    "{\"source\": \"a\", \"target\": \"b\"}\n{\"source\": \"c\", \"target\": \"a\", \"weight\": 1}\n";
const NODE_LINES: &str = "{\"id\": \"a\", \"year\": 1999, \"words\": [\"x\", \"y\"]}\n\
    {\"id\": \"b\", \"year\": null, \"words\": \"x|z\"}\n{\"words\": [], \"id\": \"c\", \"year\": 2.5e3}\n";

type Failure = Box<dyn std::error::Error>;
/// Opens a damaged file, given its bytes.
type Open = Box<dyn Fn(&[u8]) -> Result<(), Failure>>;

/// A sound file, and how it is opened when something else stands in its place.
struct Format {
    name: &'static str,
    sound: Vec<u8>,
    /// Whether no change may go unnoticed.
    has_checksum: bool,
    open: Open,
}

/// What came of the damaged files of one format.
#[derive(Default)]
struct Outcomes {
    refused: u64,
    read: u64,
    unnoticed: u64,
    panicked: u64,
    without_text: u64,
    slowest: Duration,
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let count: u64 = arguments.next().map_or(Ok(10_000), |count| count.parse())?;
    let seed: u64 = arguments.next().map_or(Ok(1), |seed| seed.parse())?;
    let folder = tempfile::tempdir()?;
    let formats = formats(folder.path())?;
    for format in &formats {
        (format.open)(&format.sound).map_err(|error| format!("the sound {} is refused: {error}", format.name))?;
    }
    set_hook(Box::new(|_| {}));
    let mut all: BTreeMap<&str, Outcomes> = BTreeMap::new();
    for number in 0..count {
        let format = &formats[(number % formats.len() as u64) as usize];
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed << 32 | number);
        let damaged = damaged(&format.sound, &mut random);
        let outcomes = all.entry(format.name).or_default();
        if damaged != format.sound {
            try_it(format, &damaged, number, outcomes);
        }
    }
    let faults: u64 = all.values().map(|found| found.panicked + found.unnoticed + found.without_text).sum();
    println!("files {count}\nfaults {faults}");
    for (name, Outcomes { refused, read, unnoticed, panicked, without_text, slowest }) in &all {
        let slowest = slowest.as_millis();
        println!(
            "{name}: refused {refused}, read {read}, unnoticed {unnoticed}, panicked {panicked}, \
             without a text {without_text}, slowest {slowest} ms"
        );
    }
    Ok(())
}

fn try_it(format: &Format, bytes: &[u8], number: u64, outcomes: &mut Outcomes) {
    let started = Instant::now();
    let opened = catch_unwind(AssertUnwindSafe(|| (format.open)(bytes)));
    outcomes.slowest = outcomes.slowest.max(started.elapsed());
    match opened {
        Err(_) => outcomes.panicked += 1,
        Ok(Err(error)) if error.to_string().trim().is_empty() => outcomes.without_text += 1,
        Ok(Err(_)) => outcomes.refused += 1,
        Ok(Ok(())) if format.has_checksum => outcomes.unnoticed += 1,
        Ok(Ok(())) => outcomes.read += 1,
    }
    if outcomes.panicked + outcomes.unnoticed + outcomes.without_text > 0 {
        eprintln!("{}: see file {number}", format.name);
    }
}

/// A file with a few things wrong.
fn damaged(sound: &[u8], random: &mut impl Rng) -> Vec<u8> {
    let mut bytes = sound.to_vec();
    for _ in 0..random.random_range(1..4) {
        if bytes.is_empty() {
            break;
        }
        let place = random.random_range(0..bytes.len());
        match random.random_range(0..6) {
            0 | 1 => bytes[place] ^= 1 << random.random_range(0..8),
            2 => bytes[place] = random.random(),
            3 => bytes.truncate(place),
            4 => {
                let end = bytes.len().min(place + random.random_range(1..64));
                let part = bytes[place..end].to_vec();
                bytes.splice(place..place, part);
            }
            _ => {
                let mut part = vec![0; random.random_range(1..32)];
                random.fill(&mut part[..]);
                bytes.splice(place..place, part);
            }
        }
    }
    bytes
}

fn formats(folder: &Path) -> Result<Vec<Format>, Failure> {
    let stored = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name);
    let read = |name: &str| fs::read(stored(name));
    let at = |name: &str| folder.join(name);
    let format = |name, sound: Vec<u8>, has_checksum, open: Open| Format { name, sound, has_checksum, open };
    let (graph, model) = (at("damaged.coldlink"), at("damaged.model"));
    let index_model = at("indexed.model");
    fs::copy(stored("v1/papers.model"), &index_model)?;
    Ok(vec![
        format(
            "packed graph",
            read("v1/papers.coldlink")?,
            true,
            Box::new(move |bytes| {
                fresh(&graph, bytes)?;
                walk(&load(&graph, &LoadOptions::default())?);
                Ok(())
            }),
        ),
        format(
            "model",
            read("v1/papers.model")?,
            true,
            Box::new(move |bytes| {
                fresh(&model, bytes)?;
                black_box(Model::open(&model)?.find("n1"));
                Ok(())
            }),
        ),
        format(
            "index",
            read("v1/papers.model.index")?,
            true,
            Box::new(move |bytes| {
                let path = LinkIndex::path_of(&index_model);
                fresh(&path, bytes)?;
                Model::open_indexed(&index_model)?.1.map_or(Ok(()), |problem| Err(problem.into()))
            }),
        ),
        format("checkpoint", read("v1/training.checkpoint")?, true, checkpoint(&stored("v1"), at("checkpoints"))?),
        format("csv", [EDGES, NODES].join("\0").into_bytes(), false, tables(at("csv"), "csv")?),
        format("jsonl", [EDGE_LINES, NODE_LINES].join("\0").into_bytes(), false, tables(at("jsonl"), "jsonl")?),
        format("parquet", read("nodes.parquet")?, false, parquet(at("parquet"), &stored("nodes.parquet"))?),
        format("npz", read("stored.npz")?, false, npz(at("damaged.npz"))),
    ])
}

/// Training that goes on from a checkpoint, which is refused or gives the model that it must.
fn checkpoint(stored: &Path, folder: PathBuf) -> Result<Open, Failure> {
    fs::create_dir_all(&folder)?;
    let dataset = open_packed(&stored.join("papers.coldlink"))?;
    // A setting that is newer than the stored ones has the value that stands for what was done before.
    let config: Config = toml::from_str(&fs::read_to_string(stored.join("settings.toml"))?)?;
    let settings = Settings::given(config);
    Ok(Box::new(move |bytes| {
        let checkpoints = Checkpoints::open(&folder, 1, true)?;
        fresh(&checkpoints.path(), bytes)?;
        let training = Training { checkpoints: Some(&checkpoints), ..Training::new(&dataset, &settings, 1) };
        training.run(&mut Silent)?;
        Ok(())
    }))
}

/// Both tables in one text, with a zero byte between them.
fn tables(folder: PathBuf, ending: &'static str) -> Result<Open, Failure> {
    fs::create_dir_all(&folder)?;
    Ok(Box::new(move |bytes| {
        let middle = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        let (edges, nodes) = (&bytes[..middle], bytes.get(middle + 1..).unwrap_or_default());
        fresh(&folder.join(format!("edges.{ending}")), edges)?;
        fresh(&folder.join(format!("nodes.{ending}")), nodes)?;
        walk(&load(&folder, &LoadOptions::default())?);
        Ok(())
    }))
}

/// As new nodes of the graph whose node table it is.
fn parquet(folder: PathBuf, sound: &Path) -> Result<Open, Failure> {
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("edges.csv"), "source,target\na,b\nb,c\n")?;
    fs::copy(sound, folder.join("nodes.parquet"))?;
    let schema = load(&folder, &LoadOptions::default())?.schema.ok_or("tables have a schema")?;
    let path = folder.join("damaged.parquet");
    Ok(Box::new(move |bytes| {
        fresh(&path, bytes)?;
        black_box(load_new(&path, &schema, false)?.notes());
        Ok(())
    }))
}

fn npz(path: PathBuf) -> Open {
    Box::new(move |bytes| {
        fresh(&path, bytes)?;
        let new = load_new_npz(&path, 4).map(|new| new.names.len());
        walk(&load(&path, &LoadOptions::default())?);
        let _ = black_box(new);
        Ok(())
    })
}

/// Writes a file where none is: overwriting would wait for the disk each time.
fn fresh(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let _ = fs::remove_file(path);
    Ok(fs::write(path, bytes)?)
}

/// Uses all that was loaded.
fn walk(dataset: &Dataset) {
    assert_eq!(dataset.graph.iter_links().count(), dataset.graph.links());
    assert_eq!(dataset.names.len(), dataset.graph.nodes());
    assert_eq!(dataset.attributes.rows(), dataset.graph.nodes());
    for node in 0..dataset.names.len() as u32 {
        let values = dataset.attributes.row(node).1.iter().chain(dataset.attributes.dense_row(node));
        assert!(!dataset.names.get(node).is_empty() && values.into_iter().all(|value| value.is_finite()));
    }
}
