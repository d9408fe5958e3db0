//! Guarded requests: every one, and every redirect, goes decide → ask → resolve → check → connect to what was checked.
//!
//! It must never connect to an address that policy did not say yes to, never keep a connection for another call, and
//! never let a sealed value out of its place. Start reading at [`Fetches::fetch`].

pub mod canned;
mod connect;
mod decode;
mod dial;
mod exchange;
mod fetches;
mod headers;
mod hop;
mod percent;
mod proxy;
mod reach;
mod refusal;
mod resolve;
mod runtime;
pub(crate) mod sealed;
mod tls;
mod usage;

#[cfg(test)]
pub(crate) mod tests;

pub use canned::{Canned, CannedError};
pub use dial::{Dial, Dialling, SystemDial};
pub use fetches::{Fetches, Terms, Transport};
pub use proxy::{ProxyError, UpstreamProxy};
pub use resolve::{Resolve, ResolveFailed, Resolving, SystemResolve};
pub use runtime::{Net, NetBuilder};
pub use sealed::{Place, Seal, SealError, Sealed, SealedSet};
pub use tls::RootsError;
pub use usage::Usage;
