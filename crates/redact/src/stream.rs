//! Redaction of a text that comes in chunks.
//!
//! It must never let out a byte that may still turn out to belong to a secret, and never hold more than the longest
//! pattern, spelled in escapes if the text spells it so, however long the text is. The output is byte for byte that of the
//! one-shot call. Start at [`RedactStream::push`].
//!
//! What may still belong to a secret is known exactly: the depth of the automaton's state is the length
//! of the longest end of the text that some pattern begins with. All before that is final. Each byte
//! deepens the state by one at most, so what was final stays final. The same holds for each track of the
//! decoded view; an escape whose end is still to come is held as well.

use std::fmt;
use std::sync::Arc;

use aho_corasick::automaton::StateID;
use zeroize::Zeroizing;

use crate::decoded::{Known, Part, Search};
use crate::redactor::Knowledge;
use crate::regions::Regions;

/// Redacts one stream; made by [`Redactor::stream`](crate::Redactor::stream).
///
/// Dropping it without [`finish`](Self::finish) loses the bytes it holds back.
///
/// ```
/// # use bailiwick_redact::{Redactor, Secret};
/// let token = Secret::new("ghp_16C7e42F292c6912E7".to_owned());
/// let mut stream = Redactor::new([&token])?.stream();
/// let mut out = Vec::new();
/// stream.push(b"token: ghp_16C7e4", &mut out);
/// assert_eq!(out, b"token: ");
/// stream.push(b"2F292c6912E7!", &mut out);
/// stream.finish(&mut out);
/// assert_eq!(out, b"token: ***!");
/// # Ok::<(), bailiwick_redact::RedactorError>(())
/// ```
#[must_use = "a stream holds bytes back until it is finished"]
pub struct RedactStream(Option<Flow>);

/// A longer chunk is read in pieces, so that no more than this is copied at a time.
const PIECE: usize = 64 * 1024;

/// Positions count from the first byte that is not yet settled, that is neither written nor masked.
struct Flow {
    knowledge: Arc<Knowledge>,
    state: StateID,
    /// The bytes from position 0 on that were read before. They may be most of a secret.
    held: Zeroizing<Vec<u8>>,
    /// Where position 0 is in the whole text.
    origin: usize,
    search: Search,
    /// What is to be masked from position 0 on.
    regions: Regions,
    /// Whether the byte before position 0 was masked: then a region that begins at 0 belongs to the one
    /// whose mask was already written.
    after_mask: bool,
    has_found: bool,
}

impl RedactStream {
    pub(crate) fn new(knowledge: Option<Arc<Knowledge>>) -> Self {
        Self(knowledge.map(|knowledge| Flow {
            state: knowledge.matcher.start(),
            held: Zeroizing::new(Vec::new()),
            knowledge,
            origin: 0,
            search: Search::default(),
            regions: Regions::default(),
            after_mask: false,
            has_found: false,
        }))
    }

    /// Reads the next chunk and appends to `out` all that is certain by now.
    pub fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        match &mut self.0 {
            None => out.extend_from_slice(chunk),
            Some(flow) => {
                for piece in chunk.chunks(PIECE) {
                    flow.push(piece, out);
                }
            }
        }
    }

    /// Whether a secret or a disguise of one was found so far. As long as it was not, what is appended is the text as it
    /// came.
    pub fn has_found(&self) -> bool {
        self.0.as_ref().is_some_and(|flow| flow.has_found)
    }

    /// Appends what was held back; the text ends here. Returns whether a secret was found in all of it.
    pub fn finish(self, out: &mut Vec<u8>) -> bool {
        let Some(mut flow) = self.0 else { return false };
        flow.decode(Known { at: flow.origin + flow.held.len(), state: flow.state }, true);
        let end = flow.held.len();
        flow.settle(end, end, out);
        flow.has_found
    }

    /// Masks what was held back: the text goes on, but not here.
    pub(crate) fn finish_cut(self, out: &mut Vec<u8>) {
        let Some(mut flow) = self.0 else { return };
        let end = flow.held.len();
        let certain = flow.certain(flow.search.begun_from(&flow.knowledge.matcher));
        flow.settle(certain, end, out);
        if !flow.held.is_empty() && !flow.after_mask {
            out.extend_from_slice(flow.knowledge.mask.as_bytes());
        }
    }

    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.0.as_ref().map_or(0, |flow| flow.held.len())
    }
}

impl Flow {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        let known = Known { at: self.origin + self.held.len(), state: self.state };
        let mut found = Regions::default();
        self.state = self.knowledge.matcher.scan(self.state, chunk, self.held.len(), &mut found);
        self.add(found);
        append(&mut self.held, chunk);
        self.decode(known, false);
        let certain = self.certain(self.search.holds_from(&self.knowledge.matcher));
        // What the search has not read stays here, even if it is masked already.
        let read = self.search.cursor().saturating_sub(self.origin);
        self.settle(certain, read, out);
    }

    fn decode(&mut self, known: Known, is_whole: bool) {
        let part = Part { bytes: &self.held, origin: self.origin, is_whole };
        let mut found = Regions::default();
        self.search.read(&self.knowledge, part, known, &mut found);
        self.add(found);
    }

    fn add(&mut self, found: Regions) {
        self.has_found |= !found.is_empty();
        self.regions.merge(found);
    }

    /// Up to where nothing can become part of a match any more, given where the search holds on.
    fn certain(&self, search_holds: Option<usize>) -> usize {
        let matcher = &self.knowledge.matcher;
        // The depth may reach back behind position 0, into what is masked already.
        let certain = self.held.len().saturating_sub(matcher.depth(self.state));
        search_holds.map_or(certain, |from| from.saturating_sub(self.origin).min(certain))
    }

    /// Writes what lies before `certain`, and holds the rest. No region is settled that ends behind `end`.
    fn settle(&mut self, certain: usize, end: usize, out: &mut Vec<u8>) {
        let mut settled = 0;
        // A region that begins at `certain` cannot grow to the left any more; one that begins later can.
        for region in self.regions.take_until(certain, end) {
            out.extend_from_slice(self.held.get(settled..region.start).unwrap_or_default());
            if !(self.after_mask && region.start == 0) {
                out.extend_from_slice(self.knowledge.mask.as_bytes());
            }
            settled = region.end;
            self.after_mask = true;
        }
        let clear = self.regions.first().map_or(certain, |next| next.min(certain));
        if settled < clear {
            out.extend_from_slice(self.held.get(settled..clear).unwrap_or_default());
            settled = clear;
            self.after_mask = false;
        }
        self.regions.rebase(settled);
        self.held.drain(..settled);
        self.origin += settled;
    }
}

/// Appends a chunk. Where the buffer has to grow, the old one is wiped.
fn append(held: &mut Zeroizing<Vec<u8>>, chunk: &[u8]) {
    let wanted = held.len() + chunk.len();
    if wanted > held.capacity() {
        let mut larger = Zeroizing::new(Vec::with_capacity(wanted.next_power_of_two()));
        larger.extend_from_slice(held);
        *held = larger;
    }
    held.extend_from_slice(chunk);
}

impl fmt::Debug for RedactStream {
    /// Without the bytes held back, which may be most of a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedactStream").finish_non_exhaustive()
    }
}
