//! How errors are told: what, caused by what, and what to do about it.

use std::process::ExitCode;

use coldlink_bench::experiment::BenchError;
use coldlink_bench::method::MethodError;

/// Prints an error with its causes and a hint; exit code 2 says that it could not run.
pub fn report(error: &anyhow::Error) -> ExitCode {
    eprintln!("error: {error}");
    for cause in error.chain().skip(1) {
        eprintln!("  caused by: {cause}");
    }
    let hint = error.chain().find_map(|cause| match cause.downcast_ref::<BenchError>() {
        Some(error) => error.hint(),
        None => cause.downcast_ref::<MethodError>().and_then(MethodError::hint),
    });
    if let Some(hint) = hint {
        eprintln!("hint: {hint}");
    }
    ExitCode::from(2)
}
