//! Work on the processor: on its own threads, so that others are still answered; bounded in number and time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use axum::body::Bytes;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::error::{ApiError, Causes, Code};
use crate::served::Served;
use crate::state::Server;

/// When a request must be done.
#[derive(Clone, Copy)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    /// Long work asks this now and then, so that it ends when nobody waits for it any more.
    pub fn check(self) -> Result<(), ApiError> {
        match self.0 {
            Some(end) if Instant::now() > end => Err(too_slow()),
            _ => Ok(()),
        }
    }
}

/// The answer to a request that took too long.
pub fn too_slow() -> ApiError {
    ApiError::new(Code::TooSlow, "this took longer than the time limit", "ask for less at once, or try again later")
}

/// JSON that is ready to be sent.
pub struct Answer(Bytes);

impl Answer {
    /// Its bytes count among those of all answers until the last of them was taken.
    fn of(value: &impl Serialize, server: &Server) -> Result<Self, ApiError> {
        let json = serde_json::to_vec(value).map_err(|error| {
            tracing::error!(error = %Causes(&error), "an answer cannot be written as JSON");
            ApiError::internal()
        })?;
        let size = u32::try_from(json.len()).map_err(|_| server.overloaded())?;
        let counted = Arc::clone(&server.answers).try_acquire_many_owned(size).map_err(|_| server.overloaded())?;
        Ok(Answer(Bytes::from_owner(Counted { json, _counted: counted })))
    }
}

/// Bytes of an answer with their permits.
struct Counted {
    json: Vec<u8>,
    _counted: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.json
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], self.0).into_response()
    }
}

impl Server {
    /// Works on a request with the model of the moment, and writes the answer.
    pub(crate) async fn answer<T: Serialize>(
        self: &Arc<Self>,
        work: impl FnOnce(&Served, Deadline) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<Answer, ApiError> {
        let (server, served) = (Arc::clone(self), self.current());
        self.work(move |deadline| Answer::of(&work(&served, deadline)?, &server)).await
    }

    /// Counts and tells that too much waits already.
    pub(crate) fn overloaded(&self) -> ApiError {
        self.metrics.count_overload();
        ApiError::new(Code::Overloaded, "too many requests are waiting", "try again in a second")
    }

    /// Does some work on the threads for it, unless too much waits for them already.
    pub(crate) async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(Deadline) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let Ok(permit) = Arc::clone(&self.admitted).try_acquire_owned() else {
            return Err(self.overloaded());
        };
        let deadline = Deadline(Instant::now().checked_add(self.limits().time()));
        let (sender, receiver) = oneshot::channel();
        self.pool.spawn(move || {
            // Whoever asked has gone: nothing is worked on for nobody.
            if sender.is_closed() {
                return;
            }
            let work = || deadline.check().and_then(|()| work(deadline));
            let done = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(ApiError::internal()));
            drop(permit);
            // An error means only that whoever asked has gone since.
            let _ = sender.send(done);
        });
        receiver.await.unwrap_or_else(|_| Err(ApiError::internal()))
    }
}
