//! Questions that wait for a person: of calls that need a yes, and of effects of running calls.
//!
//! A question is put to whoever answers for its caller and, at the same time, stands in one queue that everybody with the
//! scope `approve` can answer. The first answer wins, and everything that is not a yes is a no: no answer in time, nobody
//! to ask, a caller that goes away, a server that ends. While a question waits it holds no cell and no transaction.
//!
//! A yes can be remembered; see `memory`. Nothing here decides what needs a yes, and nothing here runs anything.
//! Start reading at `wait`, then `queue`.

mod actions;
mod memory;
mod queue;
mod wait;
mod who;

use std::sync::atomic::{AtomicBool, Ordering};

use bailiwick_types::Scope;

pub(crate) use actions::{answer, forget, list, remembered};
pub(crate) use memory::{Bound, recall, record};
pub(crate) use queue::Ended;
pub(crate) use wait::{Subject, put};

use self::queue::Queue;
use crate::{Core, Happening, Presence};

/// The questions of one data folder.
pub(crate) struct Approvals {
    queue: Queue,
    presence: Presence,
    /// Whether a key that covers `approve` is live, or somebody who may approve watches.
    somebody: AtomicBool,
}

impl Approvals {
    pub(crate) fn new(presence: Presence) -> Self {
        Self { queue: Queue::default(), presence, somebody: AtomicBool::new(false) }
    }
}

impl Core {
    /// Whether anybody could answer a question that only stands in the queue: by a live key or a token that covers
    /// `approve`, or since they watch.
    pub fn somebody_may_approve(&self) -> bool {
        let tokens = self.inner.world.settings.server.jwt.as_ref();
        tokens.is_some_and(|tokens| tokens.scopes.covers(Scope::Approve))
            || self.somebody_has_a_key_to_approve()
            || self.inner.happenings.approver_watches()
            || self.inner.approvals.somebody.load(Ordering::Relaxed)
    }

    /// Says whether somebody could answer by a key. Whoever keeps the keys says it when they change.
    pub fn set_somebody_may_approve(&self, is_so: bool) {
        self.inner.approvals.somebody.store(is_so, Ordering::Relaxed);
    }

    /// Whether a question is worth waiting for when nobody answers for its caller.
    fn is_attended(&self) -> bool {
        self.inner.approvals.presence == Presence::Serving && self.somebody_may_approve()
    }

    /// Ends every question that waits, and every later one at once: whoever would answer is about to lose us.
    pub fn end_questions(&self) {
        for settled in self.inner.approvals.queue.end() {
            self.tell(Happening::Answered(settled));
        }
    }

    /// The same where this process serves. One that owns the folder for a moment lets a person at another terminal
    /// finish the answer.
    pub(crate) fn end_questions_of_server(&self) {
        if self.inner.approvals.presence == Presence::Serving {
            self.end_questions();
        }
    }
}
