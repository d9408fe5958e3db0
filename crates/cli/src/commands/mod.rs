//! One file per command: ask the crates below, then render.

pub(crate) mod approvals;
pub(crate) mod audit;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod exec;
pub(crate) mod generated;
pub(crate) mod image;
pub(crate) mod jsrun;
pub(crate) mod key;
pub(crate) mod learn;
pub(crate) mod limits;
pub(crate) mod mcp;
pub(crate) mod own;
pub(crate) mod policy;
pub(crate) mod probe;
pub(crate) mod run;
pub(crate) mod sandbox;
pub(crate) mod secret;
pub(crate) mod serve;
pub(crate) mod tool;
pub(crate) mod trust;
