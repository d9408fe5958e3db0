//! QuickJS with our bindings and bounds: what runs inside the wall.
//!
//! A [`Warm`] engine is built once, by a nursery, with every binding there is; each cell is a fork of it that runs one
//! [`Job`](bailiwick_wire::Job) and ends. Nothing in this crate opens, reads or decides anything: what it needs from
//! the world it asks of [`Outside`]. It must never be used in the server: its input is hostile and its engine is C.

mod outside;

pub use outside::{Outside, Phase};
