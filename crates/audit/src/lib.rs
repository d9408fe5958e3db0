//! The record of what was done: entries, the chain of their hashes, signed heads, and the proof over them.
//!
//! Pure: rows, keys and times are handed in, and where they are kept is the business of `store`. It must never repair
//! what it looks at, nor call a chain proven that no head of the given key has signed.
//!
//! Start reading at [`Entry`] (what is recorded) and [`Link`] (how it is chained), then [`Head`] and [`Verifier`].

mod chain;
mod entry;
mod export;
mod head;
mod hex;
mod keys;
mod record;
mod time;
mod verdict;
mod verify;

pub use chain::{ChainError, Link, MOST_BODY_BYTES, Sealed};
pub use entry::{Actor, Entry, Kind, ToolRef};
pub use export::{ExportError, ExportReader, MOST_LINE_BYTES, head_line, read_head_line, record_line};
pub use head::{Head, HeadError};
pub use hex::{Digest, NotHex, PublicKey, Signature};
pub use keys::{BadSeed, Keys, hash_of};
pub use record::{Facts, Record, UnreadableRecord};
pub use time::rfc3339;
pub use verdict::{Verdict, Why};
pub use verify::{FoundBy, Row, Verifier};
#[cfg(test)]
mod tests;
