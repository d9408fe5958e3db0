//! The perimeter and the listener, attacked over real connections on loopback.

mod attacks;
mod connections;
mod ends;
mod keys;
mod pages;
mod server;
mod smuggling;
