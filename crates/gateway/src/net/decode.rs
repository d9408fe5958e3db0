//! Undoes content encodings as the bytes come, and stops at the limit: a bomb never takes more memory than the limit,
//! one block and the window of its encoding (32 KiB gzip, 16 MiB brotli, 8 MiB zstd).
//!
//! It must never cut: a body over the limit is an error.

use std::io::{self, Write};

use bailiwick_types::{DenialReason, Refused};
use brotli_decompressor::DecompressorWriter;
use flate2::write::MultiGzDecoder;
use flate2::{Decompress, FlushDecompress, Status};

use super::refusal::failed;

/// What we say we understand.
pub(super) const ACCEPTED: &str = "gzip, br, zstd, deflate";

/// The most encodings one body may be wrapped in.
const MOST_ENCODINGS: usize = 2;
/// What a brotli decoder writes at once.
const BLOCK: usize = 32 * 1024;
/// The largest zstd window, as a power of two; what RFC 9659 has every decoder support, and none more.
const ZSTD_WINDOW_LOG: u32 = 23;

/// An encoding that we can undo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// What `Content-Encoding` says, in the order in which the encodings were put on; `None` if we cannot undo it.
pub(super) fn encodings(header: &str) -> Option<Vec<Encoding>> {
    let mut found = Vec::new();
    for word in header.split(',').map(str::trim) {
        let encoding = match word.to_ascii_lowercase().as_str() {
            "" | "identity" => continue,
            "gzip" | "x-gzip" => Encoding::Gzip,
            "deflate" => Encoding::Deflate,
            "br" => Encoding::Brotli,
            "zstd" => Encoding::Zstd,
            _ => return None,
        };
        found.push(encoding);
    }
    (found.len() <= MOST_ENCODINGS).then_some(found)
}

/// One step of decoding; the last one is the bounded buffer.
trait Stage: Write + Send {
    fn end(self: Box<Self>) -> io::Result<Vec<u8>>;
}

/// Decodes a body that comes in pieces.
pub(super) struct Decoder {
    stage: Box<dyn Stage>,
    most: u64,
    came: u64,
}

impl Decoder {
    /// For a body in these encodings, of at most so many bytes before and after.
    pub(super) fn new(encodings: &[Encoding], most: u64) -> Result<Self, Refused> {
        let mut stage: Box<dyn Stage> = Box::new(Bounded { bytes: Vec::new(), most });
        for encoding in encodings {
            stage = match encoding {
                Encoding::Gzip => Box::new(MultiGzDecoder::new(stage)),
                Encoding::Deflate => Box::new(Deflate { inner: stage, state: None, has_ended: false }),
                Encoding::Brotli => Box::new(DecompressorWriter::new(stage, BLOCK)),
                Encoding::Zstd => Box::new(zstd_stage(stage).map_err(|_| broken())?),
            };
        }
        Ok(Self { stage, most, came: 0 })
    }

    /// Takes the next piece.
    pub(super) fn push(&mut self, piece: &[u8]) -> Result<(), Refused> {
        self.came += piece.len() as u64;
        // Also what decodes to nothing has to end some time.
        if self.came > self.most {
            return Err(too_large(self.most));
        }
        self.stage.write_all(piece).map_err(|error| self.refused(&error))
    }

    /// The whole body, after the last piece.
    pub(super) fn end(self) -> Result<Vec<u8>, Refused> {
        let Self { stage, most, came } = self;
        // An empty body is empty in every encoding.
        if came == 0 {
            return Ok(Vec::new());
        }
        stage.end().map_err(|error| if is_over(&error) { too_large(most) } else { broken() })
    }

    fn refused(&self, error: &io::Error) -> Refused {
        if is_over(error) { too_large(self.most) } else { broken() }
    }
}

/// The refusal of a body that is over its limit.
pub(super) fn too_large(most: u64) -> Refused {
    failed(DenialReason::TooLarge, format!("the body is larger than the {most} bytes a body may have"))
        .with_hint("ask the server for less: a page, a range of rows, fewer fields")
}

fn broken() -> Refused {
    failed(
        DenialReason::BadAnswer,
        "the body is not in the encoding that its header names, or ends too early",
    )
}

fn is_over(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::FileTooLarge
}

/// The body so far.
struct Bounded {
    bytes: Vec<u8>,
    most: u64,
}

impl Write for Bounded {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        if self.bytes.len() as u64 + piece.len() as u64 > self.most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stage for Bounded {
    fn end(self: Box<Self>) -> io::Result<Vec<u8>> {
        Ok(self.bytes)
    }
}

impl Stage for MultiGzDecoder<Box<dyn Stage>> {
    fn end(self: Box<Self>) -> io::Result<Vec<u8>> {
        self.finish()?.end()
    }
}

impl Stage for DecompressorWriter<Box<dyn Stage>> {
    fn end(mut self: Box<Self>) -> io::Result<Vec<u8>> {
        self.close()?;
        self.into_inner().map_err(|_| io::Error::from(io::ErrorKind::UnexpectedEof))?.end()
    }
}

impl Stage for zstd::stream::write::Decoder<'static, Box<dyn Stage>> {
    fn end(self: Box<Self>) -> io::Result<Vec<u8>> {
        self.finish()?.end()
    }
}

fn zstd_stage(inner: Box<dyn Stage>) -> io::Result<zstd::stream::write::Decoder<'static, Box<dyn Stage>>> {
    let mut decoder = zstd::stream::write::Decoder::new(inner)?;
    decoder.window_log_max(ZSTD_WINDOW_LOG)?;
    Ok(decoder)
}

/// `deflate` is zlib by the standard and bare deflate by habit; the first byte tells which.
///
/// Written on the bare decompressor: the writers of the same crate do not say when a stream ends too early.
struct Deflate {
    inner: Box<dyn Stage>,
    state: Option<Decompress>,
    has_ended: bool,
}

impl Write for Deflate {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let Some(first) = piece.first() else { return Ok(0) };
        // What follows the end is nobody's.
        if self.has_ended {
            return Err(io::ErrorKind::InvalidData.into());
        }
        // Compression method 8 with a window of at most 32 KiB; as bare deflate it would be a stored block of
        // an odd kind that no encoder begins with.
        let is_zlib = first & 0x0f == 8 && first >> 4 <= 7;
        let state = self.state.get_or_insert_with(|| Decompress::new(is_zlib));
        let mut block = vec![0; BLOCK];
        let mut rest = piece;
        loop {
            let (taken, given) = (state.total_in(), state.total_out());
            let status = state
                .decompress(rest, &mut block, FlushDecompress::None)
                .map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
            let took = usize::try_from(state.total_in() - taken).unwrap_or(usize::MAX);
            let gave = usize::try_from(state.total_out() - given).unwrap_or(usize::MAX);
            self.inner.write_all(block.get(..gave).unwrap_or_default())?;
            rest = rest.get(took..).unwrap_or_default();
            if status == Status::StreamEnd {
                self.has_ended = true;
                return if rest.is_empty() {
                    Ok(piece.len())
                } else {
                    Err(io::ErrorKind::InvalidData.into())
                };
            }
            // A full block may not have been all there was.
            if rest.is_empty() && gave < block.len() {
                return Ok(piece.len());
            }
            if took == 0 && gave == 0 {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl Stage for Deflate {
    fn end(self: Box<Self>) -> io::Result<Vec<u8>> {
        if !self.has_ended {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.inner.end()
    }
}
