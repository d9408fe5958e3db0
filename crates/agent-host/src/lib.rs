//! The host's side of a sandbox whose first process is our agent: commands with their streams and deadlines, files, ports, packs
//! and the way out, over any stream of bytes.
//!
//! What stands around the agent is a [`Wall`], which a backend brings: how it ends, what is counted for it, how it stands still.
//! Everything else is the same behind every wall that has processes, and is here once. This crate must never believe what an agent
//! says further than it was checked, nor wait for one without end: the guest lives beside it.
//!
//! Start reading at [`wall`] (what a backend brings), then [`attended`] (a sandbox as its host has it), then [`link`] (the stream),
//! then `exec` (one command) and [`carried`] (connections in and out, where no socket can be handed through the wall). What backends
//! need to make one is in [`masks`], [`mounts`], [`root`], [`lent`], [`report`], [`probe_cache`] and [`folders`]; those that start a program around it have
//! [`life`], and those that keep its memory have [`shape`].

pub mod attended;
pub mod carried;
mod exec;
mod files;
pub mod folders;
mod handle;
mod job;
pub mod label;
pub mod lent;
pub mod life;
pub mod link;
pub mod masks;
pub mod mounts;
pub mod packs;
pub mod places;
mod ports;
pub mod probe_cache;
pub mod remembered;
pub mod report;
pub mod root;
pub mod shape;
pub mod staged;
pub mod stillness;
pub mod wall;

pub use attended::{Attended, Parts};
pub use handle::Handle;
pub use lent::Lent;
pub use link::{Ask, Link, LinkError};
pub use places::Places;
pub use wall::{Account, Stand, Stood, Wall};
