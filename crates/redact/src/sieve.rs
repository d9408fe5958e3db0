//! Which escapes of a text can be part of a match at all: a quick look that spares the search most of them.
//!
//! It must never say no to an escape that is part of a match; a yes costs time only. Start at [`Sieve::next`].
//!
//! Text is full of `=`, `&` and `\n` that have nothing to do with a secret. An escape matters if what it stands for occurs in
//! a pattern, together with what stands beside it: every match that covers it covers four bytes in a row with it among
//! them, and these four have to occur in some pattern.

use crate::disguise::Pattern;
use crate::entities;
use crate::readings::{Memo, is_introducer};

/// The length of the stretches that are remembered; no pattern is shorter.
const GRAM: usize = 4;
/// How many bits are kept for each stretch: one in so many is set by accident.
const BITS_PER_GRAM: usize = 32;

/// How many bytes behind an escape a closer look takes into account.
const AHEAD: usize = 7;
/// How many readings a closer look tries before it lets an escape through.
const MOST_TRIED: usize = 64;

/// What occurs in the patterns of a set.
pub(crate) struct Sieve {
    bytes: Box<[bool; 256]>,
    /// Whether a pattern ends with this byte.
    ends: Box<[bool; 256]>,
    /// A bit for each two bytes that stand side by side.
    pairs: Box<[u64; 1024]>,
    grams: Box<[u64]>,
    /// How far a hash is shifted to number a bit of `grams`.
    shift: u32,
}

impl Sieve {
    /// `distinct` bounds how many different stretches there are; the filter grows with it.
    pub(crate) fn new(patterns: &[Pattern], distinct: usize) -> Self {
        let bits = distinct.saturating_mul(BITS_PER_GRAM).next_power_of_two().max(64);
        let mut sieve = Self {
            bytes: Box::new([false; 256]),
            ends: Box::new([false; 256]),
            pairs: Box::new([0; 1024]),
            grams: vec![0; bits / 64].into_boxed_slice(),
            shift: u64::BITS - bits.trailing_zeros(),
        };
        for pattern in patterns {
            for byte in pattern.bytes() {
                if let Some(occurs) = sieve.bytes.get_mut(usize::from(byte)) {
                    *occurs = true;
                }
            }
            let last = pattern.as_bytes().last().copied().unwrap_or_default();
            if let Some(ends) = sieve.ends.get_mut(usize::from(last)) {
                *ends = true;
            }
            for pair in pattern.as_bytes().windows(2) {
                let bit = pair.iter().fold(0, |number, byte| number << 8 | usize::from(*byte));
                if let Some(word) = sieve.pairs.get_mut(bit / 64) {
                    *word |= 1 << (bit % 64);
                }
            }
            for gram in pattern.as_bytes().windows(GRAM) {
                let bit = sieve.bit(gram.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)));
                if let Some(word) = sieve.grams.get_mut(bit / 64) {
                    *word |= 1 << (bit % 64);
                }
            }
        }
        sieve
    }

    /// Whether a pattern holds all of these bytes.
    pub(crate) fn knows(&self, bytes: &[u8]) -> bool {
        bytes.iter().all(|byte| self.bytes.get(usize::from(*byte)).is_some_and(|occurs| *occurs))
    }

    /// The next position from `from` on where an escape begins that may matter, or may turn out to with more text.
    ///
    /// A match is found from the first escape that it covers, so the bytes before an escape count as they stand.
    pub(crate) fn next(&self, memo: &mut Memo, text: &[u8], from: usize, is_whole: bool) -> Option<usize> {
        let mut from = from;
        loop {
            let at = from + find_introducer(text.get(from..)?)?;
            if self.matters(memo, text, at, is_whole) {
                return Some(at);
            }
            from = at + 1;
        }
    }

    /// Whether a match can begin as the text stands and go on with the escape at `at`, as far as can be told.
    pub(crate) fn matters(&self, memo: &mut Memo, text: &[u8], at: usize, is_whole: bool) -> bool {
        let from = at.checked_sub(GRAM - 1);
        let remembered = |memo: &Memo| Some(memo.verdicts.get(0, text, from?)?.0);
        // Names are looked up slowly.
        if text.get(at) == Some(&b'&')
            && let Some(verdict) = remembered(memo)
        {
            return verdict;
        }
        match simple(text.get(at..).unwrap_or_default()) {
            Simple::Nothing => return false,
            Simple::Byte(byte, _) if !self.knows(&[byte]) => return false,
            Simple::Byte(byte, length) => {
                if let Some(fits) = self.fits(text, at, byte, length) {
                    return fits;
                }
            }
            Simple::High(byte) => {
                let mut buffer = [0; 4];
                let char = char::from(byte).encode_utf8(&mut buffer);
                return self.knows(&[byte]) || self.knows(char.as_bytes());
            }
            Simple::Unknown => {}
        }
        if let Some(verdict) = remembered(memo) {
            return verdict;
        }
        let Some(from) = from else { return true };
        let mut look = Look { sieve: self, memo, text, is_whole, reach: at, left: MOST_TRIED };
        let verdict = look.at_escape(from, at);
        let reach = look.reach;
        if reach < usize::MAX {
            memo.verdicts.put(0, text, from, reach - from, verdict);
        }
        verdict
    }

    /// Whether a byte that is spelled by `length` bytes from `at` on fits between its neighbours; unknown if one behind it may
    /// begin an escape, or one is missing.
    fn fits(&self, text: &[u8], at: usize, byte: u8, length: usize) -> Option<bool> {
        let before = at.checked_sub(GRAM - 1).and_then(|from| text.get(from..at))?;
        let behind = text.get(at + length..at + length + GRAM - 1)?;
        if behind.iter().any(|byte| is_introducer(*byte)) {
            return None;
        }
        let around = before.iter().chain([&byte]).chain(behind);
        let number = around.fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        Some((0..GRAM).any(|index| self.has(number >> (8 * index))))
    }

    /// Whether the last bytes of this number occur in a row in a pattern.
    fn has(&self, number: u64) -> bool {
        let bit = self.bit(number & 0xffff_ffff);
        self.grams.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }

    fn has_pair(&self, pair: u64) -> bool {
        let word = usize::try_from(pair / 64).ok().and_then(|index| self.pairs.get(index));
        word.is_some_and(|word| word >> (pair % 64) & 1 == 1)
    }

    fn bit(&self, gram: u64) -> usize {
        let hash = gram.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        usize::try_from(hash.checked_shr(self.shift).unwrap_or_default()).unwrap_or_default()
    }
}

/// A closer look at one escape, with all readings of what stands behind it.
struct Look<'a> {
    sieve: &'a Sieve,
    memo: &'a mut Memo,
    text: &'a [u8],
    is_whole: bool,
    /// The position behind all bytes that the verdict depends on.
    reach: usize,
    /// How many readings may still be tried.
    left: usize,
}

impl Look<'_> {
    /// Whether the escape matters; `from` is where the bytes before it begin.
    fn at_escape(&mut self, from: usize, at: usize) -> bool {
        let before = self.text.get(from..at).unwrap_or_default();
        let number = before.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        self.try_readings(number, at, 0)
    }

    /// Whether a match can go on with what is read at `at`, `behind` bytes behind the escape. The bytes before are the last of
    /// `number`.
    fn try_readings(&mut self, number: u64, at: usize, behind: usize) -> bool {
        let Some((found, reach)) = self.memo.read(self.text, at, self.is_whole) else {
            self.reach = usize::MAX;
            return true;
        };
        self.reach = self.reach.max(reach);
        // The first reading is the byte as it stands there, which is no escape.
        found.iter().skip(usize::from(behind == 0)).any(|reading| match reading.bytes() {
            [byte] => self.try_byte(number << 8 | u64::from(*byte), at + reading.length(), behind),
            bytes => self.sieve.knows(bytes),
        })
    }

    /// The same once a byte is read, the last of `number`. A match that ends with it, or whose last [`GRAM`] bytes so far begin
    /// no earlier than the escape, holds these bytes in a row.
    fn try_byte(&mut self, number: u64, next: usize, behind: usize) -> bool {
        self.memo.count();
        self.left = self.left.saturating_sub(1);
        let (sieve, [.., last]) = (self.sieve, number.to_be_bytes());
        let has = sieve.has(number);
        let is_possible = match behind {
            0 => sieve.knows(&[last]),
            _ if behind < GRAM - 1 => sieve.has_pair(number & 0xffff),
            _ => has,
        };
        let ends = has && sieve.ends.get(usize::from(last)).is_some_and(|ends| *ends);
        self.left == 0
            || is_possible && (ends || behind == AHEAD || self.try_readings(number, next, behind + 1))
    }
}

/// What is quickly known of an escape of plain characters.
enum Simple {
    /// It is none.
    Nothing,
    /// It stands for this byte and takes so many bytes of the text; nothing else begins here.
    Byte(u8, usize),
    /// It stands for this byte beyond ASCII, or for the character of that number.
    High(u8),
    /// It takes a closer look.
    Unknown,
}

fn simple(text: &[u8]) -> Simple {
    let [introducer, first, rest @ ..] = text else { return Simple::Unknown };
    if is_introducer(*first) && *introducer != b'+' {
        return Simple::Unknown;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    match (introducer, first) {
        (b'+', _) => Simple::Byte(b' ', 1),
        (b'%' | b'=', _) if first.is_ascii_hexdigit() => match (digit(*first), rest.first()) {
            (Some(high), Some(second)) => match digit(*second) {
                Some(low) if high >= 8 => Simple::High(high << 4 | low),
                Some(low) if !is_introducer(high << 4 | low) => Simple::Byte(high << 4 | low, 3),
                None if !is_introducer(*second) => Simple::Nothing,
                _ => Simple::Unknown,
            },
            _ => Simple::Unknown,
        },
        (b'%', b'u') | (b'=', b'\r' | b'\n') | (b'&', b'#') => Simple::Unknown,
        (b'&', _) if first.is_ascii_alphanumeric() => match rest.first() {
            // Most of what stands behind `&` is the next key of a query. No name is shorter than two letters.
            Some(second) if second.is_ascii_alphanumeric() => {
                let third = rest.get(1).copied();
                let is_name = match third {
                    Some(third) if third.is_ascii_alphanumeric() => {
                        entities::begins_a_name(&[*first, *second, third])
                    }
                    _ => true,
                };
                if is_name { Simple::Unknown } else { Simple::Nothing }
            }
            Some(b'=' | b' ') => Simple::Nothing,
            _ => Simple::Unknown,
        },
        (b'%' | b'=' | b'&', _) => Simple::Nothing,
        (_, b'"' | b'/' | b'\'') => Simple::Byte(*first, 2),
        (_, b'n') => Simple::Byte(b'\n', 2),
        (_, b't') => Simple::Byte(b'\t', 2),
        (_, b'r') => Simple::Byte(b'\r', 2),
        _ => Simple::Unknown,
    }
}

/// The place of the first byte that an escape can begin with. Eight bytes are looked at at a time.
fn find_introducer(text: &[u8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let (words, rest) = text.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // The highest bit of each byte that is the one looked for; the lowest such bit is never wrong.
        let hits = [b'\\', b'&', b'%', b'=', b'+'].into_iter().fold(0, |hits, byte| {
            let differs = word ^ (ONES * u64::from(byte));
            hits | (differs.wrapping_sub(ONES) & !differs)
        });
        let hits = hits & (ONES << 7);
        if hits != 0 {
            return usize::try_from(hits.trailing_zeros() / 8).ok().map(|at| index * 8 + at);
        }
    }
    rest.iter().position(|byte| is_introducer(*byte)).map(|at| words.len() * 8 + at)
}
