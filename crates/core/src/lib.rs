//! What can be done, as one closed enum, and the one pipeline behind every caller.
//!
//! A door (command line, HTTP, MCP, a unix socket) turns its bytes into an [`Action`] and a [`Caller`]; [`Core`] performs
//! it and gives a [`Reply`] or a [`Refusal`]. A call goes one way: document → policy → risk → approval (anything but yes
//! is no) → cell → redaction → record → reply. A panic in one action is its own `INTERNAL` and nobody else's.
//!
//! No HTTP, no MCP, no flags here. One process owns a data folder; see [`Desk`] for how others talk to it.
//! Start reading at [`Action`], then `pipeline`.

mod action;
mod admitted;
mod approvals;
mod authority;
mod budget;
mod caller;
mod catalogue;
mod code;
mod command;
mod core;
mod desk;
mod executor;
mod happenings;
pub mod images;
mod journal;
mod keys;
mod moment;
mod owner;
mod parsed;
mod pass;
mod pipeline;
mod refusal;
mod reply;
mod run;
pub mod sandboxes;
mod talk;
mod webhook;
mod world;

pub use self::core::Core;
pub use action::{
    Action, Code, CodeRun, Document, KeyWish, Reasons, Remember, RememberedFor, RunIntent, RunOutcome, Which,
};
pub use admitted::{Admitted, Dialogue, NoRoom, Room};
pub use caller::{
    Actor, Answer, Approver, Caller, Deaf, EffectAsked, Event, Happening, Listener, NoApprover, Origin,
    Question, Rank, Settled, ToolChange,
};
pub use desk::{Desk, Opening, Presence};
pub use executor::{InSandboxes, Lends};
pub use keys::{KeyShown, NotAKey, OperatorKey};
pub use moment::new_correlation;
pub use owner::{BoxFuture, Boxed, Opens, Ownership, Performs};
pub use refusal::{Fault, Refusal};
pub use reply::{
    Change, Checked, CodeChecked, CodeFinding, ExportPage, Found, Imported, KeyLine, KeyMade, LastYes,
    Missed, Offered, PolicyView, Published, RememberedYes, Reply, SecretLine, TestLine, TestVerdict, Tested,
    ToolLine, ToolView, Verified, Waiting,
};
pub use talk::{Chunk, Input, Mute, Talk};
pub use world::net_of;

// What an [`Offered`] tool is told to be.
pub use bailiwick_policy::Hints;

// What an [`Opening`] is made of, and what a program that makes one begins with.
pub use bailiwick_runtime::{Builder, Runtime, Telling, enter};
pub use bailiwick_sandbox::Backends;
pub use bailiwick_secrets::Fallback;

/// What this process may use of the machine, for the budgets of what serves it.
pub use bailiwick_sys::{capacity, heap};
