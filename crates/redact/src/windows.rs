//! A cache of results that depend on a few bytes of a text only, found again wherever the same bytes stand.
//!
//! It must never return a result for other bytes: an entry keeps the bytes it was computed from, and they are compared.
//! Start at [`Windows::get`].
//!
//! Text made to be slow repeats itself, or has only few characters to vary. A result is stored under the bytes that it
//! depends on, rounded up to one of [`WIDTHS`]. The table has a fixed size; a new entry replaces an old one.

use zeroize::Zeroize;

/// The lengths of windows. A result that depends on more bytes than the last is not stored.
const WIDTHS: [usize; 4] = [4, 8, 24, LONGEST];
const LONGEST: usize = 64;
/// How many entries there are; a power of two.
const ENTRIES: usize = 1024;
/// From how many results on the table is allocated. Most texts never get there.
const RESULTS_BEFORE: usize = 512;

/// Results of one kind.
pub(crate) struct Windows<V> {
    entries: Vec<Entry<V>>,
    results: usize,
}

#[derive(Clone)]
struct Entry<V> {
    window: [u8; LONGEST],
    /// How many bytes are compared; 0 if the entry is empty.
    width: usize,
    /// How many bytes the result depends on.
    length: usize,
    kind: usize,
    value: V,
}

impl<V> Default for Windows<V> {
    fn default() -> Self {
        Self { entries: Vec::new(), results: 0 }
    }
}

impl<V: Copy + Default> Windows<V> {
    /// The result of this kind for what stands at `at`, and how many bytes it depends on.
    pub(crate) fn get(&self, kind: usize, text: &[u8], at: usize) -> Option<(V, usize)> {
        if self.entries.is_empty() {
            return None;
        }
        let text = text.get(at..)?;
        self.probe::<4>(kind, text)
            .or_else(|| self.probe::<8>(kind, text))
            .or_else(|| self.probe::<24>(kind, text))
            .or_else(|| self.probe::<LONGEST>(kind, text))
    }

    /// Looks among the windows of one width, which the compiler knows, so that comparing them takes no call.
    #[inline]
    fn probe<const WIDTH: usize>(&self, kind: usize, text: &[u8]) -> Option<(V, usize)> {
        let window = text.first_chunk::<WIDTH>()?;
        let entry = self.entries.get(index(kind, window))?;
        let is_same =
            entry.width == WIDTH && entry.kind == kind && entry.window.first_chunk() == Some(window);
        is_same.then_some((entry.value, entry.length))
    }

    /// Stores a result that depends on the `length` bytes from `at` on and nothing else.
    pub(crate) fn put(&mut self, kind: usize, text: &[u8], at: usize, length: usize, value: V) {
        let width = WIDTHS.into_iter().find(|width| *width >= length);
        let window = width.and_then(|width| text.get(at..)?.get(..width));
        let Some(window) = window else { return };
        if self.results < RESULTS_BEFORE {
            self.results += 1;
            return;
        }
        if self.entries.is_empty() {
            let empty = Entry { window: [0; LONGEST], width: 0, length: 0, kind: 0, value: V::default() };
            self.entries = vec![empty; ENTRIES];
        }
        if let Some(entry) = self.entries.get_mut(index(kind, window)) {
            for (to, from) in entry.window.iter_mut().zip(window) {
                *to = *from;
            }
            (entry.width, entry.length, entry.kind, entry.value) = (window.len(), length, kind, value);
        }
    }
}

impl<V> Drop for Windows<V> {
    /// A window may hold a part of a secret.
    fn drop(&mut self) {
        for entry in &mut self.entries {
            entry.window.zeroize();
        }
    }
}

#[inline]
fn index(kind: usize, window: &[u8]) -> usize {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let (words, _) = window.as_chunks::<4>();
    let hash = words.iter().fold(u64::try_from(kind).unwrap_or_default(), |hash, word| {
        (hash.rotate_left(23) ^ u64::from(u32::from_le_bytes(*word))).wrapping_mul(ODD)
    });
    usize::try_from(hash >> 40).unwrap_or_default() % ENTRIES
}
