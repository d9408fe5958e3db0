//! Which stretches of a text are to be masked: the union of all matches.
//!
//! A union, not the leftmost or the longest match: with the secrets `abcd` and `cdef` the text `abcdef`
//! must not become `***ef`. It must never let two regions overlap or touch; touching ones are one
//! region, so that the output does not tell how many secrets stood side by side.

use std::ops::Range;

/// Disjoint stretches, in order, with at least one clear byte between any two.
#[derive(Debug, Default)]
pub(crate) struct Regions(Vec<Range<usize>>);

impl Regions {
    /// Adds a match. It may begin before earlier ones, but must not end before the last one begins; what
    /// an automaton finds comes in the order of the ends.
    pub(crate) fn add(&mut self, found: Range<usize>) {
        let mut union = found;
        while let Some(last) = self.0.pop_if(|last| last.end >= union.start) {
            union = last.start.min(union.start)..last.end.max(union.end);
        }
        self.0.push(union);
    }

    /// Adds regions none of which ends before the last one here begins.
    pub(crate) fn append(&mut self, later: Self) {
        for region in later.0 {
            self.add(region);
        }
    }

    /// Adds regions that may lie anywhere.
    pub(crate) fn merge(&mut self, others: Self) {
        if others.is_empty() {
            return;
        }
        let both = [std::mem::take(&mut self.0), others.0].map(|list| list.into_iter().peekable());
        let [mut ours, mut theirs] = both;
        loop {
            let next = match (ours.peek(), theirs.peek()) {
                (Some(one), Some(other)) if other.start < one.start => theirs.next(),
                (Some(_), _) => ours.next(),
                (None, _) => theirs.next(),
            };
            match next {
                Some(region) => self.add(region),
                None => return,
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Range<usize>> {
        self.0.iter()
    }

    /// Takes out the regions that begin no later than `certain` and end no later than `end`.
    pub(crate) fn take_until(&mut self, certain: usize, end: usize) -> impl Iterator<Item = Range<usize>> {
        let count = self.0.partition_point(|region| region.start <= certain && region.end <= end);
        self.0.drain(..count)
    }

    /// Where the first region begins.
    pub(crate) fn first(&self) -> Option<usize> {
        self.0.first().map(|region| region.start)
    }

    /// Moves the origin of all positions forward.
    pub(crate) fn rebase(&mut self, origin: usize) {
        for region in &mut self.0 {
            *region = region.start.saturating_sub(origin)..region.end.saturating_sub(origin);
        }
    }
}
