//! The perimeter and the listener, attacked over real connections on loopback.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "all of this binary is a test, and so is what its tests share"
)]

mod attacks;
mod budgets;
mod connections;
mod encrypted;
mod ends;
mod keys;
mod mounted;
mod pages;
mod problems;
mod resource;
mod server;
mod smuggling;
mod streams;
mod tokens;
#[cfg(feature = "otlp")]
mod traces;
