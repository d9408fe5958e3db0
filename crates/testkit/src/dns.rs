//! Names: scripted answers, given by a table in memory or by a name server on loopback, with a count of who was asked.
//!
//! Each name has a sequence of replies of which the last repeats, so that a second question can get another answer.
//! Start reading at [`Reply`]; [`Table`] is for code that takes a resolver, [`FakeDns`] for code that takes a server.

mod format;
mod script;
mod server;
mod table;
#[cfg(test)]
mod tests;

pub use script::{Reply, Script};
pub use server::FakeDns;
pub use table::{Fault, Table};
