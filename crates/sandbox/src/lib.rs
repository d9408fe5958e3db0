//! Command sandboxes: what somebody asks for, what a backend must hold of it, and which backend is picked.
//!
//! A [`SandboxSpec`] is checked when it is made, a [`Backend`] turns it into a [`Sandbox`] or refuses, and what ran
//! leaves an [`ExecResult`] with a receipt. Nothing here starts a process, mounts or opens anything: that is for backends,
//! of which this crate knows none. It must never pick a wall below the floor, nor claim one that was not seen to stand.
//!
//! Start reading at [`spec`] (what is asked for), then [`backend`] and [`sandbox`] (who does it), then [`demand`] (what has
//! to be held), then [`select`].

pub mod backend;
pub mod command;
pub mod demand;
pub mod error;
pub mod event;
pub mod limits;
pub mod path;
pub mod result;
pub mod sandbox;
pub mod select;
pub mod spec;

pub use backend::{Available, Backend, Doing, Location, Probe};
pub use command::{Command, CommandError, Shell, Window};
pub use demand::{Accepted, Demand, Unheld, judge};
pub use error::SandboxError;
pub use event::{Event, EventKind, Events, Listener};
pub use limits::{Bound, From, Limits, LimitsError, Preset};
pub use path::{PathError, SandboxPath};
pub use result::{Captured, ExecResult, ExecUsage, Exit};
pub use sandbox::{Chunk, Ended, Entry, EntryKind, Input, Reset, Running, Sandbox, Snapshot, Stream};
pub use select::{Backends, NoneFits, Tried};
pub use spec::{Image, Mount, Network, SandboxSpec, SpecError, Ttl};
