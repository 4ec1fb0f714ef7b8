//! Panics of readers that are not ours, which the library turns into errors.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::process::abort;
use std::sync::{Mutex, PoisonError};

static LAST: Mutex<String> = Mutex::new(String::new());

/// Lets panics pass that somebody catches; libFuzzer would stop at every one.
pub fn silence() {
    set_hook(Box::new(|panic| *LAST.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string()));
}

/// Does something, and stops at a panic that nobody else has caught.
pub fn guard(work: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(work)).is_err() {
        eprintln!("{}", LAST.lock().unwrap_or_else(PoisonError::into_inner));
        abort();
    }
}
