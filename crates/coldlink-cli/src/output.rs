//! Where results go: standard output or a file.

use std::io::{self, Write};
use std::path::Path;

use anyhow::Context;
use coldlink::storage::write_atomically;

const CANNOT_PRINT: &str = "cannot write to standard output";

/// Prints lines, to standard output.
pub fn print(text: impl AsRef<str>) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_ref().as_bytes()).and_then(|()| out.flush()).context(CANNOT_PRINT)
}

/// Prints one JSON object, to standard output.
pub fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    print(text)
}

/// Writes to a file, whole or not at all, or to standard output.
pub fn write_to(path: Option<&Path>, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<()> {
    match path {
        Some(path) => write_atomically(path, |file| write(file)).with_context(|| cannot_write(path)),
        None => {
            let mut out = io::BufWriter::new(io::stdout().lock());
            write(&mut out).and_then(|()| out.flush()).context(CANNOT_PRINT)
        }
    }
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write `{}`", path.display())
}
