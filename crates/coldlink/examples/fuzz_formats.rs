//! Loads damaged files of every format: `cargo run --release --example fuzz_formats [SECONDS] [SEED]`.
//!
//! It stops with exit code 1 and keeps the file where the library panics, believes a length that it has not read
//! (memory grows beyond all small files), or opens a damaged packed file as if it were whole.

use std::fs;
use std::hint::black_box;
use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use coldlink::Config;
use coldlink::graph::{Attributes, Dataset, Names};
use coldlink::load::{
    Columns, End, LoadError, LoadOptions, Schema, load, load_json_lines, load_new, load_new_npz, open_packed,
    write_packed,
};
use coldlink::model::{FileError, FileProblem, Model, Wish};
use coldlink::split::{Preparation, Split};
use coldlink::train::{Fit, Silent};
use flate2::Compression;
use flate2::write::GzEncoder;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use xxhash_rust::xxh3::xxh3_64;

const EDGES: &str = "source,target,weight\np1,é,1\né,p1,0.5\np3,\"p1\",\np3,p3,0\n";
const NODES: &str = "id,year,words,kind,title,made,look,fresh\n\
    p1,1999,graph|link,a,the art of graphs and links,2024-05-01,\"[0.5, 1]\",yes\n\
    é,,\"node, \"\"new\"\"\",b,on the art of nodes,2023-12-31T23:59:59Z,\"[2, -1e3]\",no\n\
    p3,-1e3,link,,graphs again and again,,\"[0, 0]\",\n";
/// What columns may be said to be.
const COLUMNS: &str = "id = \"id\"\n[columns]\nyear = { kind = \"numeric\", scale = \"quantile\" }\n\
    words = { kind = \"multi-valued\", rare = 2, limit = 2, buckets = 4 }\ntitle = { kind = \"text\", hashed = true, buckets = 8 }\n";
const PARQUET: &[u8] = include_bytes!("../tests/files/nodes.parquet");
/// The same as JSON lines.
const EDGE_LINES: &str =
    "{\"source\": \"a\", \"target\": \"b\"}\n{\"source\": \"c\", \"target\": \"a\", \"weight\": 1}\n";
const NODE_LINES: &str = "{\"id\": \"a\", \"year\": 1999, \"words\": [\"x\", \"y\"]}\n\
    {\"id\": \"b\", \"year\": null, \"words\": \"x|z\"}\n{\"words\": [], \"id\": \"c\", \"year\": 2.5e3}\n";
const PPI_GRAPH: &str = r#"{"directed": true, "multigraph": false, "graph": {"name": "é"},
"nodes": [{"test": false, "id": 0}, {"id": 1, "x": [1, {}]}, {"id": 2}],
"links": [{"source": 0, "target": 2, "weight": 0.5}, {"source": 2, "target": 0}, {"source": 1, "target": 1}]}"#;
const STORED_ARCHIVE: &[u8] = include_bytes!("../tests/files/stored.npz");

/// More than any small file needs, and less than a length field can claim.
const MOST_MEMORY: u64 = 2 << 30;

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().map_or(Ok(60), |seconds| seconds.parse())?;
    let seed = arguments.next().map_or(Ok(0), |seed| seed.parse())?;
    let folder = tempfile::tempdir()?;
    let samples = Samples::make(folder.path())?;
    let mut damage = Damage(Xoshiro256PlusPlus::seed_from_u64(seed));
    std::panic::set_hook(Box::new(|_| {}));
    let (started, mut cases, mut loaded) = (Instant::now(), 0_u64, 0_u64);
    while started.elapsed() < Duration::from_secs(seconds) {
        let case = Case::draw(&samples, &mut damage);
        let outcome = catch_unwind(AssertUnwindSafe(|| case.run(&samples, folder.path())));
        let complaint = match outcome {
            Ok(Ok(whole)) => {
                loaded += u64::from(whole);
                memory_complaint()
            }
            Ok(Err(complaint)) => Some(complaint),
            Err(panic) => Some(format!("panic: {:?}", panic.downcast_ref::<String>())),
        };
        if let Some(complaint) = complaint {
            let kept = folder.keep();
            println!("seed {seed}, case {cases} ({}): {complaint}\nkept in {}", case.name(), kept.display());
            return Ok(ExitCode::FAILURE);
        }
        cases += 1;
    }
    println!("seed {seed}: {cases} damaged files in {seconds} s, {loaded} of them loaded all the same, no panic");
    Ok(ExitCode::SUCCESS)
}

/// A file's name within an archive, and its bytes.
type ArrayFile = (String, Vec<u8>);

/// Sound files of every format.
struct Samples {
    archive: Vec<u8>,
    arrays: Vec<ArrayFile>,
    /// `train_feats.npy` and `train_graph_id.npy`.
    ppi: [Vec<u8>; 2],
    packed: Vec<u8>,
    dataset: Dataset,
    schema: Schema,
    model: Vec<u8>,
}

impl Samples {
    fn make(folder: &Path) -> Result<Self, Box<dyn std::error::Error>> {
        fs::write(folder.join("edges.csv"), EDGES)?;
        fs::write(folder.join("nodes.csv"), NODES)?;
        let dataset = load(folder, &LoadOptions::default())?;
        let packed = folder.join("graph.coldlink");
        write_packed(&dataset, &packed)?;
        let arrays = arrays(STORED_ARCHIVE)?;
        let schema = dataset.schema.clone().ok_or("tables have a schema")?;
        let features = [1.0, 0.0, -0.5, 3.0, 9.0, 9.0].map(f32::to_le_bytes);
        let ppi = [npy("<f4", "(3, 2)", features.as_flattened()), npy("|i1", "(3,)", &[1, 2, 1])];
        let model = folder.join("sound.model");
        trained()?.save(&model)?;
        let (packed, model) = (fs::read(packed)?, fs::read(model)?);
        Ok(Samples { archive: archive(&arrays)?, arrays, ppi, packed, dataset, schema, model })
    }
}

/// A small model with everything that a model can have.
fn trained() -> Result<Model, Box<dyn std::error::Error>> {
    const NODES: u32 = 400;
    let (mut nodes, mut edges) = (String::new(), String::new());
    for node in 0..NODES {
        let (kind, other) = if node % 2 == 0 { ("user", "item") } else { ("item", "user") };
        nodes += &format!(
            "{{\"id\":\"n{node}\",\"node_type\":\"{kind}\",\"x\":{},\"words\":\"a{}|b{}\",\"title\":\"{other} of the {} kind\"}}\n",
            node % 13,
            node % 7,
            node % 5,
            node % 11
        );
        for step in [1, 7, 21, 91] {
            edges += &format!("{{\"source\":\"n{node}\",\"target\":\"n{}\"}}\n", (node + step) % NODES);
        }
    }
    let columns = toml::from_str("[columns]\nx = { kind = \"numeric\", scale = \"quantile\" }\n")?;
    let dataset = load_json_lines(nodes.into(), edges.into(), &LoadOptions { columns, ..LoadOptions::default() })?;
    let config =
        ["steps=5", "width=16", "hidden=[8]", "bias=true"].iter().try_fold(Config::default(), |c, s| c.set(s))?;
    let split = Split::for_training(&dataset.graph, &dataset.attributes, config.validation, 1)?;
    let fit = Fit { split: &split, attributes: &dataset.attributes, config: &config, seed: 1, checkpoints: None };
    Ok(Model::new(&dataset, &fit.run(&mut Silent)?, &config, "default", 1))
}

/// The files of an archive.
fn arrays(archive: &[u8]) -> Result<Vec<ArrayFile>, Box<dyn std::error::Error>> {
    let mut zip = zip::ZipArchive::new(std::io::Cursor::new(archive))?;
    let mut arrays = Vec::new();
    for index in 0..zip.len() {
        let mut file = zip.by_index(index)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let name = file.name()?.into_owned();
        arrays.push((name, bytes));
    }
    Ok(arrays)
}

/// A compressed archive whose checksums match, whatever its arrays are.
fn archive(arrays: &[ArrayFile]) -> std::io::Result<Vec<u8>> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, array) in arrays {
        zip.start_file(name.as_str(), zip::write::SimpleFileOptions::default())?;
        zip.write_all(array)?;
    }
    Ok(zip.finish()?.into_inner())
}

/// A numpy array.
fn npy(dtype: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
}

/// One damaged file, pair of tables, or folder.
enum Case {
    Archive(Vec<u8>),
    Tables {
        edges: Vec<u8>,
        nodes: Vec<u8>,
        ending: &'static str,
    },
    NewTable(Vec<u8>),
    Parquet(Vec<u8>),
    Columns(Vec<u8>),
    /// Under their names.
    Ppi([(&'static str, Vec<u8>); 3]),
    Packed(Vec<u8>),
    /// With checksums that match.
    SealedPacked(Vec<u8>),
    Model(Vec<u8>),
}

impl Case {
    fn draw(samples: &Samples, damage: &mut Damage) -> Self {
        match damage.0.random_range(0..15) {
            0 => Case::Archive(damage.of(&samples.archive)),
            1 => Case::Archive(damage.of(STORED_ARCHIVE)),
            2 | 3 => {
                let mut arrays = samples.arrays.clone();
                let damaged = damage.0.random_range(0..arrays.len());
                arrays[damaged].1 = damage.of(&arrays[damaged].1);
                Case::Archive(archive(&arrays).unwrap_or_default())
            }
            4 => {
                let edges = damage.of(EDGES.as_bytes());
                let nodes = if damage.coin() { damage.of(NODES.as_bytes()) } else { NODES.into() };
                Case::Tables { edges, nodes, ending: "csv" }
            }
            5 => Case::NewTable(damage.of(NODES.as_bytes())),
            6 if damage.coin() => Case::Packed(damage.of(&samples.packed)),
            6 => {
                let edges = damage.of(&zip(EDGES.as_bytes()));
                Case::Tables { edges, nodes: zip(&damage.of(NODES.as_bytes())), ending: "tsv.gz" }
            }
            13 => Case::Parquet(damage.of(PARQUET)),
            14 if damage.coin() => Case::Parquet(damage.in_place(PARQUET)),
            14 => Case::Columns(damage.of(COLUMNS.as_bytes())),
            11 => Case::Model(damage.of(&samples.model)),
            12 => Case::Model(damage.in_place(&samples.model)),
            9 => {
                let edges = if damage.coin() { damage.of(EDGE_LINES.as_bytes()) } else { EDGE_LINES.into() };
                Case::Tables { edges, nodes: damage.of(NODE_LINES.as_bytes()), ending: "jsonl" }
            }
            10 => {
                let pack = |text: &[u8]| zstd::encode_all(text, 1).unwrap_or_default();
                let nodes = pack(&damage.of(NODE_LINES.as_bytes()));
                Case::Tables { edges: damage.of(&pack(EDGE_LINES.as_bytes())), nodes, ending: "ndjson.zst" }
            }
            7 => {
                let [features, ids] = samples.ppi.clone();
                let graph = PPI_GRAPH.as_bytes().to_vec();
                let mut files =
                    [("train_graph.json", graph), ("train_feats.npy", features), ("train_graph_id.npy", ids)];
                let damaged = damage.0.random_range(0..files.len());
                files[damaged].1 = damage.of(&files[damaged].1);
                Case::Ppi(files)
            }
            _ if damage.coin() => Case::SealedPacked(seal(damage.of(&samples.packed))),
            _ => Case::SealedPacked(seal(damage.in_place(&samples.packed))),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Case::Archive(_) => "npz",
            Case::Tables { .. } => "tables",
            Case::NewTable(_) => "new nodes",
            Case::Parquet(_) => "parquet",
            Case::Columns(_) => "columns",
            Case::Ppi(_) => "ppi",
            Case::Packed(_) => "packed",
            Case::SealedPacked(_) => "packed, checksums renewed",
            Case::Model(_) => "model",
        }
    }

    /// Whether it could be loaded, or what should not have happened.
    fn run(&self, samples: &Samples, folder: &Path) -> Result<bool, String> {
        let write = |path: &Path, bytes: &[u8]| {
            // Some file systems wait for the disk when a file is overwritten, and not when it is new.
            let _ = fs::remove_file(path);
            fs::write(path, bytes).map_err(|error| error.to_string())
        };
        match self {
            Case::Archive(bytes) => {
                let path = folder.join("damaged.npz");
                write(&path, bytes)?;
                let new = load_new_npz(&path, 4).map(|new| walk(&new.names, &new.attributes));
                let whole = load(&path, &LoadOptions::default());
                Ok(walk_loaded(&whole) | new.is_ok())
            }
            Case::Tables { edges, nodes, ending } => {
                let tables = folder.join(format!("tables-{ending}"));
                fs::create_dir_all(&tables).map_err(|error| error.to_string())?;
                write(&tables.join(format!("edges.{ending}")), edges)?;
                write(&tables.join(format!("nodes.{ending}")), nodes)?;
                Ok(walk_loaded(&load(&tables, &LoadOptions::default())))
            }
            Case::NewTable(bytes) => {
                let path = folder.join("new.csv");
                write(&path, bytes)?;
                Ok(load_new(&path, &samples.schema, false).map(|new| walk(&new.names, &new.attributes)).is_ok())
            }
            Case::Parquet(bytes) => {
                let tables = folder.join("tables-parquet");
                fs::create_dir_all(&tables).map_err(|error| error.to_string())?;
                write(&tables.join("edges.csv"), b"source,target\na,b\nb,c\n")?;
                write(&tables.join("nodes.parquet"), bytes)?;
                Ok(walk_loaded(&load(&tables, &LoadOptions::default())))
            }
            Case::Columns(bytes) => {
                let path = folder.join("columns.toml");
                write(&path, bytes)?;
                let Ok(columns) = Columns::read(&path) else { return Ok(false) };
                let loaded = load(folder, &LoadOptions { columns, ..LoadOptions::default() });
                let fitted = loaded.as_ref().ok().and_then(|dataset| Preparation::fit(&dataset.attributes, &[true; 3]));
                if let (Some(fitted), Ok(dataset)) = (fitted, &loaded) {
                    black_box(fitted.apply(&dataset.attributes));
                }
                Ok(walk_loaded(&loaded))
            }
            Case::Ppi(files) => {
                let ppi = folder.join("ppi");
                fs::create_dir_all(&ppi).map_err(|error| error.to_string())?;
                for (name, bytes) in files {
                    write(&ppi.join(name), bytes)?;
                }
                Ok(walk_loaded(&load(&ppi, &LoadOptions::default())))
            }
            Case::Packed(bytes) => {
                let path = folder.join("damaged.coldlink");
                write(&path, bytes)?;
                let whole = open_packed(&path);
                let silent = whole.as_ref().is_ok_and(|dataset| *dataset != samples.dataset);
                if silent { Err("damaged data was opened".into()) } else { Ok(walk_loaded(&whole)) }
            }
            Case::Model(bytes) => {
                let path = folder.join("damaged.model");
                write(&path, bytes)?;
                let opened = match Model::open(&path) {
                    // The checksum is made to match, so that what comes after it is met as well.
                    Err(FileError { problem: FileProblem::Checksum { found, stored }, .. }) => {
                        write(&path, &renamed(bytes, &format!("{stored:016x}"), &format!("{found:016x}")))?;
                        Model::open(&path)
                    }
                    opened => opened,
                };
                Ok(opened.map(|model| use_model(&model)).is_ok())
            }
            Case::SealedPacked(bytes) => {
                let path = folder.join("sealed.coldlink");
                write(&path, bytes)?;
                Ok(walk_loaded(&open_packed(&path)))
            }
        }
    }
}

/// Uses all that was loaded, as a later stage would.
/// The bytes with one text put in place of another of the same length.
fn renamed(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let place = bytes.windows(from.len()).position(|window| window == from.as_bytes());
    let mut bytes = bytes.to_vec();
    if let Some(place) = place {
        bytes[place..place + to.len()].copy_from_slice(to.as_bytes());
    }
    bytes
}

/// Asks a model what it is made for.
fn use_model(model: &Model) {
    let width = model.loaded_width();
    let row = (0..width.min(3) as u32).map(|column| (column, 1.0)).collect();
    let Ok(new) = Attributes::from_rows(width, &[row, vec![]]) else { return };
    let newcomers = model.meet(&new);
    let hits = model.best_links(&newcomers, 0..2, Wish::best(5));
    for hit in hits.iter().flatten() {
        black_box((model.names.get(hit.node), model.explain(&new, &newcomers, 0, End::Seen(hit.node))));
    }
}

fn walk_loaded(loaded: &Result<Dataset, LoadError>) -> bool {
    match loaded {
        Ok(dataset) => {
            walk(&dataset.names, &dataset.attributes);
            assert_eq!(dataset.graph.iter_links().count(), dataset.graph.links());
            assert_eq!(dataset.names.len(), dataset.graph.nodes());
            assert_eq!(dataset.attributes.rows(), dataset.graph.nodes());
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            error.hint();
            false
        }
    }
}

fn walk(names: &Names, attributes: &Attributes) {
    let index = names.index();
    for node in 0..names.len() as u32 {
        assert!(index.find(&names.get(node)).is_some());
        assert!(attributes.row(node).0.iter().all(|&column| (column as usize) < attributes.width()));
    }
}

/// Random damage of every kind.
struct Damage(Xoshiro256PlusPlus);

impl Damage {
    fn coin(&mut self) -> bool {
        self.0.random()
    }

    fn of(&mut self, sound: &[u8]) -> Vec<u8> {
        let mut bytes = sound.to_vec();
        for _ in 0..self.0.random_range(1..5) {
            self.once(&mut bytes);
        }
        bytes
    }

    /// Damage that leaves everything where it is, so that a file with a strict layout is read further than its header.
    fn in_place(&mut self, sound: &[u8]) -> Vec<u8> {
        let mut bytes = sound.to_vec();
        for _ in 0..self.0.random_range(1..4) {
            let place = self.0.random_range(0..bytes.len());
            match self.0.random_range(0..3) {
                0 => bytes[place] ^= 1 << self.0.random_range(0..8),
                1 => bytes[place] = self.0.random(),
                _ => self.number(&mut bytes, place),
            }
        }
        bytes
    }

    fn once(&mut self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        let place = self.0.random_range(0..bytes.len());
        match self.0.random_range(0..8) {
            0 => bytes[place] ^= 1 << self.0.random_range(0..8),
            1 => bytes[place] = self.0.random(),
            2 => bytes.truncate(place),
            3 => drop(bytes.drain(place..(place + self.0.random_range(1..16)).min(bytes.len()))),
            4 => {
                let from = self.0.random_range(0..bytes.len());
                let piece = bytes[from..(from + self.0.random_range(1..64)).min(bytes.len())].to_vec();
                bytes.splice(place..place, piece);
            }
            5 => {
                const TEXTS: [&str; 14] = [
                    "nan",
                    "|",
                    "\"",
                    ",",
                    "\n",
                    "\r",
                    "1e999",
                    "\t",
                    "-1",
                    "\0",
                    "ü",
                    "'",
                    "(9223372036854775807,",
                    "p1",
                ];
                let text = TEXTS[self.0.random_range(0..TEXTS.len())];
                bytes.splice(place..place, text.bytes());
            }
            _ => self.number(bytes, place),
        }
    }

    /// Overwrites a number, where lengths tend to lie, by one at the edge of a range.
    fn number(&mut self, bytes: &mut [u8], place: usize) {
        const EDGES: [u64; 10] = [0, 1, 2, 0x7f, 0xffff, 0x7fff_ffff, 0xffff_ffff, 1 << 40, i64::MAX as u64, u64::MAX];
        let width = [2, 4, 8][self.0.random_range(0..3)];
        let start = place / width * width;
        let mut number = EDGES[self.0.random_range(0..EDGES.len())];
        if let (true, Some(&old)) = (self.coin(), bytes.get(start)) {
            number = u64::from(old.wrapping_add(self.0.random_range(0..3)).wrapping_sub(1));
        }
        for (target, source) in bytes[start..].iter_mut().zip(number.to_le_bytes()).take(width) {
            *target = source;
        }
    }
}

fn zip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&text.iter().map(|&byte| if byte == b',' { b'\t' } else { byte }).collect::<Vec<_>>()).ok();
    encoder.finish().unwrap_or_default()
}

/// A packed file with checksums that match its damaged contents (layout: `load/packed.rs`).
fn seal(mut bytes: Vec<u8>) -> Vec<u8> {
    const HEADER: usize = 320;
    if bytes.len() < HEADER {
        return bytes;
    }
    bytes[..16].copy_from_slice(b"\x93CLGRAPH\x01\0\0\0\x0a\0\0\0");
    let length = bytes.len() as u64;
    bytes[24..32].copy_from_slice(&length.to_le_bytes());
    for entry in (32..272).step_by(24) {
        let word = |place: usize| u64::from_le_bytes(bytes[place..place + 8].try_into().unwrap_or_default()) as usize;
        let start = word(entry);
        let end = start.saturating_add(word(entry + 8)).checked_next_multiple_of(64).unwrap_or(usize::MAX);
        if let Some(section) = bytes.get(start..end) {
            let checksum = xxh3_64(section);
            bytes[entry + 16..entry + 24].copy_from_slice(&checksum.to_le_bytes());
        }
    }
    bytes[16..24].fill(0);
    let checksum = xxh3_64(&bytes[..HEADER]);
    bytes[16..24].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

/// What the system says of the most memory asked for so far, where it says so.
fn memory_complaint() -> Option<String> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmPeak:"))?;
    let kilobytes: u64 = peak.trim().strip_suffix(" kB")?.parse().ok()?;
    (kilobytes << 10 > MOST_MEMORY).then(|| format!("{kilobytes} kB of memory"))
}
