//! What is done from outside: starting the keeper, asking it for jails, talking to their agents, and cleaning up.

mod backend;
mod create;
mod exec;
mod exposed;
mod files;
mod handed;
mod jail;
mod keeper;
mod label;
mod layout;
mod link;
mod probe;
mod report;
mod sandbox;
mod scratch;
mod served;
mod snapshots;

pub use backend::{Laying, Most, Options, ProcessBackend};

/// The name of this backend.
pub(crate) const ID: &str = "process";
