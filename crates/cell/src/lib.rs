//! Cells: one-shot processes that run one call each, with nothing to steal and nowhere to go.
//!
//! Three places, three modules. `host` hands calls to cells and believes nothing they say; it lives in the server.
//! `nursery` builds the walls, warms the engine, and then only forks; it is this program started again, and pid 1 of
//! its own namespace. `inside` is what a cell does: take its filter, read one job, run it, answer, end.
//!
//! Nothing here decides what a guest may do: a job says which names exist and which bounds hold, and that is all. A
//! program that uses [`Cells`] has to call [`enter`] at the top of `main`.

mod ending;
mod enter;
mod host;
mod inside;
mod nursery;

pub use bailiwick_engine::{Breadth, OFFERED};
pub use bailiwick_sys::clock::random;
pub use bailiwick_sys::heap::Telling;
pub use bailiwick_sys::seccomp;
pub use bailiwick_wire::{
    Check, Entry, Event, Finding, Job, JobLimits, Language, Probe, Reading, Severity, Trace, Tracing, Walls,
};
pub use enter::{enter, enter_with};
pub use host::{
    Busy, CallError, Cells, Demand, Ended, FLOOR, Gateway, Given, Held, Options, Outcome, ProbeResult,
    Standstill, StartError, Tenant, hollow_is_built,
};
