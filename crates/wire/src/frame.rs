//! Bytes: four of length, one of version, and a body that is exactly one message.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::VERSION;

/// The bytes before a body: its length (little-endian, version byte included) and the version.
const HEADER: usize = 5;

/// Why bytes are not a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// Longer than the reader allows; nothing of it was kept.
    #[error("a frame of {length} bytes is above the bound of {bound}")]
    TooLong {
        /// What the frame says.
        length: usize,
        /// The reader's bound.
        bound: usize,
    },
    /// Too short to hold a version.
    #[error("a frame of no length")]
    Empty,
    /// Another version than this one.
    #[error("a frame of version {0}, which this program does not speak")]
    Version(u8),
    /// Not a message.
    #[error("a frame that is no message")]
    Malformed,
    /// Something stands behind the message.
    #[error("{0} bytes behind the message")]
    Trailing(usize),
    /// The message is too long to be framed.
    #[error("a message of {0} bytes cannot be framed")]
    Unsendable(usize),
}

/// Puts a message into a frame.
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, FrameError> {
    let mut start = Vec::with_capacity(256);
    start.extend_from_slice(&[0, 0, 0, 0, VERSION]);
    let mut frame = postcard::to_extend(message, start).map_err(|_| FrameError::Malformed)?;
    let length = frame.len().saturating_sub(4);
    let said = u32::try_from(length).map_err(|_| FrameError::Unsendable(length))?;
    for (place, byte) in frame.iter_mut().zip(said.to_le_bytes()) {
        *place = byte;
    }
    Ok(frame)
}

/// Reads one message out of what follows the length: a version and a body.
pub fn decode<T: DeserializeOwned>(rest: &[u8]) -> Result<T, FrameError> {
    let (version, body) = rest.split_first().ok_or(FrameError::Empty)?;
    if *version != VERSION {
        return Err(FrameError::Version(*version));
    }
    match postcard::take_from_bytes(body) {
        Ok((message, [])) => Ok(message),
        Ok((_, behind)) => Err(FrameError::Trailing(behind.len())),
        Err(_) => Err(FrameError::Malformed),
    }
}

/// Gathers bytes as they come and gives messages as they are complete. It holds at most one frame of the bound, and
/// what was read together with it.
#[derive(Debug)]
pub struct Decoder {
    bound: usize,
    bytes: Vec<u8>,
    read: usize,
}

impl Decoder {
    /// A decoder of frames up to `bound` bytes.
    pub const fn new(bound: usize) -> Self {
        Self { bound, bytes: Vec::new(), read: 0 }
    }

    /// Takes bytes as they came.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.read > 0 {
            self.bytes.drain(..self.read);
            self.read = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The next message, if all of it is there. After an error the stream is of no use: where the next frame begins
    /// is not known.
    pub fn take<T: DeserializeOwned>(&mut self) -> Result<Option<T>, FrameError> {
        let rest = self.bytes.get(self.read..).unwrap_or_default();
        let Some((length, rest)) = rest.split_first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_le_bytes(*length) as usize;
        if length > self.bound {
            return Err(FrameError::TooLong { length, bound: self.bound });
        }
        let Some(frame) = rest.get(..length) else { return Ok(None) };
        let message = decode(frame)?;
        self.read += 4 + length;
        Ok(Some(message))
    }

    /// Whether a frame was begun and not finished.
    pub fn is_within_a_frame(&self) -> bool {
        self.bytes.len() > self.read
    }
}

/// The header and body of a [`crate::FromCell::Violation`], put together without allocating: for a signal handler.
pub fn violation(number: u32) -> ([u8; HEADER + 6], usize) {
    let mut frame = [0, 0, 0, 0, VERSION, 1, 0, 0, 0, 0, 0];
    let mut rest = number;
    let mut end = HEADER + 1;
    for place in frame.iter_mut().skip(HEADER + 1) {
        let low = u8::try_from(rest & 0x7f).unwrap_or_default();
        rest >>= 7;
        *place = if rest == 0 { low } else { low | 0x80 };
        end += 1;
        if rest == 0 {
            break;
        }
    }
    let length = u8::try_from(end.saturating_sub(4)).unwrap_or_default();
    if let Some(first) = frame.first_mut() {
        *first = length;
    }
    (frame, end)
}
