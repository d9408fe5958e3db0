//! Redaction of a text that comes in chunks.
//!
//! It must never let out a byte that may still turn out to belong to a secret, and never hold more than
//! the longest pattern, however long the text is. The output is byte for byte that of the one-shot call.
//! Start at [`RedactStream::push`].
//!
//! What may still belong to a secret is known exactly: the depth of the automaton's state is the length
//! of the longest end of the text that some pattern begins with. All before that is final. Each byte
//! deepens the state by one at most, so what was final stays final.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::automaton::StateID;
use zeroize::Zeroizing;

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

/// Positions count from the first byte that is not yet settled, that is neither written nor masked.
struct Flow {
    knowledge: Arc<Knowledge>,
    state: StateID,
    /// The bytes from position 0 on that were read before. They may be most of a secret.
    held: Zeroizing<Vec<u8>>,
    /// What is to be masked from position 0 on.
    regions: Regions,
    /// Whether the byte before position 0 was masked: then a region that begins at 0 belongs to the one
    /// whose mask was already written.
    after_mask: bool,
}

impl RedactStream {
    pub(crate) fn new(knowledge: Option<Arc<Knowledge>>) -> Self {
        Self(knowledge.map(|knowledge| Flow {
            state: knowledge.matcher.start(),
            // Never grows beyond this, so no copy of its content is left behind by moving it.
            held: Zeroizing::new(Vec::with_capacity(knowledge.matcher.longest())),
            knowledge,
            regions: Regions::default(),
            after_mask: false,
        }))
    }

    /// Reads the next chunk and appends to `out` all that is certain by now.
    pub fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        match &mut self.0 {
            None => out.extend_from_slice(chunk),
            Some(flow) => flow.push(chunk, out),
        }
    }

    /// Appends what was held back; the text ends here.
    pub fn finish(self, out: &mut Vec<u8>) {
        if let Some(mut flow) = self.0 {
            let end = flow.held.len();
            flow.settle(end, &[], out);
        }
    }

    /// Masks what was held back: the text goes on, but not here.
    pub(crate) fn finish_cut(self, out: &mut Vec<u8>) {
        if let Some(flow) = self.0
            && !flow.held.is_empty()
            && !flow.after_mask
        {
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
        let matcher = &self.knowledge.matcher;
        self.state = matcher.scan(self.state, chunk, self.held.len(), &mut self.regions);
        let read = self.held.len() + chunk.len();
        // The depth may reach back behind position 0, into what is masked already.
        let certain = read.saturating_sub(matcher.depth(self.state));
        self.settle(certain, chunk, out);
    }

    /// Writes what lies before `certain` in the held bytes followed by `chunk`, and holds the rest.
    fn settle(&mut self, certain: usize, chunk: &[u8], out: &mut Vec<u8>) {
        let mut settled = 0;
        // A region that begins at `certain` cannot grow to the left any more; one that begins later can.
        for region in self.regions.take_until(certain) {
            copy(&self.held, chunk, settled..region.start, out);
            if !(self.after_mask && region.start == 0) {
                out.extend_from_slice(self.knowledge.mask.as_bytes());
            }
            settled = region.end;
            self.after_mask = true;
        }
        if settled < certain {
            copy(&self.held, chunk, settled..certain, out);
            settled = certain;
            self.after_mask = false;
        }
        self.regions.rebase(settled);
        let from_held = settled.min(self.held.len());
        let from_chunk = settled - from_held;
        self.held.drain(..from_held);
        self.held.extend_from_slice(chunk.get(from_chunk..).unwrap_or_default());
    }
}

/// Appends a range of the text that is `held` followed by `chunk`.
fn copy(held: &[u8], chunk: &[u8], range: Range<usize>, out: &mut Vec<u8>) {
    let split = held.len();
    out.extend_from_slice(held.get(range.start.min(split)..range.end.min(split)).unwrap_or_default());
    let in_chunk = range.start.saturating_sub(split)..range.end.saturating_sub(split);
    out.extend_from_slice(chunk.get(in_chunk).unwrap_or_default());
}

impl fmt::Debug for RedactStream {
    /// Without the bytes held back, which may be most of a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedactStream").finish_non_exhaustive()
    }
}
