//! Splits that were made elsewhere: a folder of tables with checksums that match, and arrays.
#![no_main]

use std::hint::black_box;
use std::sync::LazyLock;

use coldlink::config::Validation;
use coldlink::split::{Protocol, Split};
use coldlink_fuzz::{SoundSplit, TABLES, archive, check_memory, file, form, prepare};
use libfuzzer_sys::fuzz_target;
use zip::CompressionMethod;

static SOUND: LazyLock<SoundSplit> = LazyLock::new(SoundSplit::make);

fuzz_target!(init: { prepare(); LazyLock::force(&SOUND) }, |bytes: &[u8]| {
    let Some((form, bytes)) = form(bytes) else { return };
    let arrays = SOUND.arrays.len();
    let path = match form as usize % (TABLES.len() + 1 + arrays) {
        table if table < TABLES.len() => SOUND.with_table(table, bytes),
        place if place == TABLES.len() => SOUND.with_manifest(bytes),
        place => {
            let mut renewed = SOUND.arrays.clone();
            renewed[place - TABLES.len() - 1].1 = bytes.to_vec();
            file("split.npz", &archive(&renewed, CompressionMethod::Stored))
        }
    };
    let rules = [None, Some(Validation::Edges), Some(Validation::Nodes)];
    match Split::make(&SOUND.dataset, &Protocol::Files(path), rules[form as usize / 16 % 3], 1) {
        Ok(split) => walk(&split),
        Err(error) => drop(black_box((error.to_string(), error.hint()))),
    }
    check_memory();
});

/// Asks a split what training and evaluation ask it.
fn walk(split: &Split) {
    let search = split.search();
    black_box((split.audit(), split.validation_halves(), search.graph().links()));
    black_box((split.refit().is_some(), split.test().queries(&split.final_view())));
}
