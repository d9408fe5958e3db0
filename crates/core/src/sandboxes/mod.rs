//! Command sandboxes as actions: made, used, kept, put to sleep and removed, each on the record.
//!
//! A [`SandboxWish`] becomes a spec in `resolve`, where the operator's settings are applied and every mount is
//! looked at; nothing is created before that. `attend` runs one command. What outlives a command is in
//! `registry`. It must never run anything outside of a sandbox, nor hand a caller somebody else's.
//!
//! Start reading at `wish`, then `resolve`.

mod actions;
mod agents;
mod attend;
mod background;
mod egress;
mod files;
mod holder;
mod looks;
mod mounts;
mod record;
mod registry;
pub(crate) mod resolve;
mod review;
mod ring;
mod roots;
mod told;
mod view;
mod wish;

pub use agents::{AgentDoes, AgentOffer, AgentTool, AgentWish, Session};

// What wishes and replies are made of.
pub use bailiwick_sandbox::{
    Captured, Entry, EntryKind, ExecResult, ExecUsage, Exit, Limit, Mount, Overlay, SandboxPath, Snapshot,
    Stream, Window, signal_number,
};

pub use attend::{Keep, attend};
pub use bailiwick_overlay::Moment;
pub use egress::OperatorsEgress;
pub use files::FileWish;
pub use mounts::CheckedMount;
pub use record::{ExecIntent, ExecOutcome};
pub use resolve::{Resolved, Rules, allowed, ceilings, lenient, resolve};
pub use review::{Landed, ReviewWish, Shown, after_one};
pub use roots::MountRoots;
pub use told::SandboxChange;
pub use view::{
    Cursor, ExecLine, ExecView, Executed, ExposedPort, OutputPiece, PythonRan, SandboxLine, SandboxView,
    SnapshotLine,
};
pub use wish::{CommandWish, ExecWish, GivenInput, InputBytes, SandboxWish, Target};

pub(crate) use actions::{
    create, exec, expose, forget, fork, hibernate, list, ports, remove, resume, show, snapshot, snapshots,
    stop,
};
pub(crate) use agents::perform as agent;
pub(crate) use background::{all as execs, kill, poll, start};
pub(crate) use files::files;
pub(crate) use record::{
    Noted, backend_told, exec_begins, exec_ended, exec_entry, result_told, spec_told, usage_told,
};
pub(crate) use registry::Sandboxes;
pub(crate) use resolve::resolve_tool;
pub(crate) use review::{commit, diff, discard, recover_commits};
