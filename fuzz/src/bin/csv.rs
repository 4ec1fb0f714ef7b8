//! Tables of links and of nodes as CSV, TSV, gzip; new rows against a schema; pairs and names that are left out.
#![no_main]

use std::sync::LazyLock;

use coldlink::columns::Schema;
use coldlink::load::{LoadOptions, UnknownNodes, load_given_links, load_names, load_new, load_pairs, load_tables};
use coldlink_fuzz::{
    EDGES, NODES, check_memory, file, fit, form, prepare, same_as_new, schema, two, walk_loaded, walk_new, zipped,
};
use libfuzzer_sys::fuzz_target;

static SCHEMA: LazyLock<Schema> = LazyLock::new(schema);

fuzz_target!(init: prepare(), |bytes: &[u8]| {
    let Some((form, text)) = form(bytes) else { return };
    let strict = form & 16 != 0;
    match form % 8 {
        0 => tables("csv", text, |text| text.to_vec(), form),
        1 => tables("tsv", text, |text| text.to_vec(), form),
        2 => tables("csv.gz", text, zipped, form),
        // Packed by nobody: the reader of gzip meets it as it is.
        3 => load_both("csv", EDGES.as_bytes(), "csv.gz", text, form),
        4 | 5 => walk_new(&load_new(&file("new.csv", text), &SCHEMA, strict)),
        6 => {
            drop(load_pairs(&file("pairs.csv", text)));
            drop(load_given_links(&file("links.csv", text)));
        }
        _ => drop(load_names(&file("excluded.csv", text))),
    }
    check_memory();
});

fn tables(ending: &str, text: &[u8], pack: impl Fn(&[u8]) -> Vec<u8>, form: u8) {
    let (edges, nodes) = two(text).unwrap_or((text, NODES.as_bytes()));
    load_both(ending, &pack(edges), ending, &pack(nodes), form);
}

fn load_both(of_edges: &str, edges: &[u8], of_nodes: &str, nodes: &[u8], form: u8) {
    let unknown_nodes = if form & 8 != 0 { UnknownNodes::Drop } else { UnknownNodes::Refuse };
    let options = LoadOptions { strict_input: form & 16 != 0, unknown_nodes, ..LoadOptions::default() };
    let (edges, nodes) = (file(&format!("edges.{of_edges}"), edges), file(&format!("nodes.{of_nodes}"), nodes));
    let loaded = load_tables(&edges, &nodes, &options);
    walk_loaded(&loaded);
    loaded.iter().for_each(|dataset| {
        fit(dataset);
        same_as_new(dataset, &nodes);
    });
}
