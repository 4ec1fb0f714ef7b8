//! Whether tables of a million rows become attributes in seconds and without holding their text.
//!
//!     cargo run --release -p coldlink --example million_rows -- [ROWS]
//!
//! Writes a table of nodes with text, categories, tags, numbers with gaps, flags and dates, and one of links; loads both, fits what
//! is fitted on nine rows in ten, and prepares all rows by it. Prints seconds by the clock and of the processor, and the peak memory.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use coldlink::columns::Preparation;
use coldlink::load::{LoadOptions, load};
use coldlink::synthetic::World;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const WORDS: u32 = 50_000;
const WORDS_OF_A_TITLE: usize = 9;
const CATEGORIES: u32 = 3_000;
const TAGS: usize = 3;
const LINKS_PER_NODE: u32 = 3;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rows = std::env::args().nth(1).map_or(Ok(1_000_000), |rows| rows.parse())?;
    let folder = PathBuf::from(format!("target/rows-{rows}"));
    write_tables(&folder, rows)?;
    let megabytes = fs::metadata(folder.join("nodes.csv"))?.len() / 1_000_000;
    println!("{rows} rows of nodes in {megabytes} MB of CSV, about {} rows of links", LINKS_PER_NODE * rows);

    let (started, busy) = (Instant::now(), process_seconds()?);
    let dataset = load(&folder, &LoadOptions::default())?;
    println!("loaded after {:.1} s: {} attributes", started.elapsed().as_secs_f64(), dataset.attributes.width());
    let visible: Vec<bool> = (0..dataset.attributes.rows()).map(|row| row % 10 != 0).collect();
    let prepared = Preparation::fit(&dataset.attributes, &visible).map(|fitted| fitted.apply(&dataset.attributes));
    let width = prepared.map_or(dataset.attributes.width(), |prepared| prepared.width());
    let (seconds, busy) = (started.elapsed().as_secs_f64(), process_seconds()? - busy);
    println!("prepared after {seconds:.1} s: {width} attributes; {busy:.1} s of the processor");
    println!("peak memory {} MB", peak_megabytes()?);
    fs::remove_dir_all(folder)?;
    Ok(())
}

fn write_tables(folder: &Path, rows: u32) -> io::Result<()> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    fs::create_dir_all(folder)?;
    let mut nodes = BufWriter::new(File::create(folder.join("nodes.csv"))?);
    writeln!(nodes, "id,title,category,tags,price,stock,listed")?;
    // Few words are frequent and most are rare.
    let word = |random: &mut Xoshiro256PlusPlus| {
        let number = (random.random::<f64>().powi(3) * f64::from(WORDS)) as u32;
        format!("{}{number}", ["lamp", "chair", "blue", "old"][number as usize % 4])
    };
    for row in 0..rows {
        let title: Vec<String> = (0..WORDS_OF_A_TITLE).map(|_| word(&mut random)).collect();
        let tags: Vec<String> = (0..TAGS).map(|_| word(&mut random)).collect();
        let price = match random.random_range(0..10) {
            0 => String::new(),
            _ => format!("{:.2}", random.random_range(0.5..500.0)),
        };
        let (category, stock) = (random.random_range(0..CATEGORIES), if random.random() { "yes" } else { "no" });
        let (month, day) = (random.random_range(1..=12), random.random_range(1..=28));
        let (title, tags) = (title.join(" "), tags.join("|"));
        writeln!(nodes, "n{row},{title},cat{category},{tags},{price},{stock},20{:02}-{month:02}-{day:02}", row % 25)?;
    }
    nodes.flush()?;
    let mut links = BufWriter::new(File::create(folder.join("edges.csv"))?);
    World::random(rows, f64::from(LINKS_PER_NODE), 1).write_edges(&mut links)?;
    links.flush()
}

/// What all threads have had of a processor, those that have ended included.
fn process_seconds() -> io::Result<f64> {
    const TICKS_A_SECOND: f64 = 100.0;
    let about = fs::read_to_string("/proc/self/stat")?;
    // The program's name may hold spaces; it ends with the last parenthesis.
    let fields = about.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Ok(ticks as f64 / TICKS_A_SECOND)
}

fn peak_megabytes() -> io::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    Ok(line.split_whitespace().next().and_then(|kilobytes| kilobytes.parse::<u64>().ok()).unwrap_or(0) / 1000)
}
