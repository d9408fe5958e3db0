//! The other side of the socket: asks the owner, hears it, answers its questions, and knows whether an action can have
//! begun when the owner is lost.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bailiwick_types::ErrorCode;
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};

use super::frame::{self, FrameError, Frames, MOST_BYTES, MOST_DEPTH};
use super::lock::Folder;
use super::message::{FromClient, FromOwner, Hello, PROTOCOL};
use super::outbox::{Bound, Outbox};
use super::socket::{self, NoConnection};
use super::streams::Near;
use crate::{Action, Caller, Question, Refusal, Reply};

/// A connection to the owner.
#[derive(Debug)]
pub(crate) struct Link {
    outbox: Outbox,
    asks: Arc<Asks>,
    _reading: Bound,
    _writing: Bound,
}

/// Why an ask has no reply.
#[derive(Debug)]
pub(crate) enum Lost {
    /// The owner is gone, and had not begun.
    NotBegun,
    /// The owner is gone, and may have begun. It may have said why.
    Begun(Option<Refusal>),
    /// It cannot be asked.
    Refused(Refusal),
}

/// What waits for the owner.
#[derive(Debug, Default)]
struct Asks(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    last: u64,
    by_id: HashMap<u64, mpsc::UnboundedSender<FromOwner>>,
    ended: Option<Ended>,
}

/// How a connection ended.
#[derive(Debug, Clone)]
enum Ended {
    Gone,
    Because(Refusal),
}

impl Link {
    /// Connects to the owner of a folder, if that is a program that we understand.
    pub(crate) async fn connect(folder: &Folder) -> Result<Self, NoConnection> {
        let stream = socket::connect(folder).await?;
        Self::over(stream, folder).await
    }

    async fn over(stream: UnixStream, folder: &Folder) -> Result<Self, NoConnection> {
        let (read, write) = stream.into_split();
        let mut frames = Frames::new(read);
        let hello = match frames.next::<Hello>().await {
            Ok(Some(hello)) => hello,
            Ok(None) => return Err(NoConnection::Nobody(std::io::ErrorKind::UnexpectedEof.into())),
            Err(FrameError::Stream(error)) => return Err(NoConnection::Nobody(error)),
            Err(FrameError::Partial) => {
                return Err(NoConnection::Nobody(std::io::ErrorKind::UnexpectedEof.into()));
            }
            Err(error) => return Err(NoConnection::Refused(not_understood(&error))),
        };
        if hello.protocol != PROTOCOL {
            return Err(NoConnection::Refused(other_program(&hello, folder)));
        }
        let (outbox, writing) = Outbox::start(write);
        let asks = Arc::new(Asks::default());
        let reading = Bound(tokio::spawn(read_all(frames, asks.clone())));
        Ok(Self { outbox, asks, _reading: reading, _writing: writing })
    }

    /// Whether the owner is still there, as far as is known.
    pub(crate) fn is_alive(&self) -> bool {
        self.asks.change(|waiting| waiting.ended.is_none())
    }

    /// Asks for an action, and waits for its end. Dropping the future tells the owner that nobody waits.
    pub(crate) async fn ask(&self, caller: &Caller, action: &Action) -> Result<Result<Reply, Refusal>, Lost> {
        let (sender, mut said) = mpsc::unbounded_channel();
        let id = self.asks.change(|waiting| {
            if let Some(ended) = &waiting.ended {
                return Err(ended.clone());
            }
            waiting.last += 1;
            waiting.by_id.insert(waiting.last, sender);
            Ok(waiting.last)
        });
        let id = id.map_err(|ended| ended.lost(false))?;
        let mut waits = Waits { link: self, id, is_over: false };
        let actor_client = caller.actor.client.clone();
        let (scopes, origin) = (caller.scopes, caller.origin);
        let ask = FromClient::Ask { id, actor_client, scopes, origin, action: Box::new(action.clone()) };
        self.outbox.put(frame::encode(&ask).map_err(|error| Lost::Refused(too_much(&error)))?, None);

        let (mut is_taken, mut asking) = (false, Asking::default());
        let near = Near::new(id, self.outbox.clone());
        while let Some(message) = said.recv().await {
            match message {
                FromOwner::Taken { .. } => {
                    is_taken = true;
                    // Not before: what an owner that did not begin was told would be lost for the next.
                    asking.tasks.spawn(near.clone().tell_all(caller.talk.clone()));
                }
                FromOwner::Event { event, .. } => caller.listener.hear(*event),
                FromOwner::Question { n, question, .. } => {
                    self.put_question(&mut asking, caller, (id, n), *question);
                }
                FromOwner::Withdrawn { n, .. } => asking.withdraw(n),
                FromOwner::Output { stream, bytes, .. } => near.hear(&*caller.talk, stream, bytes.0).await,
                FromOwner::Took { bytes, .. } => near.taken(bytes),
                FromOwner::Done { result, .. } => {
                    waits.is_over = true;
                    return Ok(*result);
                }
                // Ends the connection, so it is not passed on.
                FromOwner::Bye { .. } => {}
            }
        }
        let ended = self.asks.change(|waiting| waiting.ended.clone());
        Err(ended.unwrap_or(Ended::Gone).lost(is_taken))
    }

    fn put_question(&self, asking: &mut Asking, caller: &Caller, (id, n): (u64, u64), question: Question) {
        let (approver, outbox) = (caller.approver.clone(), self.outbox.clone());
        let task = asking.tasks.spawn(async move {
            let answer = approver.ask(question).await;
            // An answer that does not fit is none, and nobody but yes is a no.
            let _ = outbox.say(&FromClient::Answer { id, n, answer });
        });
        asking.by_number.insert(n, task);
    }
}

/// The questions of one action that a person is asked right now. They end with it.
#[derive(Debug, Default)]
struct Asking {
    tasks: JoinSet<()>,
    by_number: HashMap<u64, AbortHandle>,
}

impl Asking {
    fn withdraw(&mut self, n: u64) {
        if let Some(task) = self.by_number.remove(&n) {
            task.abort();
        }
    }
}

/// An ask that waits; dropped before its end it is cancelled.
struct Waits<'a> {
    link: &'a Link,
    id: u64,
    is_over: bool,
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.link.asks.change(|waiting| waiting.by_id.remove(&self.id));
        if !self.is_over {
            // So small that it always fits.
            let _ = self.link.outbox.say(&FromClient::Cancel { id: self.id });
        }
    }
}

impl Asks {
    fn change<T>(&self, change: impl FnOnce(&mut Waiting) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Ended {
    fn lost(self, is_taken: bool) -> Lost {
        match (self, is_taken) {
            (Self::Gone, false) => Lost::NotBegun,
            (Self::Gone, true) => Lost::Begun(None),
            (Self::Because(refusal), false) => Lost::Refused(refusal),
            (Self::Because(refusal), true) => Lost::Begun(Some(refusal)),
        }
    }
}

impl FromOwner {
    const fn id(&self) -> Option<u64> {
        match self {
            Self::Taken { id }
            | Self::Event { id, .. }
            | Self::Question { id, .. }
            | Self::Withdrawn { id, .. }
            | Self::Output { id, .. }
            | Self::Took { id, .. }
            | Self::Done { id, .. } => Some(*id),
            Self::Bye { .. } => None,
        }
    }
}

/// Reads to the end: also what was said before the connection broke.
async fn read_all(mut frames: Frames<OwnedReadHalf>, asks: Arc<Asks>) {
    let ended = loop {
        match frames.next::<FromOwner>().await {
            Ok(Some(FromOwner::Bye { refusal })) => break Ended::Because(refusal),
            Ok(Some(message)) => asks.change(|waiting| {
                if let Some(ask) = message.id().and_then(|id| waiting.by_id.get(&id)) {
                    // Whoever asked may have stopped waiting.
                    let _ = ask.send(message);
                }
            }),
            Ok(None) | Err(FrameError::Stream(_) | FrameError::Partial) => break Ended::Gone,
            Err(error) => break Ended::Because(not_understood(&error)),
        }
    };
    asks.change(|waiting| {
        waiting.ended = Some(ended);
        waiting.by_id.clear();
    });
}

fn other_program(hello: &Hello, folder: &Folder) -> Refusal {
    let Hello { protocol, version, pid } = hello;
    let message = format!(
        "{} is owned by bailiwick {version} (process {pid}), which speaks protocol {protocol}; this is {} with \
         protocol {PROTOCOL}",
        folder.path().display(),
        env!("CARGO_PKG_VERSION"),
    );
    Refusal::new(ErrorCode::Unavailable, message)
        .with_hint(format!("use that version, or end process {pid} first"))
}

fn not_understood(error: &FrameError) -> Refusal {
    let message = format!("what the owner of the data folder says is not understood: {error}");
    Refusal::new(ErrorCode::Unavailable, message).with_hint("use the version of bailiwick that owns it")
}

fn too_much(error: &FrameError) -> Refusal {
    let (code, what) = match error {
        FrameError::TooLong(_) => (ErrorCode::InvalidInput, format!("it is longer than {MOST_BYTES} bytes")),
        FrameError::TooDeep => (ErrorCode::InvalidInput, format!("it nests deeper than {MOST_DEPTH} levels")),
        other => (ErrorCode::Internal, other.to_string()),
    };
    let message = format!("this cannot be handed to the owner of the data folder: {what}");
    Refusal::new(code, message).with_hint("give less at once")
}
