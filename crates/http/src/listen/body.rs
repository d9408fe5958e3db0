//! The body of a request, bounded: in bytes, in the pauses of whoever sends it, and in all.
//!
//! What was wrong is kept beside the body, so that the answer says so whatever a handler made of a body that broke.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf as _, Bytes};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::time::{Instant, Sleep};

use super::bodies::{BodyCharge, Full};

/// Why a body was not read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Broken {
    #[error("the body is larger than it may be")]
    TooLarge,
    #[error("the body did not come in time")]
    TooSlow,
    #[error("the body ended before its end, or is malformed")]
    Malformed,
    #[error("there is no room for the body")]
    NoRoom,
}

/// What became of a body, seen from outside.
#[derive(Debug, Clone, Default)]
pub(super) struct Fate(Arc<Flags>);

#[derive(Debug, Default)]
struct Flags {
    flags: [AtomicBool; 5],
    full: OnceLock<Full>,
}

impl Fate {
    fn set(&self, index: usize) {
        if let Some(flag) = self.0.flags.get(index) {
            flag.store(true, Ordering::Release);
        }
    }

    fn is(&self, index: usize) -> bool {
        self.0.flags.get(index).is_some_and(|flag| flag.load(Ordering::Acquire))
    }

    fn broke(&self, how: Broken) {
        self.set(match how {
            Broken::TooLarge => 0,
            Broken::TooSlow => 1,
            Broken::Malformed => 2,
            Broken::NoRoom => 4,
        });
    }

    /// Which bound left no room for it.
    pub(super) fn full(&self) -> Option<&Full> {
        self.0.full.get()
    }

    /// What was wrong with it.
    pub(super) fn broken(&self) -> Option<Broken> {
        [(0, Broken::TooLarge), (1, Broken::TooSlow), (2, Broken::Malformed), (4, Broken::NoRoom)]
            .into_iter()
            .find_map(|(index, how)| self.is(index).then_some(how))
    }

    /// Whether it was read to its end.
    pub(super) fn ended(&self) -> bool {
        self.is(3)
    }
}

/// A body within bounds.
#[derive(Debug)]
pub(super) struct Bounded {
    inner: Incoming,
    left: u64,
    pause: Duration,
    waits: Option<Pin<Box<Sleep>>>,
    until: Option<Instant>,
    in_all: Duration,
    fate: Fate,
    charge: BodyCharge,
}

impl Bounded {
    pub(super) fn new(
        inner: Incoming,
        most: u64,
        (pause, in_all): (Duration, Duration),
        fate: Fate,
        charge: BodyCharge,
    ) -> Self {
        if inner.is_end_stream() {
            fate.set(3);
        }
        Self { inner, left: most, pause, waits: None, until: None, in_all, fate, charge }
    }

    fn broke(&self, how: Broken) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        self.fate.broke(how);
        Poll::Ready(Some(Err(how)))
    }
}

impl Body for Bounded {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = self.get_mut();
        if let Some(how) = this.fate.broken() {
            return Poll::Ready(Some(Err(how)));
        }
        match Pin::new(&mut this.inner).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                this.waits = None;
                let size =
                    frame.data_ref().map_or(0, |data| u64::try_from(data.remaining()).unwrap_or(u64::MAX));
                match this.left.checked_sub(size) {
                    Some(left) => this.left = left,
                    None => return this.broke(Broken::TooLarge),
                }
                if let Err(full) = this.charge.add(size) {
                    this.fate.0.full.get_or_init(|| full);
                    return this.broke(Broken::NoRoom);
                }
                if this.inner.is_end_stream() {
                    this.fate.set(3);
                }
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(Some(Err(error))) => {
                tracing::debug!(%error, "a body broke off");
                this.broke(Broken::Malformed)
            }
            Poll::Ready(None) => {
                this.fate.set(3);
                Poll::Ready(None)
            }
            Poll::Pending => {
                let now = Instant::now();
                let until = *this.until.get_or_insert(now + this.in_all);
                let pause = this.pause;
                let waits = this
                    .waits
                    .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until.min(now + pause))));
                match waits.as_mut().poll(cx) {
                    Poll::Ready(()) => this.broke(Broken::TooSlow),
                    Poll::Pending => Poll::Pending,
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
