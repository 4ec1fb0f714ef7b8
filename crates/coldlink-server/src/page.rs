//! The page at `/`: a few files that are part of the program.

use axum::Router;
use axum::http::{HeaderValue, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::body::Path;

/// Nothing from elsewhere, nothing inline, in nobody's frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// What the page is made of: name, kind and contents.
const FILES: [(&str, &str, &str); 10] = [
    ("style.css", "text/css; charset=utf-8", include_str!("../page/style.css")),
    ("icon.svg", "image/svg+xml", include_str!("../page/icon.svg")),
    ("page.js", SCRIPT, include_str!("../page/page.js")),
    ("api.js", SCRIPT, include_str!("../page/api.js")),
    ("element.js", SCRIPT, include_str!("../page/element.js")),
    ("form.js", SCRIPT, include_str!("../page/form.js")),
    ("results.js", SCRIPT, include_str!("../page/results.js")),
    ("near.js", SCRIPT, include_str!("../page/near.js")),
    ("map.js", SCRIPT, include_str!("../page/map.js")),
    ("node.js", SCRIPT, include_str!("../page/node.js")),
];

/// Serves the page. It needs no token: it holds nothing of the model.
pub fn page<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let index = || async { answer("text/html; charset=utf-8", include_str!("../page/index.html")) };
    Router::new().route("/", get(index)).route("/page/{file}", get(file))
}

async fn file(Path(name): Path<String>, uri: Uri) -> Response {
    match FILES.iter().find(|(known, ..)| *known == name) {
        Some((_, kind, text)) => answer(kind, text),
        None => crate::unknown_path(uri).await.into_response(),
    }
}

fn answer(kind: &'static str, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
    ];
    (headers, text).into_response()
}
