//! The HTTP interface: who may come in, what is asked, how the answer goes back.
//!
//! [`listen`] accepts connections and bounds what comes over them; [`perimeter`] decides who somebody is and how much
//! they may ask at once; [`routes`] turn requests into actions of `core` and replies into the shapes of `api`; [`App`] is
//! all of it put together. It must never hold logic of its own: what a scope covers is decided in `core`, whatever came
//! in by which door.

mod app;
mod correlation;
mod counters;
pub mod listen;
mod mounted;
#[cfg(feature = "otlp")]
pub mod otlp;
pub mod perimeter;
mod problem;
pub mod routes;

pub use app::{App, Ground};
pub use counters::{Counters, PATH as METRICS_PATH};
pub use listen::{Bounds, Closing, Peer, ServeError, Serving, bind, own_listeners, serve};
pub use mounted::{PATH as MCP_PATH, mounted};
