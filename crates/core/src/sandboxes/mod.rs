//! Command sandboxes as actions: made, used, kept, put to sleep and removed, each on the record.
//!
//! A [`SandboxWish`] becomes a spec in `resolve`, where the operator's settings are applied and every mount is
//! looked at; nothing is created before that. `attend` runs one command. What outlives a command is in
//! `registry`. It must never run anything outside of a sandbox, nor hand a caller somebody else's.
//!
//! Start reading at `wish`, then `resolve`.

mod actions;
mod attend;
mod files;
mod mounts;
mod record;
mod registry;
pub(crate) mod resolve;
mod told;
mod view;
mod wish;

// What wishes and replies are made of.
pub use bailiwick_sandbox::{
    Entry, EntryKind, ExecResult, ExecUsage, Limit, Mount, Overlay, SandboxPath, Snapshot, Stream, Window,
    signal_number,
};

pub use attend::{Keep, attend};
pub use files::FileWish;
pub use mounts::CheckedMount;
pub use record::{ExecIntent, ExecOutcome};
pub use resolve::{Resolved, Rules, allowed, lenient, resolve};
pub use told::SandboxChange;
pub use view::{Executed, SandboxLine, SandboxView, SnapshotLine};
pub use wish::{CommandWish, ExecWish, GivenInput, InputBytes, SandboxWish, Target};

pub(crate) use actions::{
    create, exec, forget, fork, hibernate, list, remove, resume, show, snapshot, snapshots, stop,
};
pub(crate) use files::files;
pub(crate) use record::{exec_begins, exec_ended};
pub(crate) use registry::Sandboxes;
