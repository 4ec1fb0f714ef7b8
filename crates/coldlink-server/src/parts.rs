//! Bodies on their way, so that a connection knows when a request is whole and when an answer was taken.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::BoxError;
use axum::body::{Body, Bytes, HttpBody};
use http_body::{Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;

use crate::connections::Asked;

/// Bytes of an answer that are handed over at a time.
const PART: usize = 16 << 10;

/// The body of a request; its end is told.
pub struct Arriving {
    pub body: UnsyncBoxBody<Bytes, BoxError>,
    pub asked: Arc<Asked>,
}

impl HttpBody for Arriving {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        if matches!(frame, Poll::Ready(None)) || self.body.is_end_stream() {
            self.asked.received();
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The body of an answer, in parts: it is there until the last one is asked for.
pub struct Leaving {
    pub body: Body,
    pub rest: Bytes,
    pub _asked: Arc<Asked>,
}

impl HttpBody for Leaving {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.rest.is_empty() {
            match Pin::new(&mut self.body).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(other) => return Poll::Ready(Some(Ok(other))),
                },
                other => return other,
            }
        }
        let part = PART.min(self.rest.len());
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(part)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (mut hint, rest) = (self.body.size_hint(), self.rest.len() as u64);
        match hint.exact() {
            Some(exact) => hint.set_exact(exact + rest),
            None => hint.set_lower(hint.lower() + rest),
        }
        hint
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use http_body_util::BodyExt;

    use super::*;
    use crate::connections::Connections;

    #[tokio::test]
    async fn an_answer_comes_whole_and_in_small_parts() {
        let place = Arc::new(Connections::new(1)).enter(Ipv4Addr::LOCALHOST.into());
        let whole: Bytes = (0..100_000_u32).map(|byte| byte as u8).collect();
        let asked = Arc::new(place.connection().begin());
        let mut body = Leaving { body: Body::from(whole.clone()), rest: Bytes::new(), _asked: asked };
        let mut taken = Vec::new();
        while let Some(frame) = body.frame().await {
            let part = frame.unwrap().into_data().unwrap();
            assert!((1..=PART).contains(&part.len()));
            taken.extend_from_slice(&part);
            assert_eq!(body.size_hint().exact(), Some((whole.len() - taken.len()) as u64));
            assert_eq!(body.is_end_stream(), taken.len() == whole.len());
        }
        assert_eq!(taken, whole);
    }
}
