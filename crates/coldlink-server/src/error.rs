//! The one shape of errors: a code for programs, a message and a hint for people.

use std::fmt;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use coldlink::Hint;
use coldlink::dataset::LinkProblem;
use coldlink::hint::{Command, Wording};
use coldlink::load::{LineProblem, LoadError};
use coldlink::model::{AddError, FilterError, QueryError};
use serde::Serialize;
use utoipa::ToSchema;

/// Quoted input is cut to this many characters.
const LONGEST_MESSAGE: usize = 400;

/// What is wrong, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The body is no JSON.
    BadJson,
    /// A value is of the wrong type, or out of range.
    BadValue,
    /// The path or the query cannot be read.
    BadPath,
    /// A token is needed, or it is another one.
    Unauthorized,
    /// The request names another host than this one.
    WrongHost,
    /// The server was started to change nothing.
    ReadOnly,
    /// No node has that name.
    UnknownNode,
    /// No node has that value, or is of that node type.
    UnknownValue,
    /// There is nothing at that path.
    UnknownPath,
    /// The path knows other methods.
    WrongMethod,
    /// A node of that name is there already, or twice in the request.
    KnownNode,
    /// Another request had the same key.
    KeyReused,
    /// A page of another site asks.
    OtherSite,
    /// The body, or the number of all links that are asked for, is beyond the limits.
    TooLarge,
    /// The body is not declared as JSON.
    WrongMediaType,
    /// Too many requests are waiting.
    Overloaded,
    /// It took longer than the time limit.
    TooSlow,
    /// The model's file is another one than the one that is served, and cannot be used.
    OtherModel,
    /// A model with new nodes could not be written.
    CannotSave,
    /// A fault of the server.
    Internal,
}

impl Code {
    /// The status it is answered with.
    pub fn status(self) -> StatusCode {
        match self {
            Code::BadJson | Code::BadValue | Code::BadPath => StatusCode::BAD_REQUEST,
            Code::Unauthorized => StatusCode::UNAUTHORIZED,
            Code::WrongHost | Code::OtherSite | Code::ReadOnly => StatusCode::FORBIDDEN,
            Code::UnknownNode | Code::UnknownValue | Code::UnknownPath => StatusCode::NOT_FOUND,
            Code::WrongMethod => StatusCode::METHOD_NOT_ALLOWED,
            Code::KnownNode | Code::KeyReused | Code::OtherModel => StatusCode::CONFLICT,
            Code::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Code::WrongMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Code::Overloaded | Code::TooSlow => StatusCode::SERVICE_UNAVAILABLE,
            Code::CannotSave | Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

/// An answer that is an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ApiError {
    /// For programs.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

/// The body of every answer that is an error.
#[derive(Serialize, ToSchema)]
pub struct ErrorBody {
    /// The error.
    pub error: ApiError,
}

impl ApiError {
    /// An error with what to do about it.
    pub fn new(code: Code, message: impl Into<String>, hint: impl Into<String>) -> Self {
        let mut message = message.into();
        if let Some((end, _)) = message.char_indices().nth(LONGEST_MESSAGE) {
            message.truncate(end);
            message.push('…');
        }
        ApiError { code, message, hint: hint.into() }
    }

    /// No node has that name.
    pub fn unknown_node(name: &str) -> Self {
        let hint = "GET /v1/nodes?prefix=… lists names; new nodes stand in `nodes` of the request";
        ApiError::new(Code::UnknownNode, format!("there is no node `{name}`"), hint)
    }

    /// A fault of the server, of which the log has more.
    pub fn internal() -> Self {
        ApiError::new(
            Code::Internal,
            "the server failed on this request",
            "the server's log says more; please report it",
        )
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let code = self.code;
        let mut response = (code.status(), Json(ErrorBody { error: self })).into_response();
        let (name, value) = match code {
            Code::Unauthorized => (header::WWW_AUTHENTICATE, "Bearer"),
            Code::Overloaded | Code::TooSlow => (header::RETRY_AFTER, "1"),
            _ => return response,
        };
        response.headers_mut().insert(name, HeaderValue::from_static(value));
        response
    }
}

/// An error with all its causes, as logs show it.
pub struct Causes<'a>(pub &'a (dyn std::error::Error + 'static));

impl fmt::Display for Causes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(next) = cause {
            write!(f, ": {next}")?;
            cause = next.source();
        }
        Ok(())
    }
}

/// What the library refuses, with the library's own words. Only here its errors get codes and their hints are read.
fn refused(code: Code, message: impl Into<String>, hint: Option<Hint>) -> ApiError {
    ApiError::new(code, message, worded(hint))
}

impl From<LoadError> for ApiError {
    fn from(error: LoadError) -> Self {
        let (code, message) = match &error {
            LoadError::Line { line, problem, .. } => {
                let repeated = matches!(problem, LineProblem::RepeatedNode { .. });
                (if repeated { Code::KnownNode } else { Code::BadValue }, format!("node {line}: {problem}"))
            }
            LoadError::Table { problem, .. } => (Code::BadValue, problem.to_string()),
            other => (Code::BadValue, other.to_string()),
        };
        refused(code, message, error.hint())
    }
}

impl From<QueryError> for ApiError {
    fn from(error: QueryError) -> Self {
        let code = match error {
            QueryError::UnknownNode { .. }
            | QueryError::NotKnown { .. }
            | QueryError::Link { problem: LinkProblem::UnknownNode { .. }, .. } => Code::UnknownNode,
            QueryError::Link { problem: LinkProblem::UnknownRelation { .. }, .. } => Code::UnknownValue,
            QueryError::Filter(
                FilterError::NotACondition { .. } | FilterError::NotNumeric { .. } | FilterError::NotFiltered { .. },
            ) => Code::BadValue,
            QueryError::Filter(_) | QueryError::UnknownRelation { .. } | QueryError::NoDirection => Code::UnknownValue,
            _ => Code::BadValue,
        };
        refused(code, error.to_string(), error.hint())
    }
}

impl From<AddError> for ApiError {
    fn from(error: AddError) -> Self {
        let code = match error {
            AddError::Known { .. } | AddError::Repeated { .. } => Code::KnownNode,
            _ => Code::BadValue,
        };
        refused(code, error.to_string(), error.hint())
    }
}

/// A request has none of the options that hints of the library name: what they offer is the business of whoever runs the server.
struct Http;

impl Wording for Http {
    fn option(&self, _: &str, _: Option<&str>) -> Option<String> {
        None
    }

    fn setting(&self, _: &str, _: &str) -> Option<String> {
        None
    }

    fn command(&self, _: Command) -> Option<String> {
        None
    }
}

fn worded(hint: Option<Hint>) -> String {
    hint.and_then(|hint| hint.worded(&Http))
        .unwrap_or_else(|| "GET /v1/model describes new nodes and the limits".to_owned())
}

#[cfg(test)]
mod tests {
    use coldlink::storage::{FileError, FileProblem};

    use super::*;

    #[test]
    fn a_log_has_all_causes_of_an_error() {
        let problem = FileProblem::Io(std::io::Error::other("the disk is gone"));
        let error = FileError { path: "papers.model".into(), problem };
        assert_eq!(error.to_string(), "cannot open `papers.model`");
        assert_eq!(Causes(&error).to_string(), "cannot open `papers.model`: the disk is gone");
    }
}
