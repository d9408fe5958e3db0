//! Asks a running server for actions, over HTTP: the same actions and the same replies as at the desk of a data folder.
//!
//! [`Remote`] turns an action into a request and the answer into a reply, both in the shapes of `api`; what happens
//! meanwhile arrives as it happens. It decides nothing: what may be asked is the server's business, who answers for a
//! person is the caller's. A key is sent to nobody but the server it was given for, and never in the clear beyond this
//! machine. Start reading at [`Remote::perform`];
//! a command that is talked with while it runs is in `talk`.

mod ask;
mod audit;
mod connect;
mod place;
mod refused;
mod remote;
mod sandbox;
mod sse;
mod stream;
mod talk;

pub use place::{Credential, Server};
pub use remote::{Bounds, Remote, Tells};
pub use talk::{Hears, Says, Talk, Told};
