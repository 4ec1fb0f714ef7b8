//! Models and their indexes, with checksums that match, asked for links and explanations.
#![no_main]

use std::hint::black_box;
use std::sync::LazyLock;

use coldlink::index::LinkIndex;
use coldlink::model::Model;
use coldlink_fuzz::{Saved, check_memory, file, form, matched, prepare, use_model};
use libfuzzer_sys::fuzz_target;

static SOUND: LazyLock<Saved> = LazyLock::new(|| {
    let saved = Saved::make();
    let model = Model::open(&saved.path).expect("a sound model");
    assert!(!use_index(&saved), "the index is used");
    use_model(&model);
    saved
});

fuzz_target!(init: { prepare(); LazyLock::force(&SOUND) }, |bytes: &[u8]| {
    let Some((form, bytes)) = form(bytes) else { return };
    if form % 2 == 0 {
        let path = file("damaged.model", bytes);
        match matched(&path, || Model::open(&path)) {
            Ok(model) => use_model(&model),
            Err(error) => drop(black_box((error.to_string(), error.hint()))),
        }
    } else {
        let beside = file("sound.model.index", bytes);
        let width = 4;
        if matched(&beside, || LinkIndex::open(&beside, width)).is_ok() {
            use_index(&SOUND);
        }
    }
    check_memory();
});

/// Asks a model through what lies beside it, and tells whether that was refused.
fn use_index(saved: &Saved) -> bool {
    let (model, problem) = Model::open_indexed(&saved.path).expect("a sound model");
    use_model(&model);
    problem.is_some()
}
