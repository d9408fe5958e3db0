//! The backend `container`: an engine that is on the machine already, Docker or Podman, builds the walls; our own static agent is
//! the first process behind them.
//!
//! The engine is asked over its socket for a container that can do nothing: no capabilities, no network, a root that cannot be
//! written to, bounds on everything. What it has built is looked at from inside by the agent before a guest runs, and from outside
//! in the engine's own account of it and in the files of the kernel; only what was seen is claimed. From then on everything goes by
//! the agent's stream, and the engine is asked only to pause and to remove. This crate decides nothing: it gets demands, and holds
//! all of them or refuses.
//!
//! Start reading at `create` (a container in its order), then `plan` (what is asked of the engine), `look` and `report` (what is
//! claimed), `container` (its end), `reap` (what dead owners left), `owner` (who is one, and
//! whether it lives).

mod backend;
mod container;
mod create;
mod engine;
mod image;
mod lent;
mod listed;
mod look;
mod mounts;
mod owner;
mod plan;
mod probe;
mod reap;
mod report;
mod runtime;
mod stream;
mod wall;

pub use backend::{ContainerBackend, Options};

/// The name of this backend.
pub(crate) const ID: &str = "container";
