//! Errors of the library as exceptions of `coldlink.errors`, with their fields.

use std::error::Error as _;
use std::path::{Path, PathBuf};

use coldlink::Error;
use coldlink::config::ConfigError;
use coldlink::load::LoadError;
use coldlink::model::QueryError;
use coldlink::split::SplitError;
use coldlink::train::TrainError;
use coldlink::tune::TuneError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The exception for an error of the library.
pub fn raised(error: impl Into<Error>) -> PyErr {
    let error = error.into();
    let (path, line) = place(&error);
    Raised { class: class(&error), message: message(&error), hint: error.hint(), path, line }.into()
}

/// An exception `LoadError` about something that was handed over in memory.
pub fn refused(message: impl Into<String>, hint: &str) -> PyErr {
    Raised { class: "LoadError", message: message.into(), hint: Some(hint.to_owned()), path: None, line: None }.into()
}

/// The same about a file.
pub fn refused_file(path: &Path, message: impl Into<String>, hint: &str) -> PyErr {
    let path = Some(path.to_owned());
    Raised { class: "LoadError", message: message.into(), hint: Some(hint.to_owned()), path, line: None }.into()
}

/// An exception `ConfigError` about an argument.
pub fn misconfigured(message: impl Into<String>, hint: &str) -> PyErr {
    Raised { class: "ConfigError", message: message.into(), hint: Some(hint.to_owned()), path: None, line: None }.into()
}

/// The exception for a query that cannot be answered: `LoadError` about nodes, else `ConfigError`.
pub fn unanswered(error: QueryError) -> PyErr {
    let class = match error {
        QueryError::NotFinite { .. } | QueryError::Width { .. } | QueryError::UnknownNode { .. } => "LoadError",
        _ => "ConfigError",
    };
    Raised { class, message: error.to_string(), hint: error.hint(), path: None, line: None }.into()
}

/// What an exception holds.
struct Raised {
    class: &'static str,
    message: String,
    hint: Option<String>,
    path: Option<PathBuf>,
    line: Option<u64>,
}

impl Raised {
    fn exception(&self, py: Python<'_>) -> PyResult<PyErr> {
        let class = py.import("coldlink.errors")?.getattr(self.class)?;
        let fields = PyDict::new(py);
        fields.set_item("hint", self.hint.as_deref().map(in_python))?;
        fields.set_item("path", self.path.as_ref().map(|path| path.display().to_string()))?;
        fields.set_item("line", self.line)?;
        Ok(PyErr::from_value(class.call((&self.message,), Some(&fields))?))
    }
}

impl From<Raised> for PyErr {
    fn from(raised: Raised) -> Self {
        Python::attach(|py| raised.exception(py).unwrap_or_else(|problem| problem))
    }
}

fn class(error: &Error) -> &'static str {
    match error {
        Error::Load(_) | Error::Split(SplitError::Array(_)) => "LoadError",
        Error::Config(_) | Error::Train(TrainError::Config(_)) | Error::Tune(TuneError::Config(_)) => "ConfigError",
        Error::File(_) => "ModelFileError",
        _ => "Error",
    }
}

/// An error and its causes in one line.
fn message(error: &Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        message.push_str(": ");
        message.push_str(error.to_string().trim_end());
        cause = error.source();
    }
    message
}

fn place(error: &Error) -> (Option<PathBuf>, Option<u64>) {
    match error {
        Error::Load(error) | Error::Split(SplitError::Array(error)) => place_in_data(error),
        Error::File(error) => (Some(error.path.clone()), None),
        Error::Config(ConfigError::Read { path, .. } | ConfigError::File { path, .. }) => (Some(path.clone()), None),
        _ => (None, None),
    }
}

/// What the library calls data that is in no file.
const IN_MEMORY: &str = "(in memory)";

fn place_in_data(error: &LoadError) -> (Option<PathBuf>, Option<u64>) {
    let (path, line) = match error {
        LoadError::Line { path, line, .. } => (path, Some(*line)),
        LoadError::Json { path, line, .. } => (path, Some(*line as u64)),
        LoadError::NoTable { folder, .. } | LoadError::TwoTables { folder, .. } => (folder, None),
        LoadError::NotFound { path }
        | LoadError::Read { path, .. }
        | LoadError::Write { path, .. }
        | LoadError::UnknownFormat { path }
        | LoadError::OneTable { path }
        | LoadError::Table { path, .. }
        | LoadError::Archive { path, .. }
        | LoadError::Array { path, .. }
        | LoadError::Ppi { path, .. }
        | LoadError::Packed { path, .. }
        | LoadError::NoNodes { path }
        | LoadError::NoAttributes { path }
        | LoadError::NoLinks { path }
        | LoadError::Directed { path, .. }
        | LoadError::Weighted { path }
        | LoadError::Width { path, .. } => (path, None),
        _ => return (None, None),
    };
    ((path != Path::new(IN_MEMORY)).then(|| path.clone()), line)
}

/// A hint with options of the command line written as arguments: `--unknown-nodes drop` as `unknown_nodes="drop"`.
fn in_python(hint: &str) -> String {
    let parts = hint.split('`').map(|part| match part.strip_prefix("--") {
        None => part.to_owned(),
        Some(option) => match option.split_once(' ') {
            Some((name, value)) => format!("{}=\"{value}\"", name.replace('-', "_")),
            None => option.replace('-', "_"),
        },
    });
    parts.collect::<Vec<_>>().join("`")
}
