//! Tables as JSON lines, in memory, in files and packed by zstandard; new rows against a schema.
#![no_main]

use std::sync::LazyLock;

use coldlink::columns::Schema;
use coldlink::load::{LoadOptions, load_json_lines, load_new, load_tables, new_from_json_lines};
use coldlink_fuzz::{
    EDGE_LINES, NODE_LINES, check_memory, file, fit, form, prepare, same_as_new, schema, two, walk_loaded, walk_new,
};
use libfuzzer_sys::fuzz_target;

static SCHEMA: LazyLock<Schema> = LazyLock::new(schema);

fuzz_target!(init: prepare(), |bytes: &[u8]| {
    let Some((form, text)) = form(bytes) else { return };
    let strict = form & 8 != 0;
    let options = LoadOptions { strict_input: strict, ..LoadOptions::default() };
    let (nodes, edges) = two(text).unwrap_or((text, EDGE_LINES.as_bytes()));
    match form % 8 {
        0 => {
            let loaded = load_json_lines(nodes.to_vec(), edges.to_vec(), &options);
            walk_loaded(&loaded);
            loaded.iter().for_each(fit);
        }
        1 => walk_new(&new_from_json_lines(text.to_vec(), &SCHEMA, strict)),
        2 => walk_new(&load_new(&file("new.jsonl", text), &SCHEMA, strict)),
        3 => {
            let (edges, nodes) = (file("edges.jsonl", edges), file("nodes.jsonl", nodes));
            let loaded = load_tables(&edges, &nodes, &options);
            walk_loaded(&loaded);
            loaded.iter().for_each(|dataset| same_as_new(dataset, &nodes));
        }
        // Packed by nobody: the reader of zstandard meets it as it is.
        4 => {
            let (edges, nodes) = (file("edges.jsonl", EDGE_LINES.as_bytes()), file("nodes.jsonl.zst", text));
            walk_loaded(&load_tables(&edges, &nodes, &options));
        }
        5 => {
            let packed = |text: &[u8]| zstd::encode_all(text, 1).expect("room in memory");
            let (edges, nodes) = (file("edges.ndjson.zst", &packed(edges)), file("nodes.ndjson.zst", &packed(nodes)));
            walk_loaded(&load_tables(&edges, &nodes, &options));
        }
        _ => {
            let loaded = load_json_lines(NODE_LINES.into(), text.to_vec(), &options);
            walk_loaded(&loaded);
        }
    }
    check_memory();
});
