//! What a request holds until the last byte of its answer is sent: its place among those under way.
//!
//! A stream that somebody watches ends when the server does. A `GET` does nothing, so its stream is somebody watching;
//! the stream of anything else is a call, which goes on to its own end.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::WaitForCancellationFutureOwned;

use crate::listen::Staying;

/// What is held. It is given back when the last copy is dropped.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    _inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    _place: Option<OwnedSemaphorePermit>,
    _staying: Option<Staying>,
    _counted: Counted,
}

impl Held {
    /// A request under way of nobody: its connection goes where another needs the room.
    pub(super) fn of_nobody() -> Self {
        Self { _inner: Arc::new(Inner { _place: None, _staying: None, _counted: Counted::new() }) }
    }

    /// A request under way of a caller, with its place; its connection stays.
    pub(super) fn of_caller(place: OwnedSemaphorePermit, staying: Option<Staying>) -> Self {
        let inner = Inner { _place: Some(place), _staying: staying, _counted: Counted::new() };
        Self { _inner: Arc::new(inner) }
    }
}

/// One request under way, as it is counted.
#[derive(Debug)]
struct Counted;

impl Counted {
    fn new() -> Self {
        metrics::gauge!("bailiwick_http_requests_under_way").increment(1.0);
        Self
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        metrics::gauge!("bailiwick_http_requests_under_way").decrement(1.0);
    }
}

/// The body of an answer with what is held for it.
pub(super) struct HeldBody {
    inner: Body,
    held: Option<Held>,
    ends: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
}

impl HeldBody {
    /// `ends` tells when the stream of somebody who watches is over.
    pub(super) fn new(inner: Body, held: Held, ends: Option<WaitForCancellationFutureOwned>) -> Self {
        Self { inner, held: Some(held), ends: ends.map(Box::pin) }
    }

    fn over(&mut self) {
        drop(self.held.take());
    }
}

impl HttpBody for HeldBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.inner).poll_frame(cx);
        let ended = match &polled {
            Poll::Ready(Some(Ok(_))) => false,
            Poll::Ready(None | Some(Err(_))) => true,
            Poll::Pending => this.ends.as_mut().is_some_and(|ends| ends.as_mut().poll(cx).is_ready()),
        };
        if !ended {
            return polled;
        }
        this.over();
        if polled.is_pending() { Poll::Ready(None) } else { polled }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl Drop for HeldBody {
    fn drop(&mut self) {
        self.over();
    }
}
