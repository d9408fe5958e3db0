//! `QuickJS` with our bindings and bounds: what runs inside the wall.
//!
//! A [`Warm`] engine is built once, by a nursery, with every binding there is; each cell is a fork of it that runs one
//! [`Job`](bailiwick_wire::Job) and ends. Nothing in this crate opens, reads or decides anything: what it needs from
//! the world it asks of [`Outside`]. It must never be used in the server: its input is hostile and its engine is C.
//!
//! Start reading at [`Warm::run`]; a call's way is in `run` (from job to value), `settle` (promises and timers),
//! `limits` (what ends it early) and `errors` (what is said then). The bindings are the scripts in `js`.

mod entry;
mod errors;
mod globals;
mod limits;
mod outside;
mod raw;
mod realm;
mod run;
mod scripts;
mod settle;
mod text;
mod warm;
mod web;
mod world;

pub use globals::OFFERED;
pub use outside::{Outside, Phase};
pub use warm::{Breadth, Warm, WarmError};

#[cfg(test)]
mod tests;
