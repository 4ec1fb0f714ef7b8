//! A sound split of the graph that models are trained on, as a folder and as arrays.

use std::fs;
use std::path::PathBuf;

use coldlink::dataset::Dataset;
use coldlink::split::{Protocol, Split};
use xxhash_rust::xxh3::xxh3_64;

use crate::{file, folder, graph, npy};

/// The tables of a folder.
pub const TABLES: [&str; 4] = ["train.csv", "validation.csv", "test.csv", "hidden.csv"];
const MANIFEST: &str = "split/split.toml";

/// What damaged splits are made from.
pub struct SoundSplit {
    /// The graph.
    pub dataset: Dataset,
    /// Its split as a folder: each table, and the file that describes them.
    pub tables: [Vec<u8>; 4],
    /// The latter.
    pub manifest: String,
    /// Another split as arrays.
    pub arrays: Vec<(String, Vec<u8>)>,
}

impl SoundSplit {
    /// Makes and writes it.
    pub fn make() -> Self {
        let (dataset, path) = (graph(), folder().join("split"));
        let split = Split::make(&dataset, &Protocol::Strict, None, 1).expect("a split");
        split.write(&path, &dataset.names).expect("the folder can be written");
        let read = |name: &str| fs::read(path.join(name)).expect("just written");
        let manifest = String::from_utf8(read("split.toml")).expect("just written");
        SoundSplit { tables: TABLES.map(read), manifest, arrays: arrays(), dataset }
    }

    /// The folder with one of its tables damaged, and its checksum renewed.
    pub fn with_table(&self, damaged: usize, bytes: &[u8]) -> PathBuf {
        for (place, name) in TABLES.iter().enumerate() {
            file(&format!("split/{name}"), if place == damaged { bytes } else { &self.tables[place] });
        }
        let hex = |bytes: &[u8]| format!("{:016x}", xxh3_64(bytes));
        file(MANIFEST, self.manifest.replace(&hex(&self.tables[damaged]), &hex(bytes)).as_bytes());
        folder().join("split")
    }

    /// The folder with sound tables that are described otherwise.
    pub fn with_manifest(&self, bytes: &[u8]) -> PathBuf {
        self.with_table(0, &self.tables[0]);
        file(MANIFEST, bytes);
        folder().join("split")
    }
}

/// Two hidden nodes, and pairs of every kind.
fn arrays() -> Vec<(String, Vec<u8>)> {
    let list = |nodes: &[i64]| nodes.iter().flat_map(|node| node.to_le_bytes()).collect::<Vec<u8>>();
    let pairs = |name: &str, nodes: &[i64]| {
        (format!("{name}.npy"), npy("<i8", &format!("({}, 2)", nodes.len() / 2), &list(nodes)))
    };
    vec![
        pairs("train_pos", &[0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7]),
        pairs("val_pos", &[7, 8, 8, 9]),
        pairs("val_neg", &[0, 3, 1, 4]),
        pairs("test_pos", &[47, 0, 46, 5]),
        pairs("test_neg", &[47, 2, 46, 3]),
        ("hidden.npy".to_owned(), npy("<i8", "(2,)", &list(&[46, 47]))),
    ]
}
