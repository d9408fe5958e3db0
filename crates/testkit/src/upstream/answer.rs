//! What an upstream answers: an honest message, or a lie of the kinds that a client must survive.
//!
//! An answer is data. `plain` and `lies` build them, `serve` and `http2` carry them out.

use std::time::Duration;

use super::Gate;

/// How an answer tells where its body ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Framing {
    /// By its true length.
    Length,
    /// By this length, true or not.
    Claimed(u64),
    /// In chunks, one for each piece of the body.
    Chunked,
    /// By closing the connection.
    Close,
    /// Not at all: the body follows the head, and the next answer follows the body.
    Unsaid,
}

/// A part of an answer's body, carried out in turn.
#[derive(Debug, Clone)]
pub enum Piece {
    /// These bytes.
    Bytes(Vec<u8>),
    /// Nothing until the test opens the gate.
    Wait(Gate),
    /// This byte again and again, with a pause after each, until the client goes away.
    Drip(u8, Duration),
    /// These bytes again and again, as fast as the client takes them, until it goes away.
    Endless(Vec<u8>),
    /// Nothing more until the client goes away.
    Silence,
    /// The connection is reset (over HTTP/2: the stream).
    Reset,
    /// The connection is closed here, whatever was promised.
    Close,
}

/// What an upstream does with one request.
#[derive(Debug, Clone)]
pub enum Answer {
    /// A message.
    Message(Message),
    /// What came, as JSON: `method`, `target`, `headers` (pairs), `body` (text), `connection`, `sni`. Of the
    /// target and the headers each byte is one character.
    Echo,
    /// These pieces instead of any message; over HTTP/2 the stream is reset.
    Raw(Vec<Piece>),
}

/// Headers in order; their values are sent as they are.
pub type Headers = Vec<(String, Vec<u8>)>;

/// A message with a head, sound or not.
#[derive(Debug, Clone)]
pub struct Message {
    /// The gate that the whole message waits for.
    pub held: Option<Gate>,
    /// Messages without body that come before, by status; not sent over HTTP/2.
    pub interim: Vec<(u16, Headers)>,
    /// `HTTP/1.1` or what it says instead; not used over HTTP/2.
    pub version: &'static str,
    /// The status.
    pub status: u16,
    /// The headers besides those of the framing, in order.
    pub headers: Headers,
    /// How the body ends.
    pub framing: Framing,
    /// The body.
    pub body: Vec<Piece>,
}

impl Answer {
    /// A message with this status and nothing else.
    pub fn new(status: u16) -> Self {
        Self::Message(Message {
            held: None,
            interim: Vec::new(),
            version: "HTTP/1.1",
            status,
            headers: Vec::new(),
            framing: Framing::Length,
            body: Vec::new(),
        })
    }

    /// Exactly these bytes, after which the connection is closed.
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self::Raw(vec![Piece::Bytes(bytes.into()), Piece::Close])
    }

    /// With a header more; the value is sent as it is. An echo and raw bytes have no headers to add to.
    #[must_use]
    pub fn header(self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.change(|message| message.headers.push((name.to_owned(), value.as_ref().to_vec())))
    }

    /// With these bytes as all of the body.
    #[must_use]
    pub fn body(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.change(|message| message.body = vec![Piece::Bytes(bytes.into())])
    }

    /// With a part of the body more.
    #[must_use]
    pub fn piece(self, piece: Piece) -> Self {
        self.change(|message| message.body.push(piece))
    }

    /// With another way to tell where the body ends.
    #[must_use]
    pub fn framing(self, framing: Framing) -> Self {
        self.change(|message| message.framing = framing)
    }

    /// With another version in its first line.
    #[must_use]
    pub fn version(self, version: &'static str) -> Self {
        self.change(|message| message.version = version)
    }

    /// With a message of this status before it, like 103.
    #[must_use]
    pub fn after_interim(self, status: u16) -> Self {
        self.change(|message| {
            let hint = ("link".to_owned(), b"</early>; rel=preload".to_vec());
            message.interim.push((status, vec![hint]));
        })
    }

    /// Held back as a whole until the test opens the gate.
    #[must_use]
    pub fn held_by(self, gate: &Gate) -> Self {
        self.change(|message| message.held = Some(gate.clone()))
    }

    fn change(mut self, change: impl FnOnce(&mut Message)) -> Self {
        if let Self::Message(message) = &mut self {
            change(message);
        }
        self
    }
}

impl Message {
    /// How many bytes the body has, as far as it is known beforehand.
    pub(super) fn length(&self) -> usize {
        self.body.iter().map(|piece| if let Piece::Bytes(bytes) = piece { bytes.len() } else { 0 }).sum()
    }

    /// The head as it goes over the wire, with the messages before it.
    pub(super) fn head(&self) -> Vec<u8> {
        let mut head = Vec::new();
        for (status, headers) in &self.interim {
            lines(&mut head, self.version, *status, headers);
            head.extend(b"\r\n");
        }
        lines(&mut head, self.version, self.status, &self.headers);
        match self.framing {
            Framing::Length => head.extend(format!("content-length: {}\r\n", self.length()).bytes()),
            Framing::Claimed(length) => head.extend(format!("content-length: {length}\r\n").bytes()),
            Framing::Chunked => head.extend(b"transfer-encoding: chunked\r\n"),
            Framing::Close => head.extend(b"connection: close\r\n"),
            Framing::Unsaid => {}
        }
        head.extend(b"\r\n");
        head
    }
}

fn lines(head: &mut Vec<u8>, version: &str, status: u16, headers: &[(String, Vec<u8>)]) {
    head.extend(format!("{version} {status} {}\r\n", reason(status)).bytes());
    for (name, value) in headers {
        head.extend(name.bytes());
        head.extend(b": ");
        head.extend(value);
        head.extend(b"\r\n");
    }
}

fn reason(status: u16) -> &'static str {
    http::StatusCode::from_u16(status)
        .ok()
        .and_then(|status| status.canonical_reason())
        .unwrap_or("Something")
}
