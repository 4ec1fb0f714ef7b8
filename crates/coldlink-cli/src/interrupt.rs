//! Ctrl-C and SIGTERM: long work is asked to stop at its next step. Work that has no step within a second is ended: every file
//! appears whole or not at all, so nothing is lost but what was not saved yet.

use std::process;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

static ASKED: AtomicBool = AtomicBool::new(false);
static HEARD: AtomicBool = AtomicBool::new(false);
static SAVES: AtomicBool = AtomicBool::new(false);
static WATCHING: Once = Once::new();

/// How long work may take to hear that it is to stop.
const PATIENCE: Duration = Duration::from_millis(850);
/// The exit code of work that the user stopped.
const STOPPED: i32 = 130;

/// From now on Ctrl-C and SIGTERM are noted instead of ending the program.
pub fn watch() {
    WATCHING.call_once(|| {
        // Where no handler can be set, Ctrl-C ends the program as it always did.
        let _ = ctrlc::set_handler(|| {
            if ASKED.swap(true, Ordering::Relaxed) {
                process::exit(STOPPED);
            }
            eprintln!("\nstopping; once more to end at once");
            thread::spawn(end_what_does_not_hear);
        });
    });
}

/// The same for work that saves its progress as it goes.
pub fn watch_saving() {
    SAVES.store(true, Ordering::Relaxed);
    watch();
}

/// Whether to stop. Who asks and is told so will stop.
pub fn is_asked() -> bool {
    let asked = ASKED.load(Ordering::Relaxed);
    if asked {
        HEARD.store(true, Ordering::Relaxed);
    }
    asked
}

fn end_what_does_not_hear() {
    thread::sleep(PATIENCE);
    if HEARD.load(Ordering::Relaxed) {
        return;
    }
    match SAVES.load(Ordering::Relaxed) {
        true => {
            eprintln!("stopped; what was saved before is kept\nhint: run the same command with `--resume` to continue")
        }
        false => eprintln!("stopped"),
    }
    process::exit(STOPPED);
}
