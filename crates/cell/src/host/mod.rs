//! The server's side of cells: hand out calls, keep their bounds from outside, believe nothing that comes back.
//!
//! `start` builds a nursery, `nest` is the handle of one, `cells` keeps one per tenant and heals and replaces them,
//! `call` is one call in one cell, `talk` what is said meanwhile,
//! `gateway` who serves its effects, `failure` says in words what went wrong, `receipt` says which walls stood.

mod call;
mod cells;
mod error;
mod failure;
mod gateway;
mod nest;
mod options;
mod receipt;
mod start;
mod talk;

pub use call::{Ended, Given, ProbeResult};
pub use cells::Cells;
pub use error::{Busy, CallError, StartError};
pub use gateway::{Gateway, Held, Outcome, Standstill};
pub use options::{Demand, Options, Tenant};
pub use receipt::FLOOR;

/// Whether this build can make nurseries without walls, for the test that proves the attacks.
pub const fn hollow_is_built() -> bool {
    cfg!(feature = "hollow")
}
