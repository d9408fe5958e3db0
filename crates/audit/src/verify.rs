//! The proof: a fold over rows in the order of their numbers, and over heads from wherever they were kept.
//!
//! It holds one record and the heads at a time, never the rows. Heads may come in any order, as long as each comes before
//! the row after the one it speaks for; a head that speaks for rows to come waits for them. It believes nothing that
//! the given key has not signed, and names the first record that is bad.

use std::collections::BTreeMap;

use crate::chain::Link;
use crate::head::Head;
use crate::hex::{Digest, PublicKey};
use crate::keys::hash_of;
use crate::record::Facts;
use crate::time::rfc3339;
use crate::verdict::{Verdict, Why};

/// A row as it lies in a table or stands in a file.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// The number it is kept under.
    pub seq: i64,
    /// Its text.
    pub body: &'a [u8],
    /// The hash that is kept with it.
    pub hash: &'a [u8],
    /// The columns it is found by, where there are such.
    pub found_by: Option<FoundBy<'a>>,
}

/// What a row is found by. It stands in the text too, and both must say the same.
#[derive(Debug, Clone, Copy)]
pub struct FoundBy<'a> {
    /// Its time.
    pub time_ms: i64,
    /// The name of its kind.
    pub kind: &'a str,
    /// Its call.
    pub call_id: Option<&'a str>,
    /// Its correlation.
    pub correlation: Option<&'a str>,
    /// Its tool.
    pub tool_id: Option<&'a str>,
}

/// What the signed heads say about one record.
#[derive(Debug, Clone, Copy)]
enum Signed {
    /// This head speaks for it.
    By(Head),
    /// Two different hashes were signed for it: the chain was led on from an older copy.
    Twice,
}

/// A record that did not fit the one before; the one after says which of the two is bad.
#[derive(Debug, Clone, Copy)]
struct Doubt {
    seq: u64,
    /// Whether the one before was vouched for by a head.
    before_is_signed: bool,
}

/// The first row.
#[derive(Debug, Clone, Copy)]
struct First {
    seq: u64,
    /// What it names as the hash before it, once it was found to be a record.
    prev: Option<Digest>,
}

/// The fold.
#[derive(Debug)]
pub struct Verifier {
    key: PublicKey,
    signed: BTreeMap<u64, Signed>,
    removed: u64,
    first: Option<First>,
    last: Option<Link>,
    doubt: Option<Doubt>,
    proven_to: u64,
    bad: Option<(i64, Why)>,
    /// Set when rows need not be looked at any more.
    rows_are_bad: bool,
}

impl Verifier {
    /// A proof by the heads of this key.
    pub const fn new(key: PublicKey) -> Self {
        Self {
            key,
            signed: BTreeMap::new(),
            removed: 0,
            first: None,
            last: None,
            doubt: None,
            proven_to: 0,
            bad: None,
            rows_are_bad: false,
        }
    }

    /// Takes a head.
    pub fn head(&mut self, head: &Head) {
        // The same head lies in a table and with every witness; once is enough.
        if matches!(self.signed.get(&head.seq), Some(Signed::By(known)) if known == head) {
            return;
        }
        if head.verify(&self.key).is_err() {
            self.found(signed_number(head.seq), Why::ForgedHead);
            return;
        }
        self.removed = self.removed.max(head.records_before);
        let known = match self.signed.get(&head.seq) {
            Some(Signed::By(known)) if known.hash == head.hash => return,
            Some(_) => Signed::Twice,
            None => Signed::By(*head),
        };
        self.signed.insert(head.seq, known);
        match self.last {
            Some(last) if head.seq == last.seq => self.compare(last),
            // Its row has gone by unsigned, and is not held: whether it was this one cannot be said any more.
            Some(last) if head.seq < last.seq && self.first.is_some_and(|first| head.seq >= first.seq) => {
                self.found(signed_number(head.seq), Why::OutOfOrder);
            }
            _ => {}
        }
    }

    /// Takes word of a head for that record which cannot be read.
    pub fn unreadable_head(&mut self, seq: i64) {
        self.found(seq, Why::Unreadable);
    }

    /// Takes word that no further row can be read.
    pub fn unreadable_row(&mut self) {
        let next = signed_number(self.last.map_or(self.removed, |last| last.seq)).saturating_add(1);
        self.row_is_bad(next, Why::Unreadable);
    }

    /// Takes the next row. False when a bad one was found, and further rows change nothing.
    pub fn row(&mut self, row: &Row<'_>) -> bool {
        if !self.rows_are_bad {
            self.look(row);
        }
        !self.rows_are_bad
    }

    fn look(&mut self, row: &Row<'_>) {
        let Some(seq) = u64::try_from(row.seq).ok().filter(|seq| *seq > 0) else {
            return self.row_is_bad(row.seq, Why::OutOfOrder);
        };
        // Before anything is wrong with it: that it is the first may be what is wrong.
        self.first.get_or_insert(First { seq, prev: None });
        if let Some(last) = self.last {
            if seq <= last.seq {
                return self.row_is_bad(row.seq, Why::OutOfOrder);
            }
            if seq - last.seq > 1 {
                return self.row_is_bad(signed_number(last.seq).saturating_add(1), Why::Missing);
            }
        }
        let hash = hash_of(row.body);
        if hash.as_bytes().as_slice() != row.hash {
            return self.row_is_bad(row.seq, Why::HashMismatch);
        }
        let Ok(facts) = Facts::parse(row.body) else {
            return self.row_is_bad(row.seq, Why::Unreadable);
        };
        if facts.seq != seq {
            return self.row_is_bad(row.seq, Why::OutOfOrder);
        }
        if row.found_by.is_some_and(|found_by| !found_by.is_of(&facts)) {
            return self.row_is_bad(row.seq, Why::FoundByMismatch);
        }
        self.fit(seq, facts.prev);
        if self.rows_are_bad {
            return;
        }
        if let Some(first) = &mut self.first {
            first.prev.get_or_insert(facts.prev);
        }
        let link = Link { seq, hash };
        self.last = Some(link);
        if self.doubt.is_none() {
            self.compare(link);
        }
    }

    /// Looks whether a record fits the one before.
    fn fit(&mut self, seq: u64, prev: Digest) {
        let fits = match self.last {
            Some(last) => prev == last.hash,
            None => seq != 1 || prev == Digest::ZERO,
        };
        match (self.doubt.take(), fits) {
            // The doubtful one is vouched for by its successor, so the one before it is bad.
            (Some(doubt), true) => self.settle(doubt, !doubt.before_is_signed),
            (Some(doubt), false) => self.settle(doubt, false),
            (None, true) => {}
            (None, false) if self.last.is_none() => self.row_is_bad(signed_number(seq), Why::PrevMismatch),
            (None, false) => {
                let before_is_signed = self.last.is_some_and(|last| last.seq == self.proven_to);
                self.doubt = Some(Doubt { seq, before_is_signed });
            }
        }
    }

    fn settle(&mut self, doubt: Doubt, blame_the_one_before: bool) {
        let bad = if blame_the_one_before { doubt.seq - 1 } else { doubt.seq };
        self.row_is_bad(signed_number(bad), Why::PrevMismatch);
    }

    /// Compares a record with what was signed for it.
    fn compare(&mut self, link: Link) {
        match self.signed.get(&link.seq) {
            Some(Signed::By(head)) if head.hash == link.hash => self.proven_to = self.proven_to.max(link.seq),
            Some(_) => {
                let from = self.first.map_or(link.seq, |first| first.seq).max(self.proven_to + 1);
                self.row_is_bad(signed_number(from.min(link.seq)), Why::HeadMismatch { head: link.seq });
            }
            None => {}
        }
    }

    fn row_is_bad(&mut self, seq: i64, why: Why) {
        self.rows_are_bad = true;
        self.found(seq, why);
    }

    fn found(&mut self, seq: i64, why: Why) {
        if self.bad.is_none_or(|(first, _)| seq < first) {
            self.bad = Some((seq, why));
        }
    }

    /// What it comes to.
    pub fn finish(mut self) -> Verdict {
        if let Some(doubt) = self.doubt.take() {
            self.settle(doubt, !doubt.before_is_signed);
        }
        if let Some(first) = self.first {
            self.check_beginning(first);
        }
        let last = self.last.map_or(self.removed, |last| last.seq);
        if !self.rows_are_bad
            && let Some((head, _)) = self.signed.last_key_value().filter(|(seq, _)| **seq > last)
        {
            let head = *head;
            self.found(signed_number(last).saturating_add(1), Why::Truncated { head });
        }
        match self.bad {
            None => Verdict::Proven {
                to: self.proven_to.max(self.removed),
                unsigned: last - self.proven_to.max(self.removed),
                from: self.removed + 1,
                removed: self.removed,
            },
            Some((first_bad, why)) => {
                let proven_to = self.proven_before(first_bad);
                Verdict::Broken { first_bad, why, proven_to }
            }
        }
    }

    /// A chain begins at its first record, or where retention signed that it cut.
    fn check_beginning(&mut self, first: First) {
        let begins = self.removed + 1;
        if first.seq > begins {
            self.found(signed_number(begins), Why::Missing);
        } else if first.seq < begins {
            self.found(signed_number(first.seq), Why::OutOfOrder);
        } else if let Some(signed) = self.signed.get(&self.removed)
            && let Some(prev) = first.prev
            && !matches!(signed, Signed::By(head) if head.hash == prev)
        {
            self.found(signed_number(first.seq), Why::PrevMismatch);
        }
    }

    /// The last record before a bad one that was signed and seen to be right.
    fn proven_before(&self, first_bad: i64) -> u64 {
        let Some(before) = u64::try_from(first_bad).ok().and_then(|bad| bad.checked_sub(1)) else {
            return 0;
        };
        let Some(first) = self.first else { return 0 };
        if first.seq != self.removed + 1 {
            return 0;
        }
        let seen = self.signed.range(..=before.min(self.proven_to.max(self.removed))).next_back();
        seen.map_or(0, |(seq, _)| *seq)
    }
}

/// A number as a row has it; what does not fit is larger than any row's.
fn signed_number(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

impl FoundBy<'_> {
    fn is_of(&self, facts: &Facts) -> bool {
        let same = |kept: Option<&str>, said: Option<String>| kept == said.as_deref();
        u64::try_from(self.time_ms).is_ok_and(|time| rfc3339(time) == facts.time)
            && self.kind == facts.kind.name()
            && same(self.call_id, facts.call_id.map(|id| id.to_string()))
            && self.correlation == facts.correlation_id.as_ref().map(bailiwick_types::CorrelationId::as_str)
            && same(self.tool_id, facts.tool_id().map(|id| id.to_string()))
    }
}
