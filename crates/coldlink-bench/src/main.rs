//! `coldlink-bench`: the paper's tables with every method in them.

mod commands;
mod failure;
mod progress;

use std::process::ExitCode;

use clap::Parser;

/// Tensors come and go by the megabyte; the system's allocator would give each back and fault it in again.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match commands::run(commands::Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error),
    }
}
