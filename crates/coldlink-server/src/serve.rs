//! The listener: it takes connections, attends to each, and ends them.

use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::response::Response;
use http_body_util::BodyExt;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tower::{ServiceExt, service_fn};

use crate::connections::{Connection, Connections, Place};
use crate::state::Server;

/// Time for a request's headers to arrive.
const HEADERS: Duration = Duration::from_secs(10);
/// Requests of one HTTP/2 connection at a time.
const MOST_STREAMS: u32 = 32;
/// Bytes of a request's body, and of all bodies of an HTTP/2 connection, that are taken before somebody reads them.
const WINDOWS: (u32, u32) = (64 << 10, 256 << 10);
/// Whether the other end of an HTTP/2 connection is there is asked so often, and must be answered within so long.
const KEEP_ALIVE: (Duration, Duration) = (Duration::from_secs(20), Duration::from_secs(10));
/// Time for a connection to end after it was asked to.
const GRACE: Duration = Duration::from_secs(5);
/// Time for requests to be answered after the end was asked for.
const FAREWELL: Duration = Duration::from_secs(15);

/// Serves requests, and watches the model's file, until `stop`; then answers what has begun.
pub async fn serve(listener: TcpListener, server: Arc<Server>, stop: impl Future<Output = ()>) {
    let app = crate::app(Arc::clone(&server));
    let watching = tokio::spawn(Arc::clone(&server).watch());
    let builder = builder();
    let connections = Arc::new(Connections::new(server.limits().connections));
    let (stopping, stopped) = watch::channel(false);
    // Each connection holds a sender: when all are gone, nothing can be received any more.
    let (open, mut all_ended) = mpsc::channel::<Infallible>(1);
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        let (stream, address) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of file handles, most likely: one must go for others to come.
                tracing::warn!(%error, "a connection could not be accepted");
                connections.evict();
                tokio::time::sleep(Duration::from_millis(10)).await;
                continue;
            }
        };
        let place = connections.enter(address.ip());
        let task = attend(builder.clone(), stream, app.clone(), place, stopped.clone());
        let open = open.clone();
        tokio::spawn(async move {
            task.await;
            drop(open);
        });
    }
    drop((listener, open));
    watching.abort();
    tracing::info!("stopping: answering what has begun");
    let _ = stopping.send(true);
    if tokio::time::timeout(FAREWELL, all_ended.recv()).await.is_err() {
        tracing::warn!("some requests were not answered in time");
    }
}

fn builder() -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEADERS);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(MOST_STREAMS)
        .initial_stream_window_size(WINDOWS.0)
        .initial_connection_window_size(WINDOWS.1)
        .keep_alive_interval(KEEP_ALIVE.0)
        .keep_alive_timeout(KEEP_ALIVE.1);
    builder
}

/// Serves one connection until it ends, has to end, or is ended.
async fn attend(
    builder: Builder<TokioExecutor>,
    stream: TcpStream,
    app: Router,
    place: Place,
    mut stopping: watch::Receiver<bool>,
) {
    // Small answers go out at once.
    let _ = stream.set_nodelay(true);
    let entry = place.connection();
    let counted = Arc::clone(&entry);
    let service = service_fn(move |request| answer(app.clone(), Arc::clone(&counted), request));
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(service)));
    // When it is cut off, after it was asked to end.
    let mut cut_off: Option<Instant> = None;
    loop {
        let look_at = cut_off.or_else(|| entry.deadline()).unwrap_or_else(|| Instant::now() + Duration::from_secs(1));
        tokio::select! {
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    tracing::debug!(error = error.as_ref(), "a connection ended early");
                }
                return;
            }
            () = entry.evicted() => return,
            Ok(()) = stopping.changed(), if cut_off.is_none() => {
                connection.as_mut().graceful_shutdown();
                cut_off = Some(Instant::now() + FAREWELL);
            }
            () = tokio::time::sleep_until(look_at.into()) => {}
        }
        let now = Instant::now();
        match cut_off {
            Some(end) if end <= now => return,
            None if entry.deadline().is_some_and(|end| end <= now) => {
                connection.as_mut().graceful_shutdown();
                cut_off = Some(now + GRACE);
            }
            _ => {}
        }
    }
}

/// Answers a request, and keeps account of it until the last byte of the answer was taken.
async fn answer<B>(app: Router, connection: Arc<Connection>, request: Request<B>) -> Result<Response, Infallible>
where
    B: HttpBody<Data = axum::body::Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError>,
{
    let working = connection.begin();
    let response = app.oneshot(request.map(Body::new)).await?;
    let answering = working.answered();
    let account = move |error: axum::Error| {
        let _until_the_body_is_gone = &answering;
        error
    };
    Ok(response.map(|body| Body::new(body.map_err(account))))
}
