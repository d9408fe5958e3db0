//! What a plain client sees of upstreams, and what upstreams remember of it.

mod bodies;
mod handshakes;
mod over_http2;
mod recording;
mod wire;
