//! Every request leaves a line in the log and a count in the metrics.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;

use crate::state::Server;

/// Passes a request on and notes how it was answered.
pub async fn record(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let in_flight = server.metrics.begin();
    let response = next.run(request).await;
    drop(in_flight);
    let (time, status) = (started.elapsed(), response.status());
    let route = route.as_ref().map(MatchedPath::as_str);
    server.metrics.count(method.as_str(), route, status.as_u16(), time);
    let milliseconds = time.as_secs_f64() * 1e3;
    // Whoever looks after the server asks for these every few seconds.
    if matches!(route, Some("/healthz" | "/metrics")) && status.is_success() {
        tracing::debug!(%method, path, status = status.as_u16(), milliseconds, "answered");
    } else if status.is_server_error() {
        tracing::warn!(%method, path, status = status.as_u16(), milliseconds, "answered");
    } else {
        tracing::info!(%method, path, status = status.as_u16(), milliseconds, "answered");
    }
    response
}
