//! What the engine needs from the process it lives in.

use std::time::Duration;

use bailiwick_types::LogLevel;

/// The world as an engine sees it. Implemented by the cell's loop, and by tests.
pub trait Outside {
    /// Sends a console line; it is within the limits already.
    fn log(&self, level: LogLevel, text: &str);

    /// Waits this long, or until the host is gone (then it does not come back).
    fn wait(&self, how_long: Duration);

    /// Wall-clock time since the call began.
    fn wall(&self) -> Duration;

    /// The time of day, since the epoch: what the guest's `Date` shows. The host may make it stand still.
    fn now(&self) -> Duration;

    /// CPU time this process has used.
    fn cpu(&self) -> Duration;

    /// Fills bytes that nobody can guess.
    fn random(&self, bytes: &mut [u8]);

    /// Says what kind of code is about to run, so that a native stack overflow can be told for what it is.
    fn phase(&self, phase: Phase);
}

/// What kind of native code runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// A recursive parser over the author's source: an overflow means that the source nests too deep.
    Parsing,
    /// Anything else: an overflow is a fault of ours.
    Running,
}
