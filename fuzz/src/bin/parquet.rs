//! Parquet as a table of nodes, of links and of new nodes.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use coldlink::columns::Schema;
use coldlink::load::{LoadOptions, UnknownNodes, load_new, load_tables};
use coldlink_fuzz::{PARQUET, check_memory, file, fit, form, guard, prepare, silence, walk_loaded, walk_new};
use libfuzzer_sys::fuzz_target;

static EDGES: LazyLock<PathBuf> = LazyLock::new(|| file("edges.csv", b"source,target\na,b\nb,c\n"));
static NODES: LazyLock<PathBuf> = LazyLock::new(|| file("nodes.csv", b"id,x\na,1\nb,2\nc,3\n"));
static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let loaded = load_tables(&EDGES, &file("sound.parquet", PARQUET), &LoadOptions::default());
    loaded.expect("sound tables").schema.expect("tables have a schema")
});

// The reader of Parquet panics at some damaged files; the library makes errors of its panics.
fuzz_target!(init: { prepare(); silence() }, |bytes: &[u8]| {
    let Some((form, bytes)) = form(bytes) else { return };
    guard(|| {
        let path = file("damaged.parquet", bytes);
        let options = LoadOptions { strict_input: form & 4 != 0, ..LoadOptions::default() };
        match form % 4 {
            0 | 1 => {
                let loaded = load_tables(&EDGES, &path, &options);
                walk_loaded(&loaded);
                loaded.iter().for_each(fit);
            }
            2 => walk_loaded(&load_tables(&path, &NODES, &LoadOptions { unknown_nodes: UnknownNodes::Drop, ..options })),
            _ => walk_new(&load_new(&path, &SCHEMA, options.strict_input)),
        }
        check_memory();
    });
});
