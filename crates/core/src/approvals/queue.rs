//! The questions that wait, and how the last ones ended. In memory only: what waits when a server ends is a no.
//!
//! Whoever takes a question out of here under the lock has settled it, and nobody else can. Nothing in here waits.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bailiwick_audit::rfc3339;
use bailiwick_types::{ApprovalId, ErrorCode};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::who::Who;
use crate::{LastYes, Question, Refusal, Remember, RememberedFor, Settled, Waiting};

/// The most questions that wait at once.
pub(super) const MOST: usize = 1000;
/// The most of one caller.
pub(super) const MOST_OF_ONE: usize = 64;
/// The most bytes of arguments and code that wait at once.
const MOST_BYTES: usize = 64 << 20;
/// The most of one caller.
const MOST_BYTES_OF_ONE: usize = 16 << 20;
/// How many questions that ended are known, for whoever answers too late.
const ENDS_KNOWN: usize = 512;
/// The most minutes that a yes is remembered: a day.
const MOST_MINUTES: u32 = 1440;

/// How a question ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ended {
    /// A person said yes.
    Yes {
        /// Who or where.
        by: String,
    },
    /// A person said no.
    No {
        /// Who or where.
        by: String,
    },
    /// Nobody could be asked.
    Nobody,
    /// The server ends.
    Ending,
    /// Nobody answered in time.
    Nothing,
    /// Its caller went away.
    Withdrawn,
}

impl Ended {
    /// The word for it in records.
    pub(crate) const fn word(&self) -> &'static str {
        match self {
            Self::Yes { .. } => "yes",
            Self::No { .. } => "no",
            Self::Nobody | Self::Ending => "nobody",
            Self::Nothing => "nothing",
            Self::Withdrawn => "withdrawn",
        }
    }

    /// Who answered.
    pub(crate) fn by(&self) -> Option<&str> {
        match self {
            Self::Yes { by } | Self::No { by } => Some(by),
            Self::Nobody | Self::Ending | Self::Nothing | Self::Withdrawn => None,
        }
    }

    /// What somebody is told who answers after it.
    fn told(&self) -> String {
        match self {
            Self::Yes { by } => format!("`{by}` said yes to it before"),
            Self::No { by } => format!("`{by}` said no to it before"),
            Self::Nobody => "nobody could be asked".to_owned(),
            Self::Ending => "the server was ending".to_owned(),
            Self::Nothing => "its deadline passed".to_owned(),
            Self::Withdrawn => "its caller went away".to_owned(),
        }
    }
}

/// An answer out of the queue.
#[derive(Debug)]
pub(super) struct Given {
    pub(super) ended: Ended,
    pub(super) remember: Option<Remember>,
    /// Told when the decision is on the record, for whoever answered. Dropped when it never gets there.
    pub(super) noted: Option<oneshot::Sender<()>>,
}

/// A question on its way into the queue.
pub(super) struct Entering {
    pub(super) id: ApprovalId,
    pub(super) question: Question,
    pub(super) who: Who,
    /// Whether a yes to it can be remembered.
    pub(super) can_be_remembered: bool,
    pub(super) asked_ms: u64,
    pub(super) deadline: Instant,
    pub(super) last: Option<LastYes>,
}

/// A question that waits.
struct Held {
    entering: Entering,
    bytes: usize,
    /// The order in which they came.
    number: u64,
    sender: oneshot::Sender<Given>,
}

impl Entering {
    /// As approvers see it now.
    fn shown(&self) -> Waiting {
        let left = self.deadline.saturating_duration_since(Instant::now()).as_millis();
        Waiting {
            id: self.id,
            question: self.question.clone(),
            asked_at: rfc3339(self.asked_ms),
            deadline_at: rfc3339(self.asked_ms.saturating_add(self.question.deadline_ms)),
            remaining_ms: u64::try_from(left).unwrap_or(u64::MAX),
            last: self.last.clone(),
        }
    }

    /// Whether an answer can be taken as it is.
    fn admits(&self, yes: bool, remember: Option<Remember>) -> Result<(), Refusal> {
        let Some(Remember { what, minutes }) = remember else { return Ok(()) };
        let why = if !yes {
            "only a yes can be remembered"
        } else if self.question.effect.is_some() {
            "a yes to one effect of a running call cannot be remembered"
        } else if !self.can_be_remembered {
            "a yes to code that is no tool cannot be remembered"
        } else if !(1..=MOST_MINUTES).contains(&minutes) {
            "an answer is remembered for 1 to 1440 minutes"
        } else if what == RememberedFor::Key && self.who.key.is_none() {
            "this call was made without a key of this server, so no answer can hold for its key"
        } else {
            return Ok(());
        };
        Err(Refusal::new(ErrorCode::InvalidInput, why).with_hint("answer it once; the question still waits"))
    }
}

/// Why a question does not get into the queue.
pub(super) enum NoPlace {
    /// The server ends.
    Ending,
    /// There is no room.
    Full(Refusal),
}

/// All questions that wait.
#[derive(Default)]
pub(super) struct Queue(Mutex<State>);

#[derive(Default)]
struct State {
    is_ending: bool,
    last_number: u64,
    bytes: usize,
    waiting: BTreeMap<ApprovalId, Held>,
    /// The newest last.
    ends: VecDeque<(ApprovalId, Ended)>,
}

impl State {
    /// Takes a question out, which settles it.
    fn take(&mut self, id: ApprovalId, ended: &Ended) -> Option<Held> {
        let held = self.waiting.remove(&id)?;
        self.bytes = self.bytes.saturating_sub(held.bytes);
        if self.ends.len() >= ENDS_KNOWN {
            self.ends.pop_front();
        }
        self.ends.push_back((id, ended.clone()));
        Some(held)
    }
}

fn settled(held: &Held, ended: &Ended) -> Settled {
    Settled {
        id: held.entering.id,
        tool: held.entering.question.tool.clone(),
        answer: ended.word().to_owned(),
        by: ended.by().map(str::to_owned),
    }
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a question in; gives it as approvers see it, and where its answer comes.
    pub(super) fn enter(&self, entering: Entering) -> Result<(Waiting, oneshot::Receiver<Given>), NoPlace> {
        let Question { arguments, code, .. } = &entering.question;
        let bytes = arguments.to_string().len().saturating_add(code.as_ref().map_or(0, String::len));
        let mut state = self.state();
        if state.is_ending {
            return Err(NoPlace::Ending);
        }
        let theirs = || state.waiting.values().filter(|held| held.entering.who.shares_with(&entering.who));
        let (of_caller, bytes_of_caller) = (theirs().count(), theirs().map(|held| held.bytes).sum::<usize>());
        let full = if of_caller >= MOST_OF_ONE {
            Some(format!("{MOST_OF_ONE} questions of this caller wait for a person, and not more at once"))
        } else if state.waiting.len() >= MOST {
            Some(format!("{MOST} questions wait for a person, and not more at once"))
        } else if bytes_of_caller > 0 && bytes_of_caller.saturating_add(bytes) > MOST_BYTES_OF_ONE {
            Some(format!(
                "{MOST_BYTES_OF_ONE} bytes of this caller's questions wait for a person, and not more at once"
            ))
        } else if state.bytes.saturating_add(bytes) > MOST_BYTES {
            Some(format!("{MOST_BYTES} bytes of questions wait for a person, and not more at once"))
        } else {
            None
        };
        if let Some(message) = full {
            let refusal = Refusal::new(ErrorCode::Busy, message);
            return Err(NoPlace::Full(refusal.with_hint("try again when some of them are answered")));
        }
        let (sender, receiver) = oneshot::channel();
        let shown = entering.shown();
        state.last_number += 1;
        state.bytes += bytes;
        let held = Held { number: state.last_number, bytes, sender, entering };
        state.waiting.insert(shown.id, held);
        drop(state);
        Ok((shown, receiver))
    }

    /// Whether nothing is let in any more.
    pub(super) fn is_ending(&self) -> bool {
        self.state().is_ending
    }

    /// What waits, the oldest first.
    pub(super) fn list(&self) -> Vec<Waiting> {
        let state = self.state();
        let mut all: Vec<&Held> = state.waiting.values().collect();
        all.sort_by_key(|held| held.number);
        all.into_iter().map(|held| held.entering.shown()).collect()
    }

    /// Takes an answer. What comes back resolves when the decision is on the record.
    pub(super) fn answer(
        &self,
        id: ApprovalId,
        by: String,
        yes: bool,
        remember: Option<Remember>,
    ) -> Result<(Settled, oneshot::Receiver<()>), Refusal> {
        let mut state = self.state();
        let Some(held) = state.waiting.get(&id) else {
            return Err(match state.ends.iter().rev().find(|(ended, _)| *ended == id) {
                Some((_, ended)) => too_late(ended),
                None => unknown(id),
            });
        };
        held.entering.admits(yes, remember)?;
        let ended = if yes { Ended::Yes { by } } else { Ended::No { by } };
        let held = state.take(id, &ended).ok_or_else(|| unknown(id))?;
        let settled = settled(&held, &ended);
        let (noted, recorded) = oneshot::channel();
        // Sent under the lock: whoever finds its question gone finds the answer. A caller that goes away at this
        // moment drops `noted` with it, which is told.
        let _sent = held.sender.send(Given { ended, remember, noted: Some(noted) });
        drop(state);
        Ok((settled, recorded))
    }

    /// Settles a question from its own side; none when somebody else did.
    pub(super) fn settle(&self, id: ApprovalId, ended: &Ended) -> Option<Settled> {
        let held = self.state().take(id, ended)?;
        Some(settled(&held, ended))
    }

    /// Ends all that wait, and lets nothing in any more.
    pub(super) fn end(&self) -> Vec<Settled> {
        let mut state = self.state();
        state.is_ending = true;
        let ids: Vec<ApprovalId> = state.waiting.keys().copied().collect();
        let held = ids.into_iter().filter_map(|id| state.take(id, &Ended::Ending));
        let end = |held: Held| {
            let told = settled(&held, &Ended::Ending);
            // Whoever went away meanwhile needs no word.
            let _sent = held.sender.send(Given { ended: Ended::Ending, remember: None, noted: None });
            told
        };
        held.map(end).collect()
    }
}

/// What somebody is told who answers a question that was settled.
pub(super) fn too_late(ended: &Ended) -> Refusal {
    Refusal::new(ErrorCode::Conflict, format!("this question waits no more: {}", ended.told()))
        .with_hint("the first answer counts, and it is on the record")
}

fn unknown(id: ApprovalId) -> Refusal {
    Refusal::new(ErrorCode::NotFound, format!("no question `{id}` waits"))
        .with_hint("it may have been put to a server that ended since: then it is a no")
}
