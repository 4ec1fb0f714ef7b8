//! Packed graphs, with checksums that match and with that of a sound one.
#![no_main]

use std::fs;
use std::sync::LazyLock;

use coldlink::dataset::Dataset;
use coldlink::load::{open_packed, write_packed};
use coldlink_fuzz::{check_memory, claim, dataset, file, fit, folder, form, matched_graph, prepare, walk_loaded};
use libfuzzer_sys::fuzz_target;

static SOUND: LazyLock<(Dataset, Vec<u8>)> = LazyLock::new(|| {
    let (dataset, path) = (dataset(), folder().join("sound.coldlink"));
    write_packed(&dataset, &path).expect("the folder can be written");
    (dataset, fs::read(path).expect("just written"))
});

fuzz_target!(init: prepare(), |bytes: &[u8]| {
    let Some((form, bytes)) = form(bytes) else { return };
    match form % 3 {
        0 => walk_loaded(&open_packed(&file("raw.coldlink", bytes))),
        1 => {
            let loaded = matched_graph(&file("matched.coldlink", bytes));
            walk_loaded(&loaded);
            loaded.iter().for_each(fit);
        }
        _ => {
            let (dataset, sound) = &*SOUND;
            let loaded = open_packed(&file("claimed.coldlink", &claim(bytes, sound)));
            walk_loaded(&loaded);
            assert!(loaded.is_err() || loaded.is_ok_and(|loaded| loaded == *dataset), "damaged data was opened");
        }
    }
    check_memory();
});
