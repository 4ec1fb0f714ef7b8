//! Connections: how many, how patient, and how they end.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::state::Server;

/// Connections at a time; more wait until one ends.
const MOST_CONNECTIONS: usize = 1_024;
/// Time for a request's headers to arrive.
const HEADERS: Duration = Duration::from_secs(10);
/// Time for requests to be answered after the end was asked for.
const FAREWELL: Duration = Duration::from_secs(15);

/// Serves requests, and watches the model's file, until `stop`; then answers what has begun.
pub async fn serve(listener: TcpListener, server: Arc<Server>, stop: impl Future<Output = ()>) {
    let app = crate::app(Arc::clone(&server));
    let watching = tokio::spawn(Arc::clone(&server).watch());
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEADERS);
    builder.http2().timer(TokioTimer::new()).max_concurrent_streams(64);
    let graceful = GracefulShutdown::new();
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut stop = std::pin::pin!(stop);
    loop {
        let accept = async {
            let permit = Arc::clone(&room).acquire_owned().await;
            (listener.accept().await, permit)
        };
        let (accepted, permit) = tokio::select! {
            accepted = accept => accepted,
            () = &mut stop => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of file handles, most likely: some will be free in a moment.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        // Small answers go out at once.
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(app.clone());
        let connection = builder.serve_connection(TokioIo::new(stream), service).into_owned();
        let watched = graceful.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = watched.await {
                tracing::debug!(error = error.as_ref(), "a connection ended early");
            }
            drop(permit);
        });
    }
    drop(listener);
    watching.abort();
    tracing::info!("stopping: answering what has begun");
    if tokio::time::timeout(FAREWELL, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests were not answered in time");
    }
}
