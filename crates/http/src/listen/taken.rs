//! The answers of one connection of HTTP/2, and how long each has waited to be taken.
//!
//! Over HTTP/1 a client that does not read stops our writes, and [`super::watched`] notices. Over HTTP/2 a client that opens no window
//! stops nothing but the answer: the socket stays free, pings are answered, and the answer would wait here for ever. So the body of
//! each answer is handed out in small pieces, each only once the one before was taken, and the connection is given up when one of
//! them has waited for too long.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::time::Instant;

/// The largest piece of an answer that waits in the connection itself.
const PIECE: usize = 16 << 10;
/// How many looks there are within the time that an answer may wait.
const LOOKS: u32 = 4;

/// Since when an answer waits for its client; none while it waits for us.
type Since = Mutex<Option<Instant>>;

/// The answers of a connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Answers(Arc<Mutex<Vec<Weak<Since>>>>);

impl Answers {
    /// The body of an answer, watched.
    pub(super) fn watch(&self, body: Body) -> Body {
        let since = Arc::new(Mutex::new(Some(Instant::now())));
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|one| one.strong_count() > 0);
        all.push(Arc::downgrade(&since));
        drop(all);
        Body::new(Taken { body, rest: Bytes::new(), since })
    }

    /// Returns once an answer has waited for its client for so long.
    pub(super) async fn wait_for(&self, most: Duration) {
        loop {
            tokio::time::sleep(most / LOOKS).await;
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            all.retain(|one| one.strong_count() > 0);
            let waits = |since: Arc<Since>| {
                since.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|at| at.elapsed() >= most)
            };
            if all.iter().filter_map(Weak::upgrade).any(waits) {
                return;
            }
        }
    }
}

/// The body of an answer, in pieces.
struct Taken {
    body: Body,
    /// What is left of a piece that was larger.
    rest: Bytes,
    since: Arc<Since>,
}

impl Taken {
    fn waits(&self, since: Option<Instant>) {
        *self.since.lock().unwrap_or_else(PoisonError::into_inner) = since;
    }
}

impl HttpBody for Taken {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = self.get_mut();
        if this.rest.is_empty() {
            match Pin::new(&mut this.body).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => this.rest = data,
                    Err(other) => {
                        this.waits(Some(Instant::now()));
                        return Poll::Ready(Some(Ok(other)));
                    }
                },
                Poll::Pending => {
                    this.waits(None);
                    return Poll::Pending;
                }
                ended @ Poll::Ready(_) => return ended,
            }
        }
        this.waits(Some(Instant::now()));
        let piece = this.rest.split_to(this.rest.len().min(PIECE));
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (rest, inner) = (self.rest.len() as u64, self.body.size_hint());
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower().saturating_add(rest));
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper.saturating_add(rest));
        }
        hint
    }
}
