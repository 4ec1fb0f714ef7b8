//! What users say that columns are, applied to sound tables.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use coldlink::load::{LoadOptions, load_tables, read_columns};
use coldlink_fuzz::{EDGES, NODES, check_memory, file, fit, prepare, walk_loaded};
use libfuzzer_sys::fuzz_target;

static TABLES: LazyLock<[PathBuf; 2]> =
    LazyLock::new(|| [file("edges.csv", EDGES.as_bytes()), file("nodes.csv", NODES.as_bytes())]);

fuzz_target!(init: prepare(), |bytes: &[u8]| {
    if let Ok(columns) = read_columns(&file("columns.toml", bytes)) {
        let [edges, nodes] = &*TABLES;
        let loaded = load_tables(edges, nodes, &LoadOptions { columns, ..LoadOptions::default() });
        walk_loaded(&loaded);
        loaded.iter().for_each(fit);
    }
    check_memory();
});
