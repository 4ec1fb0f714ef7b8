//! Errors of the library as exceptions of `coldlink.errors`, with their fields.

use std::error::Error as _;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use coldlink::config::ConfigError;
use coldlink::hint::{Command, Wording};
use coldlink::load::{LineProblem, LoadError};
use coldlink::model::QueryError;
use coldlink::split::SplitError;
use coldlink::storage::FileError;
use coldlink::train::TrainError;
use coldlink::tune::TuneError;
use coldlink::{Error, Hint};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The exception for an error of the library.
pub fn raised(error: impl Into<Error>) -> PyErr {
    let error = error.into();
    let (path, line) = place(&error);
    Raised { class: class(&error), message: message(&error), hint: worded(error.hint()), path, line }.into()
}

/// A hint in the words of Python; none where Python offers none of its ways out.
fn worded(hint: Option<Hint>) -> Option<String> {
    hint?.worded(&Arguments)
}

/// An exception `LoadError` about something that was handed over in memory.
pub fn refused(message: impl Into<String>, hint: &str) -> PyErr {
    Raised { class: "LoadError", message: message.into(), hint: Some(hint.to_owned()), path: None, line: None }.into()
}

/// The exception for an error in tables of Python, whose rows are counted from 0.
pub fn refused_rows(error: LoadError) -> PyErr {
    let hint = worded(error.hint());
    let LoadError::Line { path, line, problem } = error else { return raised(error) };
    let row = |line: u64| line.saturating_sub(1);
    let problem = match problem {
        LineProblem::RepeatedNode { name, first } => format!("node `{name}` is in row {} already", row(first)),
        problem => problem.to_string(),
    };
    let message = format!("row {} of `{}`: {problem}", row(line), path.display());
    Raised { class: "LoadError", message, hint, path: None, line: None }.into()
}

/// The same about a file.
pub fn refused_file(path: &Path, message: impl Into<String>, hint: &str) -> PyErr {
    let path = Some(path.to_owned());
    Raised { class: "LoadError", message: message.into(), hint: Some(hint.to_owned()), path, line: None }.into()
}

/// An exception `ConfigError` about an argument.
pub fn misconfigured(message: impl Into<String>, hint: Option<&str>) -> PyErr {
    let hint = hint.map(str::to_owned);
    Raised { class: "ConfigError", message: message.into(), hint, path: None, line: None }.into()
}

/// The same about a value that an argument cannot have.
pub fn out_of_range(argument: &str, range: &str, value: impl Display) -> PyErr {
    misconfigured(format!("`{argument}` must be {range}, got {value}"), None)
}

/// The exception for a query that cannot be answered: `LoadError` about nodes, else `ConfigError`.
pub fn unanswered(error: QueryError) -> PyErr {
    let class = match error {
        QueryError::NotFinite { .. }
        | QueryError::Width { .. }
        | QueryError::UnknownNode { .. }
        | QueryError::NotKnown { .. }
        | QueryError::Link { .. } => "LoadError",
        _ => "ConfigError",
    };
    Raised { class, message: error.to_string(), hint: worded(error.hint()), path: None, line: None }.into()
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
        fields.set_item("hint", self.hint.as_deref())?;
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
        Error::Load(_) | Error::Split(SplitError::Array(_)) | Error::HeldOut(_) | Error::Referee(_) => "LoadError",
        Error::Config(_)
        | Error::Filter(_)
        | Error::Train(TrainError::Config(_))
        | Error::Tune(TuneError::Config(_) | TuneError::Train(TrainError::Config(_))) => "ConfigError",
        Error::File(_) | Error::Index(_) => "ModelFileError",
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
        | LoadError::File(FileError { path, .. })
        | LoadError::MissingFeature { path, .. }
        | LoadError::NoNodes { path }
        | LoadError::NoAttributes { path }
        | LoadError::NoLinks { path }
        | LoadError::UnknownRelation { path, .. }
        | LoadError::Width { path, .. } => (path, None),
        _ => return (None, None),
    };
    ((path != Path::new(IN_MEMORY)).then(|| path.clone()), line)
}

/// Hints of the library as arguments and methods of the package.
struct Arguments;

impl Wording for Arguments {
    fn option(&self, name: &str, value: Option<&str>) -> Option<String> {
        if name == "undirected" {
            return Some("directed=False".to_owned());
        }
        let known = ["columns", "protocol", "seed", "strict-input", "unknown-nodes", "validation"];
        let name = known.contains(&name).then(|| name.replace('-', "_"))?;
        Some(value.map_or_else(|| name.clone(), |value| format!("{name}={}", literal(value))))
    }

    fn setting(&self, key: &str, value: &str) -> Option<String> {
        Some(format!("{key}={}", literal(value)))
    }

    fn command(&self, command: Command) -> Option<String> {
        match command {
            Command::Convert => Some("Graph.save".to_owned()),
            Command::Train => Some("Model.fit".to_owned()),
            _ => None,
        }
    }
}

/// A value as Python writes it.
fn literal(value: &str) -> String {
    if value.parse::<f64>().is_ok() { value.to_owned() } else { format!("\"{value}\"") }
}
