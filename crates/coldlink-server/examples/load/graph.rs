//! A graph to train on: communities of a hundred nodes that share links and words.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const COMMUNITY: u32 = 100;
const LINKS: u32 = 10;
const WORDS: u32 = 20_000;
const WORDS_OF_A_NODE: usize = 20;

/// Writes `nodes.csv` and `edges.csv`; four links in five and three words in five stay within a community.
pub fn write(folder: &Path, nodes: u32) -> io::Result<()> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(u64::from(nodes));
    fs::create_dir_all(folder)?;
    let mut rows = BufWriter::new(File::create(folder.join("nodes.csv"))?);
    writeln!(rows, "id,words")?;
    for node in 0..nodes {
        writeln!(rows, "n{node},{}", words(&mut random, node / COMMUNITY).join("|"))?;
    }
    rows.flush()?;
    let mut rows = BufWriter::new(File::create(folder.join("edges.csv"))?);
    writeln!(rows, "source,target")?;
    for node in 0..nodes {
        for _ in 0..LINKS {
            let near = random.random_range(0..5) < 4;
            let start = node / COMMUNITY * COMMUNITY;
            let other = if near { start + random.random_range(0..COMMUNITY) } else { random.random_range(0..nodes) };
            if other != node && other < nodes {
                writeln!(rows, "n{node},n{other}")?;
            }
        }
    }
    rows.flush()
}

/// The words of a node of some community.
pub fn words(random: &mut impl Rng, community: u32) -> Vec<String> {
    let home = community.wrapping_mul(2_654_435_761) % (WORDS - 200);
    let word = |random: &mut dyn Rng| {
        let near = random.random_range(0..5) < 3;
        let word = if near { home + random.random_range(0..200) } else { random.random_range(0..WORDS) };
        format!("w{word}")
    };
    (0..WORDS_OF_A_NODE).map(|_| word(random)).collect()
}
