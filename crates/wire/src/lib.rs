//! The messages between host, nursery and cell: the only crate that both sides of the wall share.
//!
//! Everything a cell sends is hostile. A frame is read only up to a bound that the reader chose before it looked; a
//! body holds exactly one message and nothing behind it; text is UTF-8 or the frame is refused. No message nests, so
//! no reader recurses. What a message *claims* is still only a claim: the host decides what it believes.
//!
//! Start reading at [`job`] (what a cell is told), then [`report`] (what it answers), then [`effect`] (what it asks of the world), then
//! [`control`] (how cells come and go), then [`frame`] (how any of it is put into bytes).

pub mod agent;
pub mod control;
pub mod effect;
pub mod frame;
pub mod jail;
pub mod job;
pub mod machine;
pub mod report;
pub mod seat;

pub use control::{Ended, Ending, FromNursery, ToNursery, Walls};
pub use effect::{Event, Reading, Refusal, Reply, Trace, Tracing};
pub use frame::{Decoder, FrameError, decode, encode};
pub use job::{Check, Entry, Job, JobLimits, Language};
pub use report::{
    CellUsage, Finding, FromCell, Given, Probe, Report, Severity, ToCell, Trouble, TroubleKind,
};

/// The version of every message. Host, nursery and cell are one binary, so a difference is a mistake, never an old
/// peer.
pub const VERSION: u8 = 2;

#[cfg(test)]
mod tests;
