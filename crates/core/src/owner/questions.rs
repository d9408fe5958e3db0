//! A client as whoever performs its action sees it: somebody who hears and can be asked, over the connection.
//!
//! A client that is gone answers nobody. Events are a courtesy: a client that does not take them misses some, and what
//! counts is in the reply.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Semaphore, oneshot};

use super::frame;
use super::message::{FromOwner, visible};
use super::outbox::Outbox;
use crate::{Answer, Approver, Event, Listener, Question};

/// Bytes of events that may wait for a slow client.
const EVENTS_WAITING: usize = 4 << 20;

/// The questions of one connection that wait for an answer.
#[derive(Debug, Clone)]
pub(crate) struct Questions {
    waiting: Arc<Mutex<Waiting>>,
    events: Arc<Semaphore>,
    outbox: Outbox,
}

#[derive(Debug, Default)]
struct Waiting {
    ended: bool,
    last: u64,
    answers: HashMap<(u64, u64), oneshot::Sender<Answer>>,
}

/// The client behind one action.
#[derive(Debug)]
pub(crate) struct Remote {
    id: u64,
    questions: Questions,
}

/// One question; dropping it withdraws it.
struct Asked<'a> {
    remote: &'a Remote,
    n: u64,
}

impl Questions {
    pub(crate) fn new(outbox: Outbox) -> Self {
        let events = Arc::new(Semaphore::new(EVENTS_WAITING));
        Self { waiting: Arc::default(), events, outbox }
    }

    /// The client, for the action of this number.
    pub(crate) fn remote(&self, id: u64) -> Remote {
        Remote { id, questions: self.clone() }
    }

    /// Takes an answer. One that nobody waits for came too late.
    pub(crate) fn answer(&self, id: u64, n: u64, answer: Answer) {
        let sender = self.change(|waiting| waiting.answers.remove(&(id, n)));
        if let Some(sender) = sender {
            let answer = match answer {
                Answer::Yes { by } => Answer::Yes { by: visible(&by) },
                Answer::No { by } => Answer::No { by: visible(&by) },
                Answer::Nobody => Answer::Nobody,
            };
            // Who asked may have stopped waiting.
            let _ = sender.send(answer);
        }
    }

    /// The client is gone: nobody answers.
    pub(crate) fn end(&self) {
        self.change(|waiting| {
            waiting.ended = true;
            waiting.answers.clear();
        });
    }

    fn change<T>(&self, change: impl FnOnce(&mut Waiting) -> T) -> T {
        change(&mut self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Listener for Remote {
    fn hear(&self, event: Event) {
        let Ok(bytes) = frame::encode(&FromOwner::Event { id: self.id, event: Box::new(event) }) else {
            return;
        };
        let Ok(length) = u32::try_from(bytes.len()) else { return };
        if let Ok(permit) = self.questions.events.clone().try_acquire_many_owned(length) {
            self.questions.outbox.put(bytes, Some(permit));
        }
    }
}

impl Approver for Remote {
    fn ask(&self, question: Question) -> Pin<Box<dyn Future<Output = Answer> + Send + '_>> {
        Box::pin(async move {
            let (sender, receiver) = oneshot::channel();
            let n = self.questions.change(|waiting| {
                if waiting.ended {
                    return None;
                }
                waiting.last += 1;
                waiting.answers.insert((self.id, waiting.last), sender);
                Some(waiting.last)
            });
            let Some(n) = n else { return Answer::Nobody };
            let _asked = Asked { remote: self, n };
            let message = FromOwner::Question { id: self.id, n, question: Box::new(question) };
            if self.questions.outbox.say(&message).is_err() {
                return Answer::Nobody;
            }
            receiver.await.unwrap_or(Answer::Nobody)
        })
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        let Remote { id, questions } = self.remote;
        if questions.change(|waiting| waiting.answers.remove(&(*id, self.n))).is_some() {
            // So small that it always fits.
            let _ = questions.outbox.say(&FromOwner::Withdrawn { id: *id, n: self.n });
        }
    }
}
