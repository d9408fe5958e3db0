//! One file per command: ask the crates below, then render.

pub(crate) mod config;
pub(crate) mod generated;
pub(crate) mod limits;
pub(crate) mod policy;
pub(crate) mod trust;
