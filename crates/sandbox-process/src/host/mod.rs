//! What is done from outside: starting the keeper, asking it for jails, talking to their agents, and cleaning up.

mod backend;
mod create;
mod exec;
mod files;
mod jail;
mod keeper;
mod label;
mod layout;
mod link;
mod probe;
mod report;
mod sandbox;
mod scratch;
mod snapshots;

pub use backend::{Most, Options, ProcessBackend};

/// The name of this backend.
pub(crate) const ID: &str = "process";
