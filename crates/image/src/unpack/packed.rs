//! Undoes compression within bounds: what comes out is counted, and ends with an error before it is too much.

use std::io::{self, BufRead as _, BufReader, Read};

use crate::{Bounds, ImageError};

/// The largest window of zstd: 128 MiB of memory.
const WINDOW: u32 = 27;
/// The most memory that undoing xz may take, in KiB: as much as `xz -9` needs, and twice that.
const XZ_MEMORY: u32 = 128 * 1024;
/// An entry of an archive has a header, and its data is filled up to the next block.
const AROUND_ENTRY: u64 = 2048;

/// A reader of what is packed in a file of this size. What it is packed with is told by its first bytes.
pub(crate) fn opened(
    file: impl Read + 'static,
    size: u64,
    bounds: &Bounds,
) -> Result<Box<dyn Read>, ImageError> {
    const STEP: &str = "read a layer";
    let mut file = BufReader::with_capacity(128 * 1024, file);
    let first = file.fill_buf().map_err(ImageError::io(STEP))?;
    let unsupported = |name: &str| {
        Err(ImageError::Unsupported(format!(
            "{name} is not undone here; pack it with gzip, zstd, xz or not at all"
        )))
    };
    let plain: Box<dyn Read> = if first.starts_with(&[0x1f, 0x8b]) {
        Box::new(flate2::bufread::MultiGzDecoder::new(file))
    } else if first.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        let mut decoder = zstd::stream::read::Decoder::with_buffer(file).map_err(ImageError::io(STEP))?;
        decoder.window_log_max(WINDOW).map_err(ImageError::io(STEP))?;
        Box::new(decoder)
    } else if first.starts_with(b"\xfd7zXZ\0") {
        Box::new(lzma_rust2::XzReader::new_mem_limit(file, true, XZ_MEMORY))
    } else if first.starts_with(b"BZh") {
        return unsupported("bzip2");
    } else if first.starts_with(b"LZIP") {
        return unsupported("lzip");
    } else {
        Box::new(file)
    };
    let around = bounds.entries.saturating_mul(AROUND_ENTRY);
    let most = bounds.free.saturating_add(size.saturating_mul(bounds.ratio));
    Ok(Box::new(Bounded { inner: plain, left: most.min(bounds.bytes.saturating_add(around)), most }))
}

struct Bounded<R> {
    inner: R,
    left: u64,
    most: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let Some(left) = self.left.checked_sub(read as u64) else {
            let what = "more bytes in a layer of its packed size";
            return Err(io::Error::other(ImageError::Bound { what, most: self.most }));
        };
        self.left = left;
        Ok(read)
    }
}

/// Our own error, where a reader was ended by one; else that the thing cannot be read.
pub(crate) fn unwrapped(what: &str, error: io::Error) -> ImageError {
    let why = error.to_string();
    let ours = error.into_inner().and_then(|inner| inner.downcast::<ImageError>().ok());
    match ours {
        Some(ours) => *ours,
        _ => ImageError::malformed(what, why),
    }
}
