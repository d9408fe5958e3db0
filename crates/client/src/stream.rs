//! Actions that take long: what happens arrives as it happens, and a question is answered while the call waits.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bailiwick_api::{Answer as AnswerShape, AnswerWord, ApprovalNews, Heard, News, Output};
use bailiwick_core::{Answer, Caller, Chunk, Input, Question, Refusal, Reply, Waiting};
use bailiwick_types::{ApprovalId, ErrorCode};
use http_body_util::BodyExt as _;
use hyper::StatusCode;
use tokio::sync::Mutex;
use tokio::task::{AbortHandle, JoinSet};

use crate::ask::{Ask, Expected};
use crate::connect::{not_reached, not_understood};
use crate::place::Server;
use crate::refused;
use crate::remote::{Remote, Tells};
use crate::sse::{Events, Said};

/// How long a server may be silent; it says every fifteen seconds that it lives.
const SILENCE: Duration = Duration::from_mins(1);

/// The most questions of one action.
const MOST_QUESTIONS: usize = 100;

/// Asks, hears, and gives the result at the end of the stream.
pub(crate) async fn perform(
    remote: &Remote,
    caller: &Caller,
    ask: Ask,
    expected: Expected,
) -> Result<Reply, Refusal> {
    let mut body = remote.head(ask).await?.into_body();
    let (mut events, mut asking) = (Events::default(), Asking::default());
    loop {
        let frame = tokio::select! {
            frame = tokio::time::timeout(SILENCE, body.frame()) => frame,
            // Whoever cannot take output any more goes, and with them the command.
            () = is_done_with(caller) => return Err(nobody_reads()),
        };
        let frame = match frame {
            Ok(Some(Ok(frame))) => frame,
            Ok(Some(Err(error))) => return Err(lost(remote, &error.to_string())),
            Ok(None) if expected == Expected::Nothing => return Ok(Reply::Done),
            Ok(None) => return Err(lost(remote, "the stream ended before the result")),
            Err(_) => return Err(lost(remote, "it fell silent")),
        };
        let Ok(bytes) = frame.into_data() else { continue };
        let said = events.take(&bytes).map_err(|error| not_understood(&remote.server, &error.to_string()))?;
        for Said { name, data } in said {
            match name.as_str() {
                "result" => match expected.read(data.as_bytes()) {
                    Ok(reply) => return Ok(reply),
                    Err(error) => return Err(remote.strange(&error.to_string()).await),
                },
                "error" => match refused::read(StatusCode::INTERNAL_SERVER_ERROR, data.as_bytes()) {
                    Some(refusal) => return Err(refusal),
                    None => return Err(remote.strange("an `error` that is no problem").await),
                },
                Output::EVENT => match serde_json::from_str::<Output>(&data) {
                    Ok(output) => {
                        let stream = output.stream;
                        caller.talk.output(Chunk { stream, bytes: output.into_bytes().into() }).await;
                    }
                    Err(error) => return Err(remote.strange(&error.to_string()).await),
                },
                other => match News::read(other, &data) {
                    Ok(Some(news)) => hear(remote, caller, &mut asking, expected, news),
                    // An event that is newer than this program.
                    Ok(None) => {}
                    Err(error) => return Err(remote.strange(&error.to_string()).await),
                },
            }
        }
    }
}

/// Waits until the caller wants the command to end. What else they would tell it, a request cannot carry.
async fn is_done_with(caller: &Caller) {
    loop {
        match caller.talk.urgent().await {
            Some(Input::Kill) => return,
            Some(_) => {}
            None => std::future::pending().await,
        }
    }
}

fn nobody_reads() -> Refusal {
    Refusal::new(ErrorCode::Cancelled, "nobody reads what the command says, so it was ended")
}

fn hear(remote: &Remote, caller: &Caller, asking: &mut Asking, expected: Expected, news: News) {
    if expected == Expected::Nothing {
        caller.listener.hear(news.event(Heard::Watching));
        return;
    }
    if let News::Approval(approval) = &news {
        match &**approval {
            ApprovalNews::Asked(waiting) => asking.put(remote, caller, (**waiting).clone().into()),
            ApprovalNews::Answered(settled) => asking.withdraw(settled.id),
            ApprovalNews::StillWaiting { .. } => {}
        }
    }
    caller.listener.hear(news.event(Heard::Along));
}

/// The questions of one action that a person is asked, one after another. They end with it.
#[derive(Default)]
struct Asking {
    tasks: JoinSet<()>,
    by_id: HashMap<ApprovalId, AbortHandle>,
    /// Held by the question that a person has before them; those that wait for it come in their order.
    turn: Arc<Mutex<()>>,
    has_refused: bool,
}

impl Asking {
    fn put(&mut self, remote: &Remote, caller: &Caller, waiting: Waiting) {
        if self.by_id.contains_key(&waiting.id) {
            return;
        }
        if self.by_id.len() >= MOST_QUESTIONS {
            if !std::mem::replace(&mut self.has_refused, true) {
                (remote.tells)(&format!(
                    "the server put more than {MOST_QUESTIONS} questions for one call: the others are not asked here"
                ));
            }
            return;
        }
        let turn = Arc::clone(&self.turn);
        let (approver, server, tells) =
            (Arc::clone(&caller.approver), remote.server.clone(), Arc::clone(&remote.tells));
        let Waiting { id, question, .. } = waiting;
        let handle = self.tasks.spawn(async move {
            let tool = question.tool.clone();
            let own_turn = turn.lock().await;
            let answer = approver.ask(Question { ..question }).await;
            drop(own_turn);
            give(server, &tells, id, &tool, &answer).await;
        });
        self.by_id.insert(id, handle);
    }

    fn withdraw(&mut self, id: ApprovalId) {
        if let Some(task) = self.by_id.get(&id) {
            task.abort();
        }
    }
}

/// Gives the answer of a person to the server, with the same key. Where that does not cover it, somebody else answers.
async fn give(server: Server, tells: &Tells, id: ApprovalId, tool: &str, answer: &Answer) {
    let word = match answer {
        Answer::Yes { .. } => AnswerWord::Yes,
        Answer::No { .. } => AnswerWord::No,
        // Others may still come.
        Answer::Nobody => return,
    };
    let remote = Remote::new(server, Arc::clone(tells));
    let given = match Ask::answer(id, &AnswerShape { answer: word, remember: None }) {
        Ok(ask) => remote.body(ask).await.map(drop),
        Err(refusal) => Err(refusal),
    };
    match given {
        Ok(()) => {}
        Err(refusal) if refusal.code == ErrorCode::Forbidden => {
            tells(&format!("this key does not cover `approve`: `{tool}` waits for somebody whose key does"));
        }
        // Somebody was faster; how it ended comes with the call.
        Err(refusal) if matches!(refusal.code, ErrorCode::Conflict | ErrorCode::NotFound) => {}
        Err(refusal) => tells(&format!("the answer did not reach the server: {refusal}")),
    }
}

fn lost(remote: &Remote, why: &str) -> Refusal {
    let refusal = not_reached(&remote.server, why);
    Refusal::new(refusal.code, format!("{}; whether it was done is on the record", refusal.message))
        .with_hint("bailiwick audit tail")
}

#[cfg(test)]
mod tests;
