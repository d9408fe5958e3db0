//! Messages on a stream: four bytes of length, big-endian, then that many bytes of JSON.
//!
//! Nothing is believed: a length is bounded before a byte is kept for it, memory grows with what came and not with what
//! was announced, and nesting is bounded by the parser. What could not be read over there is not sent from here.

use std::io;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// The longest message. Tests meet the same bound sooner: without optimisation 64 MiB take them half a minute.
pub(crate) const MOST_BYTES: usize = if cfg!(test) { 1 << 20 } else { 64 << 20 };
/// The deepest nesting that the parser takes.
pub(crate) const MOST_DEPTH: usize = 127;
const HEAD: usize = 4;
/// How much room is made for one reading.
const ROOM: usize = 64 << 10;

/// Why there is no message.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FrameError {
    /// The stream failed.
    #[error("the connection failed: {0}")]
    Stream(#[from] io::Error),
    /// The stream ended within a message.
    #[error("the connection ended within a message")]
    Partial,
    /// It is longer than a message may be.
    #[error("a message of {0} bytes is longer than {MOST_BYTES}")]
    TooLong(usize),
    /// It nests deeper than a message may.
    #[error("a message nests deeper than {MOST_DEPTH} levels")]
    TooDeep,
    /// It is no message.
    #[error("a message is not one: {0}")]
    Broken(serde_json::Error),
}

/// A message as bytes, with its length before it.
pub(crate) fn encode(message: &impl Serialize) -> Result<Vec<u8>, FrameError> {
    let mut bytes = Bounded { bytes: vec![0; HEAD], length: HEAD };
    serde_json::to_writer(&mut bytes, message).map_err(FrameError::Broken)?;
    let length = bytes.length - HEAD;
    let told = match u32::try_from(length) {
        Ok(told) if length <= MOST_BYTES => told,
        _ => return Err(FrameError::TooLong(length)),
    };
    let mut bytes = bytes.bytes;
    if depth(bytes.get(HEAD..).unwrap_or_default()) > MOST_DEPTH {
        return Err(FrameError::TooDeep);
    }
    bytes.iter_mut().zip(told.to_be_bytes()).for_each(|(to, from)| *to = from);
    Ok(bytes)
}

/// Keeps no more than a message may have, and counts the rest.
struct Bounded {
    bytes: Vec<u8>,
    length: usize,
}

impl io::Write for Bounded {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        self.length += more.len();
        if self.length <= HEAD + MOST_BYTES {
            self.bytes.extend_from_slice(more);
        }
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// How deep a JSON text nests.
fn depth(json: &[u8]) -> usize {
    let (mut now, mut most) = (0_usize, 0);
    let (mut quoted, mut escaped) = (false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'[' | b'{' => {
                now += 1;
                most = most.max(now);
            }
            b']' | b'}' => now = now.saturating_sub(1),
            _ => {}
        }
    }
    most
}

/// Messages from a stream.
#[derive(Debug)]
pub(crate) struct Frames<R> {
    stream: R,
    /// What came and was not taken yet.
    came: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Frames<R> {
    pub(crate) const fn new(stream: R) -> Self {
        Self { stream, came: Vec::new() }
    }

    /// The next message; none when the stream ended behind one. Nothing is lost when the future is dropped.
    pub(crate) async fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, FrameError> {
        loop {
            let wanted = match self.came.first_chunk::<HEAD>() {
                Some(head) => {
                    let length = usize::try_from(u32::from_be_bytes(*head)).unwrap_or(usize::MAX);
                    if length > MOST_BYTES {
                        return Err(FrameError::TooLong(length));
                    }
                    HEAD + length
                }
                None => HEAD,
            };
            if wanted > HEAD
                && let Some(message) = self.came.get(HEAD..wanted)
            {
                let message = serde_json::from_slice(message).map_err(FrameError::Broken);
                self.came.drain(..wanted);
                // What a long message needed is not kept for short ones.
                self.came.shrink_to(ROOM);
                return message.map(Some);
            }
            if wanted == HEAD && self.came.len() >= HEAD {
                return Err(FrameError::Broken(serde::de::Error::custom("it is empty")));
            }
            self.came.reserve(ROOM.min(wanted.saturating_sub(self.came.len()).max(1024)));
            if self.stream.read_buf(&mut self.came).await? == 0 {
                return if self.came.is_empty() { Ok(None) } else { Err(FrameError::Partial) };
            }
        }
    }
}
