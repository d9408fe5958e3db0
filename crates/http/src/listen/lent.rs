//! A connection's stream, lent to whoever speaks over it: it comes back when they let go of it.
//!
//! Who has it may be the server of HTTP or, after an upgrade, somebody who speaks another protocol. Either way the
//! connection keeps its place until its stream is back, and only then it is ended. It must never be ended by whoever it
//! is lent to: a client that still sends would lose the answer.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::oneshot;

/// A stream that goes back to its owner.
#[derive(Debug)]
pub(super) struct Lent<S> {
    /// There until it is dropped.
    stream: Option<S>,
    back: Option<oneshot::Sender<S>>,
}

impl<S> Lent<S> {
    /// Lends a stream; it comes back over the channel.
    pub(super) fn new(stream: S) -> (Self, oneshot::Receiver<S>) {
        let (sender, receiver) = oneshot::channel();
        (Self { stream: Some(stream), back: Some(sender) }, receiver)
    }
}

impl<S> Drop for Lent<S> {
    fn drop(&mut self) {
        if let (Some(stream), Some(back)) = (self.stream.take(), self.back.take()) {
            // An owner that is gone does not want it.
            let _gone = back.send(stream);
        }
    }
}

fn gone() -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, "the stream was given back")
}

impl<S: Unpin> Lent<S> {
    fn stream<T>(
        self: Pin<&mut Self>,
        does: impl FnOnce(Pin<&mut S>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        match &mut self.get_mut().stream {
            Some(stream) => does(Pin::new(stream)),
            None => Poll::Ready(Err(gone())),
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Lent<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.stream(|stream| stream.poll_read(cx, buf))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Lent<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.stream(|stream| stream.poll_write(cx, buf))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream(|stream| stream.poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // The end itself is its owner's.
        self.poll_flush(cx)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.stream(|stream| stream.poll_write_vectored(cx, bufs))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.as_ref().is_some_and(AsyncWrite::is_write_vectored)
    }
}
