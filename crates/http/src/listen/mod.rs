//! The listener: accepts connections, bounds what comes over them, ends gracefully.
//!
//! Without TLS it speaks HTTP/1.1 alone; with TLS also HTTP/2, where a client asks for it by ALPN. There is no HTTP/2
//! without TLS: nobody needs it on loopback, and it is one parser less for whoever can connect. It must never decide
//! who somebody is: that is the perimeter's.
//!
//! A request whose body is `chunked` is the last one on its connection: see `head.rs`.
//!
//! There is no time limit on an answer as a whole: a call has its own deadline, and waiting for a person has another.
//! What is bounded is silence: of whoever sends a head or a body, and of whoever does not read the answer.

mod answer;
mod bodies;
mod body;
mod closing;
mod connection;
mod head;
mod lent;
mod linger;
mod places;
mod reach;
mod screen;
mod serving;
mod taken;
#[cfg(test)]
mod tests;
mod tls;
mod watched;

use std::net::SocketAddr;

pub(crate) use bodies::BodyCharge;
pub use closing::Closing;
pub(crate) use places::{Crowded, Seat, Staying, counted_for};
pub use reach::own_listeners;
pub use serving::{Bounds, ServeError, Serving, bind, serve};

/// The two ends of the connection that a request came over; an extension of every request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// Whoever asks. An IPv4 address is written as one, whatever socket it came to.
    pub address: SocketAddr,
    /// The address of ours that they reached.
    pub reached: SocketAddr,
    /// Whether the connection is encrypted.
    pub encrypted: bool,
}

impl Peer {
    /// Whether they are on this machine.
    pub fn is_loopback(&self) -> bool {
        self.address.ip().is_loopback()
    }
}
