//! Archives of numpy arrays, as they are and with one array in place of a sound one; new nodes in them.
#![no_main]

use std::sync::LazyLock;

use coldlink::load::{LoadOptions, load, load_new_npz};
use coldlink_fuzz::{STORED_ARCHIVE, archive, arrays, check_memory, file, form, prepare, walk_loaded, walk_new};
use libfuzzer_sys::fuzz_target;
use zip::CompressionMethod;

static ARRAYS: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(|| arrays(STORED_ARCHIVE));
/// Columns of the sound attributes.
const WIDTH: usize = 4;

fuzz_target!(init: prepare(), |bytes: &[u8]| {
    let Some((form, bytes)) = form(bytes) else { return };
    let path = match form {
        0 => file("raw.npz", bytes),
        _ => {
            let mut arrays = ARRAYS.clone();
            let replaced = (form - 1) as usize % arrays.len();
            arrays[replaced].1 = bytes.to_vec();
            let method = if form & 128 == 0 { CompressionMethod::Stored } else { CompressionMethod::Deflated };
            file("renewed.npz", &archive(&arrays, method))
        }
    };
    walk_loaded(&load(&path, &LoadOptions { strict_input: form & 64 != 0, ..LoadOptions::default() }));
    walk_new(&load_new_npz(&path, WIDTH));
    check_memory();
});
