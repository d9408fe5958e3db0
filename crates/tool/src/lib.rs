//! A tool as its document says it: read, checked, put into its canonical form, hashed.
//!
//! [`Tool::read`] takes a document in YAML, JSON, or a file of code with the fields in a comment at its top, and gives a
//! [`Tool`], or **every** mistake at once. [`Tool::to_json`] and [`Tool::to_yaml`] write it back, `metadata` and
//! `x-…` included. [`Tool::covered_hash`] is the hash of what Local Pass covers, [`Tool::texts_hash`] that of the words about
//! it. [`InputCheck`] and [`OutputCheck`] hold arguments and results against what is declared, [`Expectations`] against
//! what a test expects, [`Contents`] is a result that is content, [`CommandBlock`] is what a command tool runs, filled by
//! [`CommandBlock::fill`], and [`lifecycle::next`] says which state follows. [`read_spring`] reads documents of
//! Spring AI Playground.
//!
//! Nothing here runs a tool, opens a file, reads a clock or keeps anything. Start reading at `read/mod.rs`.

mod approval;
mod canonical;
mod command;
mod content;
mod diff;
mod expect;
mod front_matter;
mod hash;
mod input;
mod json;
pub mod lifecycle;
mod name;
mod param;
mod read;
pub mod reference;
mod schema;
mod spring;
mod statics;
mod syntax;
mod test;
mod texts;
mod tool;
mod variable;
mod write;
mod yaml;

pub use approval::{Approval, ApprovalMode};
pub use canonical::canonical;
pub use command::{CommandBlock, Filled, Gives, Item, Runs, Template, Unfit, Word};
pub use content::{CONTENT, Content, ContentFault, Contents, MOST_BLOCKS, MOST_CONTENT_BYTES, ResourceBody};
pub use expect::{ExpectationKind, Expectations, Failed, Given, Miss, Throws};
pub use front_matter::has_front_matter;
pub use hash::{Hash, NotAHash};
pub use input::{ArgumentFault, ArgumentProblem, InputCheck, Misfit, OutputCheck};
pub use json::json_of;
pub use name::{CATEGORIES, Category, Name, RESERVED_HINT};
pub use param::{Param, ParamType};
pub use read::Read;
pub use spring::{FromSpring, read_spring};
pub use statics::{Sealing, SecretStatic, Static, StaticValue};
pub use syntax::Syntax;
pub use test::Test;
pub use tool::{Body, MOST_CODE, Managed, Tool};
pub use write::{COVERED, MANAGED, TEXTS};

#[cfg(test)]
mod tests;
