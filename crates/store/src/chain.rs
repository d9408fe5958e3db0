//! The end of the chain in memory: what the next record refers to, and which heads were signed on the way.
//!
//! A copy is taken before each job, and put back when the job is undone.

use bailiwick_audit::{Head, Keys, Link};

use crate::error::StoreError;
use crate::records::{self, Ours};
use crate::view::View;

/// Where the chain ends.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    pub(crate) link: Link,
    /// The last record that a head speaks for.
    pub(crate) signed_to: u64,
    /// How many records retention has removed.
    pub(crate) removed: u64,
    /// Heads that were signed and kept in the transaction that is open.
    pub(crate) heads: Vec<Head>,
}

/// Whether the end of the chain was found where its heads say it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tail {
    Whole,
    /// Records that were signed are gone.
    Cut,
    /// Behind the last record of ours lies one that somebody else put there.
    Foreign,
}

impl Chain {
    /// Takes up the chain where it lies, looking at its last record, its last head and the last that the witness knows.
    ///
    /// Where records are gone that a head of ours speaks for, the chain goes on behind that head: their numbers are not
    /// used again, and the gap stays. Where somebody put records behind ours, the chain goes on behind them, and refers to
    /// the last of ours: a head must never speak well of what we did not write.
    pub(crate) fn take_up(view: &View<'_>, witnessed: Option<Head>) -> Result<(Self, Tail), StoreError> {
        let link = view.last_link()?;
        let is_ours = |head: &Head| head.verify(&view.keys.public()).is_ok();
        let kept = view.last_head()?.filter(is_ours);
        let head = [kept, witnessed.filter(is_ours)].into_iter().flatten().max_by_key(|head| head.seq);
        // Retention keeps no head before the one it signed anew, so that is the first; later ones may be older than it.
        let base = records::first_head(view)?.filter(is_ours);
        let signed_to = head.map_or(0, |head| head.seq);
        let removed =
            [head, kept, base].into_iter().flatten().map(|head| head.records_before).max().unwrap_or(0);
        let signed = head.map_or(Link::START, |head| Link { seq: head.seq, hash: head.hash });
        let (link, tail) = if signed.seq > link.seq {
            // All of its records may have been removed by retention.
            (signed, if signed.seq > removed { Tail::Cut } else { Tail::Whole })
        } else {
            match records::ours_after(view, signed)? {
                Ours::All => (link, Tail::Whole),
                Ours::To(last) => (Link { seq: link.seq, hash: last.hash }, Tail::Foreign),
            }
        };
        Ok((Self { link, signed_to, removed, heads: Vec::new() }, tail))
    }

    /// How many records no head speaks for yet.
    pub(crate) const fn unsigned(&self) -> u64 {
        self.link.seq.saturating_sub(self.signed_to)
    }

    /// Signs a head for the last record and keeps it.
    pub(crate) fn sign(&mut self, view: &View<'_>, keys: &Keys, now_ms: u64) -> Result<(), StoreError> {
        let head = keys.sign(self.link.seq, self.link.hash, now_ms, self.removed);
        records::put_head(view, &head)?;
        self.signed_to = head.seq;
        self.heads.push(head);
        Ok(())
    }
}
