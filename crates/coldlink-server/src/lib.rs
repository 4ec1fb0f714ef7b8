//! Links for new nodes over HTTP, with a page.
//!
//! [`app`] is the whole service: `POST /v1/links`, `/v1/score` and `/v1/embed` for new nodes, `/v1/nodes` and `/v1/map` for those of the
//! model, `/v1/model`, `/healthz`, `/metrics`, `/openapi.json`, and the page at `/`. A file for each; what they share is
//! in `state.rs` (the server), `served.rs` (one model), `work.rs` (threads), `error.rs` and `limits.rs`. [`serve()`] runs it on a
//! listener.

mod about;
mod auth;
mod bodies;
mod body;
mod columns;
mod connections;
mod document;
mod embed;
mod error;
mod limits;
mod links;
mod map;
mod metrics;
mod nodes;
mod page;
mod parts;
mod record;
mod reload;
mod repeated;
mod rows;
mod score;
mod serve;
mod served;
mod state;
mod stream;
mod work;

use std::any::Any;
use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderValue, Method, Uri, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub use auth::{Token, TokenError};
pub use connections::Patience;
pub use error::{ApiError, Code};
pub use limits::Limits;
pub use serve::serve;
pub use served::{Identity, Served};
pub use state::{Options, Server, StartError};

/// All paths, by which the metrics tell requests apart.
const PATHS: [&str; 13] = [
    "/",
    "/page/{file}",
    "/healthz",
    "/metrics",
    "/openapi.json",
    "/v1/model",
    "/v1/links",
    "/v1/score",
    "/v1/embed",
    "/v1/nodes",
    "/v1/nodes/{name}",
    "/v1/node",
    "/v1/map",
];

/// The service.
pub fn app(server: Arc<Server>) -> Router {
    let with_token = from_fn_with_state(Arc::clone(&server), auth::check_token);
    let guarded = Router::from(api()).route("/openapi.json", get(document::document)).route_layer(with_token);
    guarded
        .merge(Router::from(open_to_all()))
        .merge(page::page())
        .fallback(unknown_path)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(server.limits().body))
        .layer(CompressionLayer::new())
        .layer(from_fn(auth::check_site))
        .layer(from_fn_with_state(Arc::clone(&server), auth::check_host))
        .layer(from_fn_with_state(Arc::clone(&server), limit_time))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn(add_headers))
        .layer(from_fn_with_state(Arc::clone(&server), record::record))
        .with_state(server)
}

/// What needs the token, with its part of the OpenAPI document.
fn api() -> OpenApiRouter<Arc<Server>> {
    OpenApiRouter::with_openapi(document::Head::openapi())
        .routes(routes!(links::links))
        .routes(routes!(score::score))
        .routes(routes!(embed::embed))
        .routes(routes!(nodes::search, nodes::add))
        .routes(routes!(nodes::look))
        .routes(routes!(nodes::look_by_name))
        .routes(routes!(map::map))
        .routes(routes!(about::model))
        .routes(routes!(metrics::metrics))
}

/// What anybody may ask.
fn open_to_all() -> OpenApiRouter<Arc<Server>> {
    OpenApiRouter::default().routes(routes!(about::health))
}

async fn unknown_path(uri: Uri) -> ApiError {
    ApiError::new(
        Code::UnknownPath,
        format!("there is nothing at `{}`", uri.path()),
        "GET /openapi.json lists all paths",
    )
}

async fn wrong_method(method: Method, uri: Uri) -> ApiError {
    let message = format!("`{}` cannot be asked for with {method}", uri.path());
    ApiError::new(Code::WrongMethod, message, "the header `Allow` has the methods that can be used")
}

/// No request is worked on for ever. Adding nodes watches its time by itself: once it writes, it is waited for.
async fn limit_time(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    if request.method() == Method::POST && request.uri().path() == nodes::PATH {
        return next.run(request).await;
    }
    let answered = tokio::time::timeout(server.limits().time(), next.run(request)).await;
    answered.unwrap_or_else(|_| work::too_slow().into_response())
}

/// Browsers take answers for what they are said to be, keep none, and tell nobody where they come from.
async fn add_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    tracing::error!(panic = text.unwrap_or("of unknown kind"), "a request made the server panic");
    ApiError::internal().into_response()
}
