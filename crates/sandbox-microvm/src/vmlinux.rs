//! The kernel as Firecracker takes it: the plain program (ELF) that a packed kernel (bzImage) carries inside.
//!
//! Where it is, and how long it is unpacked, a packed kernel says itself, in the header that boot loaders read.

mod lz4;

use std::borrow::Cow;
use std::io::Read;

/// What a plain program begins with.
const ELF: &[u8] = b"\x7fELF";
/// Where a packed kernel says how many pieces of 512 bytes are before its code, beside the first.
const PIECES: usize = 0x1f1;
/// Where it says that it is one, and what it says.
const MARK: (usize, &[u8]) = (0x202, b"HdrS");
/// Where it says how new its header is; from this on it says where the plain kernel is.
const VERSION: (usize, u16) = (0x206, 0x0208);
/// Where it says how far behind the beginning of its code the plain kernel is, packed, and how long.
const PAYLOAD: (usize, usize) = (0x248, 0x24c);
/// The longest plain kernel.
const LONGEST: u32 = 512 << 20;
/// The most memory for undoing xz, in kibibytes, and the largest window of zstd, in bits.
const XZ_MEMORY: u32 = 256 << 10;
const ZSTD_WINDOW: u32 = 27;

/// The plain kernel of one that is packed; one that is plain already is given back.
pub(crate) fn of(image: &[u8]) -> Result<Cow<'_, [u8]>, String> {
    if image.starts_with(ELF) {
        return Ok(Cow::Borrowed(image));
    }
    let payload = payload(image).ok_or("it is neither a plain kernel (ELF) nor a packed one (bzImage)")?;
    let (packed, length) = payload.split_last_chunk::<4>().ok_or("its payload is cut")?;
    // Behind the packed kernel is how long it is unpacked; gzip ends with that itself.
    let length = u32::from_le_bytes(*length);
    if length > LONGEST {
        return Err(format!("it says that it is {length} bytes long when it is unpacked, which is too long"));
    }
    let plain = unpack(packed, payload, length)?;
    if plain.len() != length as usize {
        return Err(format!("it says that it has {length} bytes unpacked, and has {}", plain.len()));
    }
    if !plain.starts_with(ELF) {
        return Err("what is packed in it is no plain kernel (ELF)".to_owned());
    }
    Ok(Cow::Owned(plain))
}

fn payload(image: &[u8]) -> Option<&[u8]> {
    let word = |at: usize| Some(u32::from_le_bytes(image.get(at..at + 4)?.try_into().ok()?) as usize);
    let version = u16::from_le_bytes(image.get(VERSION.0..VERSION.0 + 2)?.try_into().ok()?);
    if image.get(MARK.0..MARK.0 + MARK.1.len())? != MARK.1 || version < VERSION.1 {
        return None;
    }
    // None means four, as it did when there was nobody to say so.
    let pieces = usize::from(*image.get(PIECES)?);
    let code = (if pieces == 0 { 4 } else { pieces } + 1) * 512;
    let begin = code.checked_add(word(PAYLOAD.0)?)?;
    image.get(begin..begin.checked_add(word(PAYLOAD.1)?)?)
}

/// Undoes what it is packed with, which its first bytes tell.
fn unpack(packed: &[u8], whole: &[u8], length: u32) -> Result<Vec<u8>, String> {
    let read = |from: &mut dyn Read| {
        let mut plain = Vec::new();
        // One byte more than it may have, so that one that has more is seen.
        let done = from.take(u64::from(length) + 1).read_to_end(&mut plain);
        done.map(|_| plain).map_err(|error| format!("it cannot be unpacked: {error}"))
    };
    match packed {
        [0x1f, 0x8b, ..] => read(&mut flate2::bufread::GzDecoder::new(whole)),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => {
            read(&mut lzma_rust2::XzReader::new_mem_limit(packed, false, XZ_MEMORY))
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(packed)
                .map_err(|error| format!("it cannot be unpacked: {error}"))?;
            let bounded = decoder.window_log_max(ZSTD_WINDOW);
            bounded.map_err(|error| format!("it cannot be unpacked: {error}"))?;
            read(&mut decoder.single_frame())
        }
        [0x02, 0x21, 0x4c, 0x18, blocks @ ..] => {
            lz4::unpack(blocks, length as usize).ok_or_else(|| "it cannot be unpacked as lz4".to_owned())
        }
        other => {
            let begins = other.get(..other.len().min(6)).unwrap_or_default();
            Err(format!(
                "it is packed in a way that is not undone here (it begins with {begins:02x?}): gzip, xz, zstd and lz4 are"
            ))
        }
    }
}

#[cfg(test)]
mod tests;
