//! What is to be said on a connection, in order, written by a task of its own: nobody who says something waits for a
//! reader that is slow.
//!
//! What waits is bounded by whoever puts it there: with a message goes the permit that allowed it, and comes back when
//! the message was written.

use serde::Serialize;
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio::task::JoinHandle;

use super::frame::{self, FrameError};

/// Where messages are put.
#[derive(Debug, Clone)]
pub(crate) struct Outbox(mpsc::UnboundedSender<Item>);

#[derive(Debug)]
enum Item {
    Message { bytes: Vec<u8>, written: Option<oneshot::Sender<()>>, _permit: Option<OwnedSemaphorePermit> },
    End,
}

/// A task that ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Bound(pub(crate) JoinHandle<()>);

impl Outbox {
    /// Begins to write to a stream.
    pub(crate) fn start(stream: OwnedWriteHalf) -> (Self, Bound) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), Bound(tokio::spawn(write(stream, receiver))))
    }

    /// Says something. On a connection that ended nobody hears it, and whoever reads there knows.
    pub(crate) fn say(&self, message: &impl Serialize) -> Result<(), FrameError> {
        self.put(frame::encode(message)?, None);
        Ok(())
    }

    /// Says what is encoded already; the permit comes back when it was written.
    pub(crate) fn put(&self, bytes: Vec<u8>, permit: Option<OwnedSemaphorePermit>) {
        // The queue is gone when the connection is.
        let _ = self.0.send(Item::Message { bytes, written: None, _permit: permit });
    }

    /// Says something and waits until it was written; `false` when it could not be.
    pub(crate) async fn written(&self, message: &impl Serialize) -> bool {
        let Ok(bytes) = frame::encode(message) else { return false };
        let (sender, receiver) = oneshot::channel();
        let item = Item::Message { bytes, written: Some(sender), _permit: None };
        self.0.send(item).is_ok() && receiver.await.is_ok()
    }

    /// Says nothing more.
    pub(crate) fn end(&self) {
        // As above.
        let _ = self.0.send(Item::End);
    }

    /// Waits until nothing can be written any more.
    pub(crate) async fn closed(&self) {
        self.0.closed().await;
    }
}

async fn write(mut stream: OwnedWriteHalf, mut queue: mpsc::UnboundedReceiver<Item>) {
    while let Some(Item::Message { bytes, written, _permit }) = queue.recv().await {
        if stream.write_all(&bytes).await.is_err() {
            // Whoever reads on this connection meets its end, behind what was said before it.
            return;
        }
        if let Some(written) = written {
            // Who waited may be gone.
            let _ = written.send(());
        }
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        self.0.abort();
    }
}
