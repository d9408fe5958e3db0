//! Questions that wait for a person: of calls that need a yes, and of effects of running calls.
//!
//! A question is put to whoever answers for its caller and, at the same time, stands in one queue that everybody with the
//! scope `approve` can answer. The first answer wins, and everything that is not a yes is a no: no answer in time, nobody
//! to ask, a caller that goes away, a server that ends. While a question waits it holds no cell and no transaction.
//!
//! A yes can be remembered; see `memory`. Nothing here decides what needs a yes, and nothing here runs anything.
//! Start reading at `wait`, then `queue`.

mod actions;
mod announce;
mod memory;
mod program;
mod queue;
mod wait;
mod who;

use bailiwick_config::Settings;
use bailiwick_types::Scope;

pub(crate) use actions::{answer, forget, list, remembered};
pub(crate) use memory::{Bound, recall, record};
pub(crate) use queue::Ended;
pub(crate) use wait::{Subject, put};

use self::announce::Announcer;
use self::queue::Queue;
use crate::{Core, Happening, Presence, Refusal};

/// The questions of one data folder.
pub(crate) struct Approvals {
    queue: Queue,
    presence: Presence,
    announcer: Announcer,
}

impl Approvals {
    pub(crate) fn new(presence: Presence, settings: &Settings) -> Result<Self, Refusal> {
        // Where nobody comes to answer, nobody is called.
        let listed = if presence == Presence::Serving { settings.approvals.notify.as_slice() } else { &[] };
        Ok(Self { queue: Queue::default(), presence, announcer: Announcer::new(settings, listed)? })
    }

    /// How many announcements of questions never got where they were to go.
    pub(crate) fn unannounced(&self) -> u64 {
        self.announcer.missed()
    }

    /// Waits for the announcements that are on their way.
    pub(crate) async fn announced(&self) {
        self.announcer.end().await;
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
    }

    /// Whether this process stays, so that somebody may come and answer.
    pub(crate) fn stays(&self) -> bool {
        self.inner.approvals.presence == Presence::Serving
    }

    /// Whether a question is worth waiting for when nobody answers for its caller.
    fn is_attended(&self) -> bool {
        self.stays() && self.somebody_may_approve()
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
        if self.stays() {
            self.end_questions();
        }
    }
}

#[cfg(test)]
mod tests;
