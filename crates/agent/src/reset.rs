//! Making a sandbox as it was at birth, and looking whether it is.
//!
//! What can be wiped is wiped by `wipe`; what is left is found by comparing how everything looks now with how it looked
//! before the first command (`state`). What cannot be looked at counts as left: a reset is proven or it is none.

mod ours;
mod sockets;
mod state;
mod wipe;

#[cfg(test)]
mod tests;

pub(crate) use state::{Place, State};
pub(crate) use wipe::{put_back, wipe};
