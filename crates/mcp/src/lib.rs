//! Published tools for every client of the Model Context Protocol, over HTTP and over a pipe, in both of its eras.
//!
//! In the older era a client opens a session, and questions go to it as requests; in the newer one each request stands
//! by itself, and a question is a result that the client answers by asking again. Nothing that a call needs hangs on a
//! connection in either.
//!
//! What is offered comes from an [`Offers`]; what serves it is [`Mcp`]. This crate decides nothing: who may call comes
//! with the request as [`Admitted`](bailiwick_core::Admitted), what may run is decided in `core`, and nothing that a
//! client says about itself (its name, its version) earns it anything. Start reading at [`Mcp`], then `door`.

mod approval;
mod audience;
mod call;
mod door;
mod endpoint;
mod era;
mod given;
mod going;
mod line;
mod mcp;
mod native;
mod offers;
mod paced;
mod parked;
mod passes;
mod pipe;
mod published;
mod put;
mod sessions;

pub use era::Era;
pub use line::{CannotAsk, Line};
pub use mcp::{Mcp, Settings};
pub use native::{Bare, Native};
pub use offers::{Call, Failed, Future, Offers, Page};
pub use pipe::PipeError;
pub use published::Published;

/// What an [`Offers`] is written with.
pub use rmcp::model;
