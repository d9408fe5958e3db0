//! What is done from outside: finding the module of an image, having it compiled, and turning a spec and its commands into those of the
//! backend behind. Nothing here reads a byte of a module.

mod backend;
mod cache;
mod compile;
mod create;
mod module;
mod nothing;
mod outcome;
mod probe;
mod report;
mod sandbox;
mod view;

pub use backend::{Options, WasmBackend};
