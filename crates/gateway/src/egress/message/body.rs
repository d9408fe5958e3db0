//! Bodies, passed on piece by piece as they come, in a framing of our own.
//!
//! Chunks are read strictly: a size of hex digits, CR LF, so many bytes, CR LF; nothing else. What is read ahead of a piece
//! stays with its reader, for it belongs to the next message.

use std::io;

use bailiwick_types::DenialReason;
use tokio::io::AsyncWriteExt as _;

use super::super::bulk::{Broken, pass_on};
use super::super::line::{Activity, Reader, Writer};
use super::Framing;

/// The longest line of a chunk's size.
const MOST_SIZE_LINE: usize = 256;
/// The most lines behind the last chunk; they are read and dropped.
const MOST_TRAILERS: usize = 64;
/// The longest of those.
const MOST_TRAILER: usize = 8 * 1024;

/// Why a body was not passed on to its end.
#[derive(Debug)]
pub(in super::super) enum BodyFault {
    /// It is not one.
    Malformed(&'static str),
    /// It ended early, or who sends it went away.
    Cut,
    /// Who gets it went away.
    Unwanted,
    /// What looks at it said no, for this reason.
    Stopped(DenialReason),
}

/// What looks at a body on its way, and may change it.
pub(in super::super) trait Look: Send {
    /// What is to be passed on of this piece; a no ends the body.
    fn piece(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<(), BodyFault>;
    /// What is to be passed on at the end; a no ends the body here as well.
    fn end(&mut self, out: &mut Vec<u8>) -> Result<(), BodyFault>;
}

/// Where a body goes, and how its pieces are framed there.
pub(in super::super) struct Sink<'a> {
    pub(in super::super) writer: &'a mut Writer,
    pub(in super::super) in_chunks: bool,
    pub(in super::super) look: Option<Box<dyn Look>>,
    pub(in super::super) activity: &'a Activity,
}

impl Sink<'_> {
    /// Whether bytes go there as they come.
    fn is_plain(&self) -> bool {
        self.look.is_none() && !self.in_chunks
    }

    async fn piece(&mut self, piece: &[u8]) -> Result<(), BodyFault> {
        match &mut self.look {
            None => self.write(piece).await,
            Some(look) => {
                let mut out = Vec::with_capacity(piece.len());
                look.piece(piece, &mut out)?;
                self.write(&out).await
            }
        }
    }

    async fn write(&mut self, piece: &[u8]) -> Result<(), BodyFault> {
        if piece.is_empty() {
            return Ok(());
        }
        let writing = async {
            if self.in_chunks {
                self.writer.write_all(format!("{:x}\r\n", piece.len()).as_bytes()).await?;
                self.writer.write_all(piece).await?;
                self.writer.write_all(b"\r\n").await?;
            } else {
                self.writer.write_all(piece).await?;
            }
            self.writer.flush().await
        };
        writing.await.map_err(|_: io::Error| BodyFault::Unwanted)?;
        self.activity.moved();
        Ok(())
    }

    async fn end(&mut self) -> Result<(), BodyFault> {
        if let Some(mut look) = self.look.take() {
            let mut out = Vec::new();
            look.end(&mut out)?;
            self.write(&out).await?;
        }
        if self.in_chunks {
            self.writer.write_all(b"0\r\n\r\n").await.map_err(|_| BodyFault::Unwanted)?;
            self.writer.flush().await.map_err(|_| BodyFault::Unwanted)?;
        }
        Ok(())
    }
}

/// Whose chunks are read: a guest's must be as plain as can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Chunks {
    /// Without extensions.
    Plain,
    /// With extensions, which are dropped.
    Extended,
}

/// Passes a body on to its end.
pub(in super::super) async fn pass_body(
    reader: &mut Reader,
    framing: Framing,
    chunks: Chunks,
    mut sink: Sink<'_>,
) -> Result<(), BodyFault> {
    match framing {
        Framing::Empty => {}
        Framing::Length(length) => pass(reader, length, &mut sink).await?,
        Framing::UntilClose => loop {
            let count = reader.unread().len();
            sink.piece(reader.unread()).await?;
            reader.used(count);
            if reader.fill().await.map_err(|_| BodyFault::Cut)? == 0 {
                break;
            }
        },
        Framing::Chunked => {
            loop {
                let size = size_line(&line(reader, MOST_SIZE_LINE).await?, chunks)?;
                if size == 0 {
                    break;
                }
                pass(reader, size, &mut sink).await?;
                if !line(reader, 2).await?.is_empty() {
                    return Err(BodyFault::Malformed("a chunk does not end where it says"));
                }
            }
            trailers(reader).await?;
        }
    }
    sink.end().await
}

async fn pass(reader: &mut Reader, length: u64, sink: &mut Sink<'_>) -> Result<(), BodyFault> {
    let mut left = length;
    while left > 0 {
        if reader.is_busy() && sink.is_plain() {
            left -=
                pass_on(reader, sink.writer, left, sink.activity).await.map_err(|broken| match broken {
                    Broken::From(_) => BodyFault::Cut,
                    Broken::To(_) => BodyFault::Unwanted,
                })?;
            if left == 0 {
                break;
            }
        }
        if reader.unread().is_empty() && reader.fill().await.map_err(|_| BodyFault::Cut)? == 0 {
            return Err(BodyFault::Cut);
        }
        let count = usize::try_from(left).unwrap_or(usize::MAX).min(reader.unread().len());
        sink.piece(reader.unread().get(..count).unwrap_or_default()).await?;
        reader.used(count);
        left -= count as u64;
    }
    Ok(())
}

/// A line without its end, which is CR LF.
async fn line(reader: &mut Reader, most: usize) -> Result<Vec<u8>, BodyFault> {
    loop {
        if let Some(end) = reader.unread().iter().position(|byte| *byte == b'\n') {
            let line = reader.unread().get(..end).unwrap_or_default();
            let Some(line) = line.strip_suffix(b"\r").filter(|line| !line.contains(&b'\r')) else {
                return Err(BodyFault::Malformed("a line of a chunk ends without CR LF"));
            };
            let line = line.to_vec();
            reader.used(end + 1);
            return if line.len() > most { Err(TOO_LONG) } else { Ok(line) };
        }
        if reader.unread().len() > most + 2 {
            return Err(TOO_LONG);
        }
        if reader.fill().await.map_err(|_| BodyFault::Cut)? == 0 {
            return Err(BodyFault::Cut);
        }
    }
}

const TOO_LONG: BodyFault = BodyFault::Malformed("a line between chunks is longer than it may be");

fn size_line(line: &[u8], chunks: Chunks) -> Result<u64, BodyFault> {
    const NO_SIZE: BodyFault = BodyFault::Malformed("a chunk has no size that is one");
    let size = match chunks {
        Chunks::Plain => line,
        Chunks::Extended => line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii_end(),
    };
    if size.is_empty() || size.len() > 15 || !size.iter().all(u8::is_ascii_hexdigit) {
        return Err(NO_SIZE);
    }
    std::str::from_utf8(size).ok().and_then(|text| u64::from_str_radix(text, 16).ok()).ok_or(NO_SIZE)
}

/// Reads what is behind the last chunk. It is dropped: nothing in it may change what was said before.
async fn trailers(reader: &mut Reader) -> Result<(), BodyFault> {
    for _ in 0..MOST_TRAILERS {
        if line(reader, MOST_TRAILER).await?.is_empty() {
            return Ok(());
        }
    }
    Err(BodyFault::Malformed("there are too many lines behind the last chunk"))
}
