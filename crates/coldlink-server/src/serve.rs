//! The listener: it takes connections, attends to each, and ends them.

use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::response::Response;
use http_body_util::BodyExt;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tower::{ServiceExt, service_fn};

use crate::connections::{Connection, Connections, End, Patience, Place};
use crate::error::Causes;
use crate::parts::{Arriving, Leaving};
use crate::state::Server;
use crate::stream::Watched;

/// Requests of one HTTP/2 connection at a time.
const MOST_STREAMS: u32 = 32;
/// Bytes of a request's body, and of all bodies of an HTTP/2 connection, that are taken before somebody reads them.
const WINDOWS: (u32, u32) = (64 << 10, 256 << 10);
/// Bytes of headers, and of answers that wait for the system, in a connection.
const BUFFER: usize = 64 << 10;
/// Time for requests to be answered after the end was asked for.
const FAREWELL: Duration = Duration::from_secs(15);
/// Files that the server itself may have open: models, locks, the log.
const OWN_FILES: usize = 64;

/// Serves requests, and watches the model's file, until `stop`; then answers what has begun.
pub async fn serve(listener: TcpListener, server: Arc<Server>, stop: impl Future<Output = ()>) {
    let app = crate::app(Arc::clone(&server));
    let watching = tokio::spawn(Arc::clone(&server).watch());
    let patience = Arc::new(server.options.patience.clone());
    let builder = builder(&patience);
    let connections = Arc::new(Connections::new(most_connections(server.limits().connections)));
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
                tracing::warn!(error = %Causes(&error), "a connection could not be accepted");
                connections.evict();
                tokio::time::sleep(Duration::from_millis(10)).await;
                continue;
            }
        };
        let place = connections.enter(address.ip());
        let attended = Attended { stream, place, patience: Arc::clone(&patience), stopping: stopped.clone() };
        let task = attended.until_its_end(builder.clone(), app.clone());
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

/// As many as asked for, and as the system has files for: what the server opens must never fail for lack of them.
fn most_connections(asked: usize) -> usize {
    match open_files() {
        Some(files) if files < asked.saturating_add(OWN_FILES) => {
            let most = files.saturating_sub(OWN_FILES).max(1);
            tracing::warn!(asked, most, "fewer connections are taken: the system allows {files} open files");
            most
        }
        _ => asked,
    }
}

/// How many files this process may have open, where the system tells.
fn open_files() -> Option<usize> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

fn builder(patience: &Patience) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    // Headers have a time limit of our own, which is not that of silence.
    builder.http1().timer(TokioTimer::new()).header_read_timeout(None).max_buf_size(BUFFER);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(MOST_STREAMS)
        .initial_stream_window_size(WINDOWS.0)
        .initial_connection_window_size(WINDOWS.1)
        .max_send_buf_size(BUFFER)
        .keep_alive_interval(2 * patience.sign_of_life)
        .keep_alive_timeout(patience.sign_of_life);
    builder
}

/// A connection with all that decides about its end.
struct Attended {
    stream: TcpStream,
    place: Place,
    patience: Arc<Patience>,
    stopping: watch::Receiver<bool>,
}

impl Attended {
    /// Serves it until it ends, has to end, or is ended.
    async fn until_its_end(self, builder: Builder<TokioExecutor>, app: Router) {
        let Attended { stream, place, patience, mut stopping } = self;
        // Small answers go out at once.
        let _ = stream.set_nodelay(true);
        let entry = place.connection();
        let counted = Arc::clone(&entry);
        let service = service_fn(move |request| answer(app.clone(), Arc::clone(&counted), request));
        let io = TokioIo::new(Watched { stream, connection: Arc::clone(&entry) });
        let mut connection = pin!(builder.serve_connection(io, TowerToHyperService::new(service)));
        // When it is cut off, after it was asked to end.
        let mut cut_off: Option<Instant> = None;
        loop {
            tokio::select! {
                ended = connection.as_mut() => {
                    if let Err(error) = ended {
                        tracing::debug!(error = %Causes(error.as_ref()), "a connection ended early");
                    }
                    return;
                }
                () = entry.evicted() => {
                    tracing::debug!("a connection made place for another");
                    return;
                }
                Ok(()) = stopping.changed(), if cut_off.is_none() => {
                    connection.as_mut().graceful_shutdown();
                    cut_off = Some(Instant::now() + FAREWELL);
                }
                () = tokio::time::sleep(patience.look_every()) => {}
            }
            let now = Instant::now();
            match entry.end(&patience) {
                _ if cut_off.is_some_and(|end| end <= now) => return,
                Some(End::CutOff(end)) if end <= now => {
                    tracing::debug!("a connection was cut off: its answer was not taken");
                    return;
                }
                Some(End::Asked(end)) if end <= now && cut_off.is_none() => {
                    connection.as_mut().graceful_shutdown();
                    cut_off = Some(now + patience.farewell);
                }
                _ => {}
            }
        }
    }
}

/// Answers a request, and keeps account of it until the last byte of the answer was taken.
async fn answer<B>(app: Router, connection: Arc<Connection>, request: Request<B>) -> Result<Response, Infallible>
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError>,
{
    let asked = Arc::new(connection.begin());
    if request.body().is_end_stream() {
        asked.received();
    }
    let arriving = Arc::clone(&asked);
    let arriving = |body: B| Arriving { body: body.map_err(Into::into).boxed_unsync(), asked: arriving };
    let response = app.oneshot(request.map(|body| Body::new(arriving(body)))).await?;
    asked.answered();
    Ok(response.map(|body| Body::new(Leaving { body, rest: Bytes::new(), _asked: asked })))
}
