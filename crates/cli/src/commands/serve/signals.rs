//! The signals that end a server.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::failure::Failure;

/// `TERM` and `INT`.
pub(crate) struct Signals {
    ended: Signal,
    interrupted: Signal,
}

impl Signals {
    /// Hears them from now on.
    pub(crate) fn hear() -> Result<Self, Failure> {
        let one = |kind| signal(kind).map_err(Failure::Signals);
        Ok(Self { ended: one(SignalKind::terminate())?, interrupted: one(SignalKind::interrupt())? })
    }

    /// Waits for the next.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.ended.recv() => {}
            _ = self.interrupted.recv() => {}
        }
    }
}
