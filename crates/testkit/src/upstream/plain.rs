//! Answers that a well-behaved upstream gives: bodies, redirects, cookies, packed bodies, slow ones.

use std::time::Duration;

use super::{Answer, Coding, Framing, Gate, Piece};

impl Answer {
    /// 200 with a text.
    pub fn ok(body: impl Into<Vec<u8>>) -> Self {
        Self::new(200).header("content-type", "text/plain; charset=utf-8").body(body)
    }

    /// 200 with JSON.
    pub fn json(text: &str) -> Self {
        Self::new(200).header("content-type", "application/json").body(text)
    }

    /// The request itself as JSON.
    pub const fn echo() -> Self {
        Self::Echo
    }

    /// 200 in chunks.
    pub fn chunked(chunks: &[&[u8]]) -> Self {
        chunks.iter().fold(Self::new(200).framing(Framing::Chunked), |answer, chunk| {
            answer.piece(Piece::Bytes(chunk.to_vec()))
        })
    }

    /// A redirect with this location, as it is: relative, of another origin, or no address at all.
    pub fn redirect(status: u16, location: &str) -> Self {
        Self::new(status).header("location", location)
    }

    /// A redirect that does not say where.
    pub fn redirect_nowhere(status: u16) -> Self {
        Self::new(status)
    }

    /// 200 that sets these cookies, one header each.
    pub fn set_cookies(cookies: &[&str]) -> Self {
        cookies.iter().fold(Self::ok("cookies"), |answer, cookie| answer.header("set-cookie", cookie))
    }

    /// 200 with a packed body.
    pub fn packed(coding: Coding, body: &[u8]) -> Self {
        Self::new(200).header("content-encoding", coding.label()).body(coding.pack(body))
    }

    /// 200 with a body packed several times, the first coding first; all of them in one header.
    pub fn packed_in_turn(codings: &[Coding], body: &[u8]) -> Self {
        let labels: Vec<&str> = codings.iter().map(|coding| coding.label()).collect();
        let packed = codings.iter().fold(body.to_vec(), |body, coding| coding.pack(&body));
        Self::new(200).header("content-encoding", labels.join(", ")).body(packed)
    }

    /// 200 whose whole message waits until the test opens the gate.
    pub fn late(gate: &Gate, body: &str) -> Self {
        Self::ok(body).held_by(gate)
    }

    /// 200 at once, then the first part of the body, and the rest when the test opens the gate.
    pub fn paused(first: &str, gate: &Gate, rest: &str) -> Self {
        Self::ok(first).piece(Piece::Wait(gate.clone())).piece(Piece::Bytes(rest.into()))
    }

    /// 200 and then a byte now and then, for as long as the client stays.
    pub fn drip(every: Duration) -> Self {
        Self::new(200).framing(Framing::Close).piece(Piece::Drip(b'.', every))
    }

    /// HTTP/1.0 that ends its body by closing.
    pub fn http10(body: &str) -> Self {
        Self::ok(body).version("HTTP/1.0").framing(Framing::Close)
    }
}
