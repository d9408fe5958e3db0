//! The backend `gvisor`: sandboxes with a kernel of their own in user space, by `runsc`, which is driven directly with a bundle and
//! no daemon.
//!
//! Our agent is the first process of each container, and its stream is the standard input and output of `runsc`. What it says of
//! its place is believed once, before anything of a guest ran; the rest is looked at from outside. A checkpoint keeps the memory
//! of a whole sandbox: so `snapshot`, `fork` and `hibernate` keep running processes too. This crate decides nothing: it gets
//! demands, and holds all of them or refuses.
//!
//! Start reading at `create` (a sandbox in its order), then `layout` and `skeleton` (its root), `runsc` (the program), `wall` and
//! `life` (what becomes of it), `kept` (snapshots).

mod backend;
mod bundle;
mod create;
mod kept;
mod layout;
mod life;
mod outside;
mod probe;
mod report;
mod runsc;
mod skeleton;
mod wall;

pub use backend::{GvisorBackend, Options, PLATFORMS};

/// The name of this backend.
pub(crate) const ID: &str = "gvisor";

/// A step that failed.
pub(crate) fn failed(step: &str, why: &dyn std::fmt::Display) -> bailiwick_sandbox::SandboxError {
    bailiwick_sandbox::SandboxError::Failed { step: step.to_owned(), reason: why.to_string() }
}

/// What is not offered.
pub(crate) fn unsupported(what: impl Into<String>) -> bailiwick_sandbox::SandboxError {
    bailiwick_sandbox::SandboxError::Unsupported { backend: ID.to_owned(), what: what.into() }
}
