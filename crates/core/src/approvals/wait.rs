//! Puts one question to everybody who may answer it, and waits for the first answer.

use std::task::Poll;
use std::time::Duration;

use bailiwick_runtime::new_id;
use bailiwick_types::{ApprovalId, Scope, ToolId};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep_until};

use super::memory::{self, Bound};
use super::queue::{Ended, Entering, Given, NoPlace};
use super::who::Who;
use crate::{Answer, Caller, Core, Event, Happening, Question, Refusal, Remember, Waiting};

/// How often whoever waits is told that it still does.
const STILL: Duration = Duration::from_secs(10);

/// What a question is about, beside what a person is shown of it.
pub(crate) struct Subject<'a> {
    pub(crate) caller: &'a Caller,
    /// The tool; none for code that is no tool.
    pub(crate) tool: Option<ToolId>,
    /// What a remembered yes would be bound to; none where none can be.
    pub(crate) bound: Option<Bound>,
}

/// How a question ended. It counts when it is on the record.
pub(crate) struct Heard {
    pub(crate) ended: Ended,
    /// As the record tells it.
    pub(crate) decision: Value,
    pub(super) id: ApprovalId,
    pub(super) remember: Option<Remember>,
    noted: Option<oneshot::Sender<()>>,
}

impl Heard {
    /// What is told whoever answered, once the decision is on the record; and by its loss, that it never got there.
    pub(super) fn take_noted(&mut self) -> Option<oneshot::Sender<()>> {
        self.noted.take()
    }
}

/// A question in the queue. Dropping it withdraws it.
struct Ticket<'a> {
    core: &'a Core,
    id: ApprovalId,
    answer: oneshot::Receiver<Given>,
}

impl Ticket<'_> {
    /// Ends the question, unless somebody was faster: then by their answer.
    fn end(&mut self, ended: Ended) -> Given {
        match self.core.inner.approvals.queue.settle(self.id, &ended) {
            Some(settled) => {
                self.core.tell(Happening::Answered(settled));
                Given { ended, remember: None, noted: None }
            }
            // Whoever took it out sent an answer, or is about to be gone with all of this.
            None => {
                self.answer.try_recv().unwrap_or(Given { ended: Ended::Nobody, remember: None, noted: None })
            }
        }
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        if let Some(settled) = self.core.inner.approvals.queue.settle(self.id, &Ended::Withdrawn) {
            self.core.tell(Happening::Answered(settled));
        }
    }
}

/// Puts a question, and waits until it is settled. An error says that it could not be put.
pub(crate) async fn put(core: &Core, subject: &Subject<'_>, question: Question) -> Result<Heard, Refusal> {
    let id = fresh_id()?;
    let asked = json!({
        "tool": question.tool, "hash": question.hash, "risk": question.risk.level, "prompt": question.prompt,
        "effect": question.effect,
    });
    let begun = Instant::now();
    let Given { ended, remember, noted } = settle(core, subject, id, question, begun).await?;
    let waited = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let mut decision = json!({
        "id": id, "answer": ended.word(), "by": ended.by(), "waitedMs": waited, "asked": asked,
        "remember": remember,
    });
    if let (Ended::Ending, Value::Object(decision)) = (&ended, &mut decision) {
        decision.insert("because".to_owned(), "the server is ending".into());
    }
    Ok(Heard { ended, decision, id, remember, noted })
}

async fn settle(
    core: &Core,
    subject: &Subject<'_>,
    id: ApprovalId,
    question: Question,
    begun: Instant,
) -> Result<Given, Refusal> {
    let caller = subject.caller;
    let deadline = begun + Duration::from_millis(question.deadline_ms);
    let mut own = caller.approver.ask(question.clone());
    // Whoever answers at once, or is nobody, need not be waited for.
    let at_once = std::future::poll_fn(|context| Poll::Ready(own.as_mut().poll(context))).await;
    let mut own_answers = match at_once {
        Poll::Pending => true,
        Poll::Ready(Answer::Nobody) if core.is_attended() => false,
        // However fast they are: a server that ends says no.
        Poll::Ready(answer) => {
            let ended = if core.inner.approvals.queue.is_ending() { Ended::Ending } else { of(answer) };
            return Ok(Given { ended, remember: None, noted: None });
        }
    };
    let last = match subject.tool {
        Some(tool) => memory::last_yes(core, tool).await?,
        None => None,
    };
    let entering = Entering {
        id,
        question,
        who: Who::of(caller),
        can_be_remembered: subject.bound.is_some(),
        asked_ms: core.now_ms(),
        deadline,
        last,
    };
    let (waiting, answer) = match core.inner.approvals.queue.enter(entering) {
        Ok(entered) => entered,
        Err(NoPlace::Ending) => return Ok(Given { ended: Ended::Ending, remember: None, noted: None }),
        Err(NoPlace::Full(refusal)) => return Err(refusal),
    };
    let mut ticket = Ticket { core, id, answer };
    if core.is_attended() {
        core.inner.approvals.announcer.announce(&waiting);
    }
    caller.listener.hear(Event::Waiting(Box::new(as_caller_sees(caller, &waiting))));
    core.tell(Happening::Asked(waiting));
    let mut still = interval_at(begun + STILL, STILL);
    still.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let ended = tokio::select! {
            biased;
            given = &mut ticket.answer => {
                return Ok(given.unwrap_or(Given { ended: Ended::Nobody, remember: None, noted: None }));
            }
            answer = &mut own, if own_answers => match answer {
                Answer::Nobody if core.is_attended() => {
                    own_answers = false;
                    continue;
                }
                answer => of(answer),
            },
            () = sleep_until(deadline) => Ended::Nothing,
            _ = still.tick() => {
                let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
                let remaining_ms = ms(deadline.saturating_duration_since(Instant::now()));
                caller.listener.hear(Event::StillWaiting { id, waited_ms: ms(begun.elapsed()), remaining_ms });
                continue;
            }
        };
        return Ok(ticket.end(ended));
    }
}

/// The question as its own caller hears of it. What others were said yes to is for approvers.
fn as_caller_sees(caller: &Caller, waiting: &Waiting) -> Waiting {
    let last = waiting.last.clone().filter(|_| caller.scopes.covers(Scope::Approve));
    Waiting { last, ..waiting.clone() }
}

fn of(answer: Answer) -> Ended {
    match answer {
        Answer::Yes { by } => Ended::Yes { by },
        Answer::No { by } => Ended::No { by },
        Answer::Nobody => Ended::Nobody,
    }
}

/// A fresh id, as those of calls are made.
fn fresh_id() -> Result<ApprovalId, Refusal> {
    let id = new_id().map_err(|error| Refusal::new(error.code(), error.to_string()))?;
    ApprovalId::parse(&id.to_string()).map_err(|_| Refusal::internal("an id"))
}
