//! Where results go: standard output or a file.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anyhow::Context;
use coldlink::storage::write_atomically;
use coldlink::text::{printable, printable_lines};

const CANNOT_PRINT: &str = "cannot write to standard output";

/// Prints lines for people, to standard output: what a terminal would obey is escaped.
pub fn print(text: impl AsRef<str>) -> anyhow::Result<()> {
    print_exact(&*printable_lines(text.as_ref()))
}

/// Tells people something beside the results, in a line on standard error.
pub fn note(text: impl AsRef<str>) {
    eprintln!("note: {}", printable(text.as_ref()));
}

/// Prints lines for programs, to standard output, as they are.
pub fn print_exact(text: impl AsRef<str>) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_ref().as_bytes()).and_then(|()| out.flush()).context(CANNOT_PRINT)
}

/// Characters in a line of the terminal that standard output is, or as many as `COLUMNS` says; none where lines have no end.
pub fn terminal_width() -> Option<u16> {
    let said = std::env::var("COLUMNS").ok().and_then(|said| said.parse().ok()).filter(|&width| width > 0);
    said.or_else(|| comfy_table::Table::new().width().filter(|_| io::stdout().is_terminal()))
}

/// Prints one JSON object, to standard output.
pub fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    print_exact(text)
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
