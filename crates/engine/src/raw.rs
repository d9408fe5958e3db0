//! The calls of the engine that its crate does not wrap. Nothing outside this folder is unsafe, and nothing in it knows
//! what a job, a policy or a guest is.

pub(crate) mod bytecode;
pub(crate) mod bytes;
pub(crate) mod heap;
pub(crate) mod jobs;
pub(crate) mod value;
