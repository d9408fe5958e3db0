//! Documents from people and strangers: YAML, JSON or TOML text as one bounded tree that knows its places.
//!
//! [`parse`] turns text into a [`Node`] tree within [`Bounds`] (bytes, depth, nodes), never by recursion over
//! what the text nests. [`Reader`] walks a tree, takes out typed values and collects **every** mistake as a
//! [`Problem`] with path, line, column and a hint; what it does not know is an error with "did you mean".
//!
//! This crate must never read a file, resolve an alias, or guess: an anchor, a tag, a second document, a
//! duplicate key are problems, not features. Start reading at [`parse`].

mod node;
mod parse;
mod problem;
mod reader;
mod toml_tree;
mod yaml_tree;

pub use node::{Key, Node, Place, Value};
pub use parse::{Bounds, Format, parse};
pub use problem::{DocPath, Problem, Problems};
pub use reader::{Entry, Reader, Record};

#[cfg(test)]
mod tests;
