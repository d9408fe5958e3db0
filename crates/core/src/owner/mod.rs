//! One owner per data folder: a lock, a socket beside it, and what is said over the socket.
//!
//! `lock` says who owns the folder, `socket` is where others find the owner, `frame` and `message` are what they say.
//! `streams` are what commands say and are told meanwhile.
//! `house` is the owner's own side of an action, `serve` and `connection` let others ask for one, `client` asks.
//! Two processes never write to one folder: whoever performs anything there keeps an [`Ownership`].

mod client;
mod connection;
mod frame;
mod house;
mod lock;
mod message;
mod outbox;
mod performs;
mod questions;
mod serve;
mod socket;
mod streams;

#[cfg(test)]
mod tests;

pub use lock::Ownership;
pub use performs::{BoxFuture, Boxed, Opens, Performs};

pub(crate) use client::{Link, Lost};
pub(crate) use house::House;
pub(crate) use lock::Folder;
pub(crate) use message::{Nature, is_governed};
pub(crate) use serve::Server;
pub(crate) use socket::NoConnection;
pub(crate) use streams::Packed;
