//! GraphSAGE's layout: a graph in JSON and two arrays, of which one is damaged.
#![no_main]

use std::fs;
use std::sync::LazyLock;

use coldlink::load::{LoadOptions, load};
use coldlink_fuzz::{PPI_GRAPH, check_memory, file, folder, form, ppi_arrays, prepare, walk_loaded};
use libfuzzer_sys::fuzz_target;

static SOUND: LazyLock<[(&str, Vec<u8>); 3]> = LazyLock::new(|| {
    fs::create_dir_all(folder().join("ppi")).expect("the folder can be written");
    let [features, ids] = ppi_arrays();
    [("ppi/train_graph.json", PPI_GRAPH.into()), ("ppi/train_feats.npy", features), ("ppi/train_graph_id.npy", ids)]
});

fuzz_target!(init: prepare(), |bytes: &[u8]| {
    let Some((form, bytes)) = form(bytes) else { return };
    for (place, (name, sound)) in SOUND.iter().enumerate() {
        file(name, if place == form as usize % 3 { bytes } else { sound });
    }
    walk_loaded(&load(&folder().join("ppi"), &LoadOptions { strict_input: form & 128 != 0, ..LoadOptions::default() }));
    check_memory();
});
