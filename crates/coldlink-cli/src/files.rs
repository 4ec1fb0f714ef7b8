//! What a command reads and writes: no output may destroy an input, and every output must be writable before long work starts.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::Context;
use coldlink::load::{files_of, files_of_columns};
use coldlink::split;
use coldlink::storage::{destination, is_same_file};

use crate::failure::Failure;

/// All files that a command names.
#[derive(Default)]
pub struct Files {
    inputs: Vec<PathBuf>,
    outputs: Vec<PathBuf>,
}

impl Files {
    /// Reads a file.
    pub fn reads(mut self, path: impl AsRef<Path>) -> Self {
        self.inputs.push(path.as_ref().to_owned());
        self
    }

    /// Reads files that may be given.
    pub fn reads_any<'a>(self, paths: impl IntoIterator<Item = &'a PathBuf>) -> Self {
        paths.into_iter().fold(self, Files::reads)
    }

    /// Reads a graph: a file, or tables in a folder.
    pub fn reads_graph(mut self, path: &Path) -> Self {
        self.inputs.extend(files_of(path));
        self
    }

    /// Reads a description of columns, and the files that it names.
    pub fn reads_columns(mut self, path: &Path) -> Self {
        self.inputs.extend(files_of_columns(path));
        self
    }

    /// Reads a split, where the protocol is the path of one.
    pub fn reads_protocol(mut self, protocol: &str) -> Self {
        let path = Path::new(protocol);
        if path.is_dir() {
            self.inputs.extend(split::files_of(path));
        } else if path.is_file() {
            self.inputs.push(path.to_owned());
        }
        self
    }

    /// Writes a file.
    pub fn writes(mut self, path: impl AsRef<Path>) -> Self {
        self.outputs.push(path.as_ref().to_owned());
        self
    }

    /// Writes files that may be asked for.
    pub fn writes_any<'a>(self, paths: impl IntoIterator<Item = &'a PathBuf>) -> Self {
        paths.into_iter().fold(self, Files::writes)
    }

    /// Whether all outputs can be written without harm to an input or to each other.
    pub fn check(&self) -> anyhow::Result<()> {
        for (place, output) in self.outputs.iter().enumerate() {
            check_writable(output)?;
            if self.inputs.iter().any(|input| is_same(input, output)) {
                let failure = Failure::new(format!("`{}` is both input and output", output.display()));
                return Err(failure.hint("write to another file").into());
            }
            if self.outputs[..place].iter().any(|other| is_same(other, output)) {
                let failure = Failure::new(format!("`{}` would be written twice", output.display()));
                return Err(failure.hint("give each output its own file").into());
            }
        }
        Ok(())
    }
}

/// Whether two paths are one file, be it there or not.
fn is_same(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| {
        let path = destination(path).ok()?;
        Some((fs::canonicalize(folder_of(&path)).ok()?, path.file_name()?.to_owned()))
    };
    is_same_file(a, b) || place(a).is_some_and(|found| Some(found) == place(b))
}

fn check_writable(path: &Path) -> anyhow::Result<()> {
    if path.is_dir() {
        let failure = Failure::new(format!("cannot write `{}`: it is a folder", path.display()));
        return Err(failure.hint("name a file").into());
    }
    if path.exists() && !path.is_file() {
        let failure = Failure::new(format!("cannot write `{}`: it is not a regular file", path.display()));
        return Err(failure.hint("coldlink replaces files as a whole; name a regular file").into());
    }
    let cannot_write = || format!("cannot write `{}`", path.display());
    let place = destination(path).with_context(cannot_write)?;
    let folder = folder_of(&place);
    if !folder.is_dir() {
        let failure = Failure::new(format!("{}: folder `{}` does not exist", cannot_write(), folder.display()));
        return Err(failure.hint(format!("create it with `mkdir -p {}`", folder.display())).into());
    }
    let probe = folder.join(format!(".coldlink-{}.probe", std::process::id()));
    File::create(&probe).with_context(cannot_write)?;
    fs::remove_file(&probe).with_context(cannot_write)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
