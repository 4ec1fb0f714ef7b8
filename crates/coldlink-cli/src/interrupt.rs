//! Ctrl-C: asks long work to stop at its next step; a second one ends the program at once.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);
static WATCHING: Once = Once::new();

/// From now on Ctrl-C and SIGTERM are noted instead of ending the program.
pub fn watch() {
    WATCHING.call_once(|| {
        // Where no handler can be set, Ctrl-C ends the program as it always did.
        let _ = ctrlc::set_handler(|| {
            if ASKED.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
            eprintln!("\nstopping; once more to end at once");
        });
    });
}

/// Whether to stop.
pub fn is_asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
