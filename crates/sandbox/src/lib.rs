//! Command sandboxes: what somebody asks for, what a backend must hold of it, and which backend is picked.
//!
//! A [`SandboxSpec`] is checked before anything is made of it, a [`Backend`] turns it into a [`Sandbox`] or refuses, and what ran
//! leaves an [`ExecResult`] with a receipt. Nothing here starts a process or mounts anything: that is for backends,
//! of which this crate knows none. [`held`] keeps the descriptors of what is to be mounted. It must never pick a wall below the
//! floor, nor claim one that was not seen to stand.
//!
//! Start reading at [`spec`] (what is asked for), then [`backend`] and [`sandbox`] (who does it), then [`demand`] (what has
//! to be held), then [`select`]. [`collect`] and [`fits`] are for backends, [`outlet`] and [`images`] are what they are lent, [`pool`] keeps sandboxes ready, [`observed`] tells of them.

pub mod backend;
pub mod ceilings;
pub mod collect;
pub mod command;
pub mod demand;
pub mod error;
pub mod event;
pub mod fits;
pub mod held;
pub mod images;
pub mod limits;
pub mod mount;
pub mod network;
pub mod observed;
pub mod outlet;
pub mod path;
pub mod pool;
pub mod receipt;
pub mod result;
pub mod sandbox;
pub mod secret;
pub mod select;
pub mod signal;
pub mod spec;

pub use backend::{Available, Backend, Doing, Location, PROBE_DEADLINE, Probe};
pub use ceilings::Ceilings;
pub use collect::{Capped, Finished, Taken, feed, run_to_end};
pub use command::{Command, CommandError, Shell, Window};
pub use demand::{Accepted, Demand, Unheld, judge};
pub use error::SandboxError;
pub use event::{Event, EventKind, Events, Listener};
pub use fits::Fits;
pub use held::Held;
pub use images::{Images, Unpacked};
pub use limits::{Amount, Bound, From, Limit, Limits, LimitsError, Preset};
pub use mount::{Mount, Overlay, check_mounts};
pub use network::Network;
pub use observed::Observed;
pub use outlet::{Duplex, Egress, Outlet};
pub use path::{PathError, SandboxPath};
pub use pool::{Lease, Pool, PoolOptions};
pub use receipt::{Alternative, receipt, unenforceable};
pub use result::{Captured, ExecResult, ExecUsage, Exit};
pub use sandbox::{Chunk, Ended, Entry, EntryKind, Input, Put, Reset, Running, Sandbox, Snapshot, Stream};
pub use secret::SealedSecret;
pub use select::{Backends, NoneFits, Tried};
pub use signal::{signal_name, signal_number};
pub use spec::{Image, SandboxSpec, SpecError, Ttl};

#[cfg(test)]
mod tests;
