//! The backend `remote`: another Bailiwick server makes the sandboxes, and is asked over its HTTP interface.
//!
//! What a server says of its walls is its own word. It is passed on as that, in every receipt, and nothing of it is claimed as
//! seen here. What means this machine (its folders, its secrets, its network) is refused before anything is sent. Nothing is
//! sent twice once a byte of it may have been read; nothing waits for a server without end; and what a server says is bounded,
//! made visible, and never shows the key.
//!
//! Start reading at [`RemoteBackend`], then `wish` (what is asked for), `made` (what is believed of the answer), `place` (a sandbox
//! there) and `running` (a command there).

mod backend;
mod door;
mod fault;
mod look;
mod made;
mod place;
mod running;
mod sandbox;
mod wish;

pub use backend::{Finds, Options, RemoteBackend};
pub use door::Door;

/// The name of the backend.
pub const ID: &str = "remote";

/// What a sandbox is marked with that was asked for by this backend. A server does not hand such on to yet another: one that
/// names itself, or two that name each other, would never come to an end.
pub const MARK: &str = "bailiwick/remote";
