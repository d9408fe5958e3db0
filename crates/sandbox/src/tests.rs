//! Tests of the interface as its users see it, against a backend of memory only.

mod collect;
mod commands;
mod demands;
mod fake;
mod limits;
mod mounts;
mod network;
mod observed;
mod pool;
mod result;
mod select;
mod spec;
