//! What is done from outside: starting the keeper, asking it for jails, and cleaning up. Talking to agents is `agent-host`'s.

mod backend;
mod create;
mod handed;
mod jail;
mod keeper;
mod layout;
mod lent;
mod probe;
mod report;
mod scratch;
mod served;
mod wall;

pub use backend::{Laying, Most, Options, ProcessBackend};

/// The name of this backend.
pub(crate) const ID: &str = "process";
