//! One client of the owner: what it asks for is taken, begun and told; whatever it sends, only it is the worse for it.
//!
//! An action begins after `taken` was written, never before: a client that did not read it may ask again elsewhere.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bailiwick_types::{ErrorCode, Scopes};
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

use super::frame::{self, FrameError, Frames, MOST_BYTES, MOST_DEPTH};
use super::house::House;
use super::message::{FromClient, FromOwner, GRANTED, Hello, visible};
use super::outbox::Outbox;
use super::questions::Questions;
use super::streams::{Streams, TooMuch};
use crate::{Action, Actor, Caller, Origin, Refusal, Reply};

/// Actions of one connection at once.
pub(crate) const MOST_ACTIONS: usize = 16;
/// How long a client that goes is given to read what is left.
const TO_READ: Duration = Duration::from_secs(5);

/// Serves one client until it goes, misbehaves, or the owner closes and its actions are done.
pub(crate) async fn attend(stream: UnixStream, user: u32, house: House, closing: watch::Receiver<bool>) {
    let (read, write) = stream.into_split();
    let (outbox, mut writer) = Outbox::start(write);
    let questions = Questions::new(outbox.clone());
    let streams = Streams::new(outbox.clone());
    let connection = Connection {
        house,
        user,
        outbox: outbox.clone(),
        questions: questions.clone(),
        streams,
        last: 0,
        actions: Arc::new(Semaphore::new(MOST_ACTIONS)),
        refusals: Arc::new(Semaphore::new(MOST_ACTIONS)),
        running: JoinSet::new(),
        by_id: HashMap::new(),
        closing: closing.clone(),
    };
    // Both are small: they always fit.
    let _ = outbox.say(&Hello::ours());
    // What still runs is dropped in there, unless it writes.
    let farewell = connection.talk(Frames::new(read), closing).await;
    questions.end();
    if let Some(refusal) = farewell {
        let _ = outbox.say(&FromOwner::Bye { refusal });
    }
    outbox.end();
    // A client that does not read by then is cut off.
    let _ = timeout(TO_READ, &mut writer.0).await;
}

struct Connection {
    house: House,
    user: u32,
    outbox: Outbox,
    questions: Questions,
    streams: Streams,
    /// The number of the last ask; they ascend.
    last: u64,
    /// A permit for each action whose end was not written yet.
    actions: Arc<Semaphore>,
    /// A permit for each refusal that was not written yet.
    refusals: Arc<Semaphore>,
    running: JoinSet<()>,
    by_id: HashMap<u64, AbortHandle>,
    closing: watch::Receiver<bool>,
}

impl Connection {
    /// Talks until the end; gives the reason where the client is to know one.
    async fn talk(
        mut self,
        mut frames: Frames<OwnedReadHalf>,
        mut closing: watch::Receiver<bool>,
    ) -> Option<Refusal> {
        let mut is_closing = *closing.borrow_and_update();
        let outbox = self.outbox.clone();
        loop {
            if is_closing && self.running.is_empty() {
                return None;
            }
            tokio::select! {
                said = frames.next() => match said {
                    // It is not taken, so it is asked of whoever owns the folder next.
                    Ok(Some(FromClient::Ask { .. })) if is_closing => {}
                    Ok(Some(FromClient::Ask { id, .. })) if id <= self.last => {
                        return Some(misbehaved("the numbers of what it asks for do not ascend"));
                    }
                    Ok(Some(FromClient::Ask { id, actor_client, scopes, origin, action })) => {
                        self.last = id;
                        self.ask(id, &actor_client, (scopes, origin), *action).await;
                    }
                    Ok(Some(FromClient::Told { id, told })) => {
                        if let Err(TooMuch) = self.streams.told(id, told) {
                            return Some(misbehaved("it says more to a command than there is room for"));
                        }
                    }
                    Ok(Some(FromClient::Took { id, bytes })) => self.streams.took(id, bytes),
                    Ok(Some(FromClient::Answer { id, n, answer })) => self.questions.answer(id, n, answer),
                    Ok(Some(FromClient::Cancel { id })) => {
                        if let Some(action) = self.by_id.get(&id) {
                            action.abort();
                        }
                    }
                    Ok(None) | Err(FrameError::Stream(_) | FrameError::Partial) => return None,
                    Err(error) => return Some(misbehaved(&error.to_string())),
                },
                Some(_) = self.running.join_next() => self.by_id.retain(|_, action| !action.is_finished()),
                _ = closing.changed(), if !is_closing => is_closing = true,
                () = outbox.closed() => return None,
            }
        }
    }

    /// Takes an ask, or refuses it.
    async fn ask(&mut self, id: u64, says: &str, (wishes, origin): (Scopes, Origin), action: Action) {
        let Ok(permit) = self.actions.clone().try_acquire_owned() else {
            return self.refuse(id).await;
        };
        // The owner closes: as above, it is not taken.
        let Some(entered) = self.house.enter() else { return };
        let client = format!("{} uid={}", visible(says), self.user);
        let remote = Arc::new(self.questions.remote(id));
        let caller = Caller {
            approver: remote.clone(),
            listener: remote,
            talk: Arc::new(self.streams.open(id)),
            origin,
            ..Caller::covering(Actor { key: None, client }, GRANTED.and(wishes))
        };
        let (house, outbox, mut closing) = (self.house.clone(), self.outbox.clone(), self.closing.clone());
        let running = self.running.spawn(async move {
            let taken = FromOwner::Taken { id };
            let is_taken = tokio::select! {
                biased;
                is_taken = outbox.written(&taken) => is_taken,
                // A client that does not read keeps no owner from closing.
                _ = closing.changed() => false,
            };
            if !is_taken {
                return;
            }
            let result = house.begin(entered, caller, action).end().await;
            done(&outbox, id, result, permit);
        });
        self.by_id.insert(id, running);
    }

    /// Refuses an ask, at the pace at which the client reads refusals.
    async fn refuse(&self, id: u64) {
        let permit = tokio::select! {
            permit = self.refusals.clone().acquire_owned() => permit,
            () = self.outbox.closed() => return,
        };
        let message =
            format!("{MOST_ACTIONS} actions of this client are being performed, and not more at once");
        let refusal = Refusal::new(ErrorCode::Busy, message).with_hint("try again when one has ended");
        if let Ok(permit) = permit {
            done(&self.outbox, id, Err(refusal), permit);
        }
    }
}

/// Tells the end of an action.
fn done(outbox: &Outbox, id: u64, result: Result<Reply, Refusal>, permit: OwnedSemaphorePermit) {
    let tell = |result| frame::encode(&FromOwner::Done { id, result: Box::new(result) });
    let bytes = tell(result).or_else(|error| {
        let (code, what) = match error {
            FrameError::TooLong(_) => {
                (ErrorCode::OutputLimit, format!("it is longer than {MOST_BYTES} bytes"))
            }
            FrameError::TooDeep => {
                (ErrorCode::OutputLimit, format!("it nests deeper than {MOST_DEPTH} levels"))
            }
            other => (ErrorCode::Internal, other.to_string()),
        };
        let message = format!("the action is done, but its reply cannot be handed over: {what}");
        tell(Err(Refusal::new(code, message).with_hint("ask for less at once, or without a server running")))
    });
    if let Ok(bytes) = bytes {
        outbox.put(bytes, Some(permit));
    }
}

fn misbehaved(what: &str) -> Refusal {
    Refusal::new(
        ErrorCode::InvalidInput,
        format!("the owner of the data folder ended the connection: {what}"),
    )
    .with_hint("use the version of bailiwick that owns the data folder")
}
