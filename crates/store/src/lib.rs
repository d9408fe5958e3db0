//! Tools and records in one file: rows in, rows out, written by one thread.
//!
//! It reads no document and decides nothing. It must never acknowledge what a crash can undo, make a new key where an
//! old one is missing, write over a file it could not open, or hand out an edited row as one of ours.
//!
//! Start reading at [`Store`], then `writer.rs` (how jobs become transactions) and `tools.rs` (how rows are sealed).

mod approvals;
mod chain;
mod connect;
mod edition;
mod error;
mod export;
mod job;
mod keys;
mod options;
mod place;
mod records;
mod retain;
mod schema;
mod store;
mod sync;
mod tools;
mod tx;
mod verify;
mod view;
mod witness;
mod writer;

pub use approvals::{LastYesRow, RememberedRow};
pub use edition::Edition;
pub use error::{StoreError, WriteError};
pub use keys::KeyRow;
pub use options::{Durability, Hears, Options, Witness};
pub use records::{Query, Stamp, StoredRecord};
pub use retain::{Retained, Retention};
pub use store::Store;
pub use tools::{ToolRow, ToolSummary};
pub use tx::Tx;
pub use view::View;
pub use witness::Troubles;

#[cfg(test)]
mod tests;
