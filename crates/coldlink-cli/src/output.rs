//! Where results go: standard output, or a file that is known to be writable before long work starts.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use anyhow::Context;
use coldlink::storage::write_atomically;

use crate::failure::Failure;

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

/// Whether a file can be written at `path` without harm to the `inputs`.
pub fn check_writable(path: &Path, inputs: &[&Path]) -> anyhow::Result<()> {
    if path.is_dir() {
        let failure = Failure::new(format!("cannot write `{}`: it is a folder", path.display()));
        return Err(failure.hint("name a file").into());
    }
    if path.exists() && !path.is_file() {
        let failure = Failure::new(format!("cannot write `{}`: it is not a regular file", path.display()));
        return Err(failure.hint("coldlink replaces files as a whole; name a regular file").into());
    }
    let same =
        |input: &&Path| fs::canonicalize(input).ok().zip(fs::canonicalize(path).ok()).is_some_and(|(a, b)| a == b);
    if inputs.iter().any(same) {
        let failure = Failure::new(format!("`{}` is both input and output", path.display()));
        return Err(failure.hint("write to another file").into());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        let failure =
            Failure::new(format!("cannot write `{}`: folder `{}` does not exist", path.display(), folder.display()));
        return Err(failure.hint(format!("create it with `mkdir -p {}`", folder.display())).into());
    }
    let probe = folder.join(format!(".coldlink-{}.probe", std::process::id()));
    File::create(&probe).with_context(|| cannot_write(path))?;
    fs::remove_file(&probe).with_context(|| cannot_write(path))
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write `{}`", path.display())
}
