//! Content codings: bodies packed as a server would, and bodies that are small on the wire and large behind it.

use std::io::Write as _;

/// A content coding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// `gzip`.
    Gzip,
    /// `deflate`, which is zlib's format.
    Deflate,
    /// `deflate` as some servers send it: without zlib's header.
    RawDeflate,
    /// `br`.
    Brotli,
    /// `zstd`.
    Zstd,
}

impl Coding {
    /// Every coding.
    pub const ALL: [Self; 5] = [Self::Gzip, Self::Deflate, Self::RawDeflate, Self::Brotli, Self::Zstd];

    /// Its label in `content-encoding`.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Deflate | Self::RawDeflate => "deflate",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        }
    }

    /// The bytes in this coding.
    ///
    /// # Panics
    /// When the coder fails, which it has no reason to in memory.
    pub fn pack(self, bytes: &[u8]) -> Vec<u8> {
        self.pack_pieces(std::iter::once(bytes))
    }

    /// As many zeros as said, in this coding: a thousandth of that or less.
    ///
    /// # Panics
    /// When the coder fails, which it has no reason to in memory.
    pub fn bomb(self, size: usize) -> Vec<u8> {
        const PIECE: usize = 1 << 20;
        let zeros = vec![0; PIECE];
        let pieces = (0..size.div_ceil(PIECE)).map(|number| {
            let left = size - number * PIECE;
            zeros.get(..left.min(PIECE)).unwrap_or(&zeros)
        });
        self.pack_pieces(pieces)
    }

    #[expect(clippy::expect_used, reason = "a test fixture that cannot be made ends its test")]
    fn pack_pieces<'a>(self, pieces: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
        let level = flate2::Compression::default();
        let failed = "a coder that writes to memory";
        match self {
            Self::Gzip => {
                let mut coder = flate2::write::GzEncoder::new(Vec::new(), level);
                pieces.for_each(|piece| coder.write_all(piece).expect(failed));
                coder.finish().expect(failed)
            }
            Self::Deflate => {
                let mut coder = flate2::write::ZlibEncoder::new(Vec::new(), level);
                pieces.for_each(|piece| coder.write_all(piece).expect(failed));
                coder.finish().expect(failed)
            }
            Self::RawDeflate => {
                let mut coder = flate2::write::DeflateEncoder::new(Vec::new(), level);
                pieces.for_each(|piece| coder.write_all(piece).expect(failed));
                coder.finish().expect(failed)
            }
            Self::Brotli => {
                let mut coder = brotli::CompressorWriter::new(Vec::new(), 4096, 5, 22);
                pieces.for_each(|piece| coder.write_all(piece).expect(failed));
                coder.into_inner()
            }
            Self::Zstd => {
                let mut coder = zstd::Encoder::new(Vec::new(), 3).expect(failed);
                pieces.for_each(|piece| coder.write_all(piece).expect(failed));
                coder.finish().expect(failed)
            }
        }
    }
}
