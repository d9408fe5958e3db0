//! The HTTP interface: who may come in, what is asked, how the answer goes back.
//!
//! [`perimeter`] decides who somebody is and how much they may ask at once; [`routes`] turn requests into actions of
//! `core` and replies into the shapes of `api`. It must never hold logic of its own: what a scope covers is decided in
//! `core`, whatever came in by which door.

pub mod perimeter;
pub mod routes;
