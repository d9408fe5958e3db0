//! One call: code, what it is given and the policy it runs under go in; a report of what it did comes out.
//!
//! Policy, cells and gateway meet here. A [`Runtime`] runs each call in a process of its own that is made for it and
//! ends with it, does for it what its policy allows, and lets no text out but through `redaction`. It knows no catalogue,
//! no store and no record: what is published, who may call it and what is kept of it is the business of `core`.
//!
//! Async outside, plain inside: the future of a call can be dropped at any time, and its cell is killed.
//! Start reading at [`Runtime`].

mod call;
mod denied;
mod effects;
mod emit;
mod redaction;
mod report;
mod runtime;
mod secret;
mod surface;

pub use bailiwick_cell::{
    Breadth, Busy, CallError, Demand, Entry, Finding, Language, Options, Probe, ProbeResult, Severity,
    StartError, Telling, Tenant, enter, enter_with, hollow_is_built, seccomp,
};
pub use call::{Call, Validate, WorkspaceName, WorkspaceNameError};
pub use effects::recording::{Recording, RecordingError};
pub use effects::{Executor, Folders, Observer, paths_of};
pub use emit::{Emitted, PureCall};
pub use redaction::value as redacted;
pub use runtime::{Builder, Recorded, RunError, Runtime, new_id};
pub use secret::NamedSecret;
pub use surface::surface;
