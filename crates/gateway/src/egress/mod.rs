//! The way out of command sandboxes: whatever a program inside sends comes here, is judged like a `fetch`, and goes on to
//! the host it was judged for, or nowhere.
//!
//! One [`SandboxEgress`] serves all sandboxes of a server; a backend asks it for an
//! [`Outlet`](bailiwick_sandbox::Outlet) and lends that the sockets inside:
//!
//! ```no_run
//! use std::sync::Arc;
//! use bailiwick_gateway::{egress::EgressBuilder, net::Net};
//! use bailiwick_policy::{HostRule, Purpose};
//! use bailiwick_sandbox::{Egress as _, SandboxSpec};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let net = Arc::new(Net::builder().build()?);
//! let egress = EgressBuilder::new(net)
//!     .never([HostRule::parse("*.internal.example", Purpose::Refuse)?])
//!     .own_listeners(["127.0.0.1:8282".parse()?])
//!     .build();
//! let spec = SandboxSpec { network: "allow:pypi.org,*.pythonhosted.org:443".parse()?, ..SandboxSpec::default() };
//! let outlet = egress.outlet(&spec)?;
//! # let _ = outlet;
//! # Ok(())
//! # }
//! ```
//!
//! - the proxy ([`Outlet::proxied`](bailiwick_sandbox::Outlet::proxied)): HTTP/1.1, `CONNECT` and SOCKS5 at one port, told
//!   apart by their first byte. `CONNECT` carries TLS whose server name is the host that was asked for, nothing else.
//! - programs that know no proxy ([`Outlet::direct`](bailiwick_sandbox::Outlet::direct)): they resolved a name to the
//!   address in 127.64.0.0/10 that stands for it. TLS has to name that host, plain requests too.
//! - names ([`Outlet::answer`](bailiwick_sandbox::Outlet::answer)): one message each. Over TCP a backend takes the two
//!   bytes of length off and puts them on again; a message is at most 65 535 bytes.
//!
//! A name is looked up once for each connection, every address of it is checked, and the checked one is dialled. With
//! [`Inspection::Authority`] TLS is ended here by an authority that only the one sandbox believes: then the host, method
//! and path of each request are judged, and sealed secrets are put into their headers, Basic credentials included. A value
//! that a host sends back is taken out of the headers and the body of an answer of the hosts that its seal names, also where
//! it is cut over pieces; not from what a host transforms by itself. Such answers come without compression, and websockets
//! to such hosts are refused.
//!
//! It must never connect to what `policy` did not say yes to, never pass on what it could not read in one way only, and
//! never look up a name for whoever only asks for it. Start reading at [`EgressBuilder`], then `proxy`, `requests` and
//! `inside`.

mod answer;
mod authority;
mod builder;
mod bulk;
mod direct;
mod dns;
mod exchange;
mod hello;
mod inside;
mod ledger;
mod line;
mod message;
mod names;
mod outlet;
mod proxy;
mod requests;
mod sealing;
mod socks;
mod way;
mod words;

#[cfg(test)]
mod tests;

pub use builder::{EgressBuilder, Inspection, SandboxEgress, scope_of};
pub use hello::{Hello, read_hello};
pub use way::EgressBounds;
