//! LZ4 as kernels are packed with it: blocks, each with its length before it, and in a block pieces of bytes as they are, each
//! followed by a copy of what came before.

/// The longest that a block may be unpacked.
const BLOCK: usize = 8 << 20;
/// The shortest copy.
const SHORTEST: usize = 4;

/// Unpacks blocks, if that is no more than so many bytes.
pub(super) fn unpack(mut packed: &[u8], most: usize) -> Option<Vec<u8>> {
    let mut plain = Vec::new();
    while !packed.is_empty() {
        let (length, rest) = packed.split_first_chunk::<4>()?;
        let (block, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        let begin = plain.len();
        let bound = most.min(begin.checked_add(BLOCK)?);
        unpack_block(block, &mut plain, begin, bound)?;
        packed = rest;
    }
    Some(plain)
}

fn unpack_block(mut block: &[u8], plain: &mut Vec<u8>, begin: usize, bound: usize) -> Option<()> {
    loop {
        let (token, rest) = block.split_first()?;
        block = rest;
        let as_it_is = length(usize::from(token >> 4), &mut block)?;
        let (bytes, rest) = block.split_at_checked(as_it_is)?;
        if bytes.len() > bound.checked_sub(plain.len())? {
            return None;
        }
        plain.extend_from_slice(bytes);
        if rest.is_empty() {
            // The last piece has no copy behind it.
            return Some(());
        }
        let (back, rest) = rest.split_first_chunk::<2>()?;
        block = rest;
        let back = usize::from(u16::from_le_bytes(*back));
        let copied = length(usize::from(token & 15), &mut block)?.checked_add(SHORTEST)?;
        if back == 0 || back > plain.len() - begin || copied > bound.checked_sub(plain.len())? {
            return None;
        }
        // A copy may reach into itself: then what it made is copied again.
        let mut from = plain.len() - back;
        let mut left = copied;
        while left > 0 {
            let piece = left.min(plain.len() - from);
            plain.extend_from_within(from..from + piece);
            from += piece;
            left -= piece;
        }
    }
}

/// A length that goes on in the next bytes where four bits are too few for it.
fn length(bits: usize, block: &mut &[u8]) -> Option<usize> {
    let mut length = bits;
    if bits == 15 {
        loop {
            let (more, rest) = block.split_first()?;
            *block = rest;
            length = length.checked_add(usize::from(*more))?;
            if *more != u8::MAX {
                break;
            }
        }
    }
    Some(length)
}
