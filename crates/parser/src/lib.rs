//! HTML, XML, CSV and YAML from a guest's text to plain data, as JSON text.
//!
//! Pure functions: text and options in, JSON text or a [`ParseError`] out. They run inside a cell, next to the guest,
//! because their input is hostile; the wall around the cell is what holds if one of them has a defect. They must
//! never read or open anything, and never recurse as deep as their input goes: a stack that overflows ends the cell
//! without a word. Every bound is in [`bounds`] and ends in a clear error before memory or the stack does.
//!
//! What others wrote and why it cannot be driven deep:
//! - `html5ever` builds its tree with loops over explicit stacks; the tree is ours, flat, and stops growing soon after
//!   a bound is crossed, as text is fed to it in small pieces. A tag is counted before it may have too many attributes.
//! - `roxmltree` is a loop over a flat tree, too; what it does in quadratic time (attributes of one element, names of
//!   namespaces) is counted before it runs.
//! - `saphyr-parser` gives events; its scanner has a limit of its own on brackets. What is open is a list of ours.
//!
//! Start reading at [`html`], [`xml`], [`csv`] and [`yaml`].

pub mod bounds;
pub mod csv;
mod error;
pub mod html;
mod json_in;
mod json_out;
mod place;
pub mod xml;
pub mod yaml;

pub use error::{ParseError, Reason};

#[cfg(test)]
mod tests;
