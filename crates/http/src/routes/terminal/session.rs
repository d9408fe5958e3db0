//! The life of a terminal: its first message, the command with what is typed and shown, and its last message.
//!
//! Reading and writing never wait for each other: whoever does not look can still type. Everything that ends it (the
//! command, the connection, the key, the server) drops the action, and that ends the command.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use bailiwick_api::{
    AHEAD, Executed, Problem, TerminalSaid, TerminalStart, TerminalTold, stream_byte, terminal_message,
};
use bailiwick_core::sandboxes::signal_number;
use bailiwick_core::{Action, Caller, Chunk, Deaf, Desk, Input, Refusal, Reply};
use bailiwick_types::{CorrelationId, ErrorCode, Scopes, shortened};
use bytes::{BufMut as _, Bytes, BytesMut};
use futures_util::{Sink, SinkExt as _, Stream, StreamExt as _};
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use super::LARGEST;
use super::line::{Keyboard, Screen, line};
use crate::perimeter::Held;
use crate::routes::Served;
use crate::routes::asker::Asker;
use crate::routes::problem::Refused;
use crate::routes::stream::until_gone;

/// How long the first message may take.
const FIRST: Duration = Duration::from_secs(10);
/// How often the other end is asked whether it is there.
const PING: Duration = Duration::from_secs(20);
/// How long it may be silent, with all of that.
const SILENT: Duration = Duration::from_mins(1);
/// How long it may take to say goodbye.
const GOODBYE: Duration = Duration::from_secs(2);
/// How long the last of what a command said may wait for somebody to take it, once it has ended.
const LEFT_OVER: Duration = Duration::from_mins(10);
/// The most messages of a second; more are read later.
const PER_SECOND: u32 = 1000;

/// Somebody who may sit down at a terminal.
pub(super) struct Seat {
    desk: Arc<Desk>,
    caller: Caller,
    /// Watches for the end of the key; hears nothing.
    watcher: Caller,
    ends_s: Option<u64>,
    sandbox: String,
    correlation: CorrelationId,
    closing: CancellationToken,
    /// Their place among requests under way, for as long as they sit.
    _held: Option<Held>,
}

impl Seat {
    /// Takes the room that a command needs.
    pub(super) fn take(
        served: &Served,
        asker: &Asker,
        sandbox: String,
        held: Option<Held>,
    ) -> Result<Self, Refused> {
        let caller = asker.caller(Arc::new(Deaf))?;
        let watcher = Caller { key: caller.key, ..Caller::covering(caller.actor.clone(), Scopes::of([])) };
        Ok(Self {
            desk: Arc::clone(&served.desk),
            caller,
            watcher,
            ends_s: asker.principal.ends_s,
            sandbox,
            correlation: asker.correlation.clone(),
            closing: served.closing.clone(),
            _held: held,
        })
    }
}

/// How it ended.
enum Ended {
    /// With the command.
    Ran(Box<Executed>),
    /// By us, and why.
    Refused(Refusal, u16),
    /// Nobody is there any more.
    Gone,
}

fn refused(refusal: Refusal) -> Ended {
    Ended::Refused(refusal, close_code::POLICY)
}

/// Sees a terminal through.
pub(super) async fn attend(mut socket: WebSocket, seat: Seat) {
    let correlation = seat.correlation.clone();
    let ended = live(&mut socket, seat).await;
    leave(&mut socket, ended, &correlation).await;
}

async fn live(socket: &mut WebSocket, seat: Seat) -> Ended {
    let Seat { desk, mut caller, watcher, ends_s, sandbox, correlation, closing, _held } = seat;
    let start = tokio::select! {
        start = tokio::time::timeout(FIRST, first(socket)) => start,
        () = closing.cancelled() => return closed(),
    };
    let start = match start {
        Ok(Ok(start)) => start,
        Ok(Err(ended)) => return ended,
        Err(_) => {
            let message = format!("nothing was started within {} seconds", FIRST.as_secs());
            return refused(Refusal::new(ErrorCode::Timeout, message).with_hint("send {\"start\": …} first"));
        }
    };
    let (has_streams, action) = (start.streams, start.action(sandbox, &correlation));
    let action = match action {
        Ok(action) => action,
        Err(refusal) => return refused(refusal),
    };
    let (line, keyboard, screen, given) = line();
    caller.talk = Arc::new(line);
    let (sink, stream) = socket.split();
    let (seen, over) = (Seen::default(), CancellationToken::new());
    let (took, taken) = watch::channel(0);
    let (shown, took) = if has_streams {
        (Shown::Streams { screen, given, taken }, Some(took))
    } else {
        (Shown::Terminal(screen), None)
    };
    let running = async {
        let result = desk.perform(caller, action).await;
        over.cancel();
        Ok(result)
    };
    let lives = async {
        // What was shown is all shown before its end is told.
        let both = tokio::try_join!(running, show(sink, shown, &over, &seen));
        both.map_or_else(|ended| ended, |(result, ())| told(result))
    };
    let watched = async {
        match watcher.key {
            Some(_) => desk.perform(watcher, Action::Watch).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        // First: a server that ends also ends the command, and the caller is to hear why.
        biased;
        () = closing.cancelled() => closed(),
        ended = lives => ended,
        ended = hear(stream, &keyboard, took.as_ref(), &seen) => ended,
        gone = until_gone(ends_s) => refused(gone),
        gone = watched => match gone {
            Err(gone) => refused(gone),
            Ok(_) => closed(),
        },
    }
}

/// What came of the command.
fn told(result: Result<Reply, Refusal>) -> Ended {
    match result {
        Ok(Reply::Executed(executed)) => Ended::Ran(Box::new((*executed).into())),
        Ok(_) => refused(Refusal::new(ErrorCode::Internal, "an action gave another reply than it has")),
        Err(refusal) => refused(refusal),
    }
}

fn closed() -> Ended {
    let message = "the server is about to end, and so did the command";
    Ended::Refused(Refusal::new(ErrorCode::Unavailable, message), close_code::AWAY)
}

/// The first message: what is to be run.
async fn first(socket: &mut WebSocket) -> Result<TerminalStart, Ended> {
    loop {
        match socket.recv().await {
            Some(Ok(Message::Text(text))) => {
                return match terminal_message(&text).map_err(refused)? {
                    TerminalTold::Start(start) => Ok(*start),
                    _ => Err(refused(unexpected("nothing was started yet"))),
                };
            }
            Some(Ok(Message::Binary(_))) => return Err(refused(unexpected("nothing was started yet"))),
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            Some(Err(_)) => return Err(broken()),
            Some(Ok(Message::Close(_))) | None => return Err(Ended::Gone),
        }
    }
}

fn unexpected(why: &str) -> Refusal {
    Refusal::new(ErrorCode::InvalidInput, format!("this message is not expected now: {why}"))
        .with_hint("send {\"start\": …} once, as the first message")
}

/// What comes is no message of ours; where the connection is simply gone, nobody hears of it.
fn broken() -> Ended {
    let message = "a message was too large, or none at all";
    let refusal = Refusal::new(ErrorCode::InvalidInput, message).with_hint("send at most 64 KiB at once");
    Ended::Refused(refusal, close_code::SIZE)
}

/// Hands on what is typed and said, until nobody is there.
async fn hear(
    mut stream: impl Stream<Item = Result<Message, axum::Error>> + Unpin,
    keyboard: &Keyboard,
    took: Option<&watch::Sender<u64>>,
    seen: &Seen,
) -> Ended {
    let mut pace = Pace::default();
    loop {
        let message = match stream.next().await {
            Some(Ok(message)) => message,
            Some(Err(_)) => return broken(),
            None => return Ended::Gone,
        };
        seen.now();
        pace.keep().await;
        let handed = match message {
            // Only what is to be run may be larger.
            Message::Binary(bytes) if bytes.len() > LARGEST => return broken(),
            Message::Text(text) if text.len() > LARGEST => return broken(),
            Message::Binary(bytes) => keyboard.types(Input::Bytes(bytes)).await,
            Message::Text(text) => say(&text, keyboard, took).await,
            Message::Ping(_) | Message::Pong(_) => Ok(()),
            Message::Close(_) => return Ended::Gone,
        };
        if let Err(refusal) = handed {
            return refused(refusal);
        }
    }
}

async fn say(text: &str, keyboard: &Keyboard, took: Option<&watch::Sender<u64>>) -> Result<(), Refusal> {
    match terminal_message(text)? {
        TerminalTold::Start(_) => Err(unexpected("a command runs already")),
        TerminalTold::Resize(window) => keyboard.urges(Input::Resize(window.into())).await,
        TerminalTold::Signal(name) => {
            let signal = signal_number(&name).ok_or_else(|| {
                let message = format!("`{}` is not a signal", shortened(&name));
                Refusal::new(ErrorCode::InvalidInput, message).with_hint("name one: SIGINT, SIGTERM, SIGKILL")
            })?;
            keyboard.urges(Input::Signal(signal)).await
        }
        TerminalTold::Eof(true) => keyboard.types(Input::End).await,
        TerminalTold::Kill(true) => keyboard.urges(Input::Kill).await,
        TerminalTold::Eof(false) | TerminalTold::Kill(false) => Ok(()),
        TerminalTold::Taken(messages) => {
            let took = took.ok_or_else(|| unexpected("nobody counts what is shown at a terminal"))?;
            took.send_replace(messages);
            Ok(())
        }
    }
}

/// What is shown, and how.
enum Shown {
    /// As it comes.
    Terminal(Screen),
    /// As two streams, of which no more is sent than is taken.
    Streams {
        screen: Screen,
        /// How many messages of input the command was given.
        given: watch::Receiver<u64>,
        /// How many messages of output the other end has taken.
        taken: watch::Receiver<u64>,
    },
}

/// Shows what the command says until that is all, and asks now and then whether somebody is there.
async fn show(
    mut sink: impl Sink<Message, Error = axum::Error> + Unpin,
    shown: Shown,
    over: &CancellationToken,
    seen: &Seen,
) -> Result<(), Ended> {
    let (mut screen, mut given, mut taken) = match shown {
        Shown::Terminal(screen) => (screen, None, None),
        Shown::Streams { screen, given, taken } => (screen, Some(given), Some(taken)),
    };
    let has_streams = taken.is_some();
    let message = |chunk: Chunk| if has_streams { of_a_stream(&chunk) } else { Message::Binary(chunk.bytes) };
    let (mut sent, mut left_over) = (0_u64, None);
    let mut beat = tokio::time::interval_at(Instant::now() + PING, PING);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let has_room = taken.as_ref().is_none_or(|taken| sent < taken.borrow().saturating_add(AHEAD));
        if has_room {
            left_over = None;
        } else if over.is_cancelled() {
            left_over.get_or_insert_with(Instant::now);
        }
        let next = tokio::select! {
            biased;
            _ = beat.tick() => {
                let is_left = left_over.is_some_and(|since: Instant| since.elapsed() > LEFT_OVER);
                if is_left || seen.silent_for() > SILENT {
                    return Err(Ended::Gone);
                }
                Message::Ping(Bytes::new())
            }
            messages = counted(given.as_mut()) => said(&TerminalSaid::Taken(messages))?,
            _ = counted(taken.as_mut()), if !has_room => continue,
            Some(chunk) = screen.recv(), if has_room => {
                sent = sent.saturating_add(1);
                message(chunk)
            }
            () = over.cancelled(), if has_room => match screen.try_recv() {
                Ok(chunk) => {
                    sent = sent.saturating_add(1);
                    message(chunk)
                }
                Err(_) => return Ok(()),
            },
            // Whoever waits for room here was told that it ended, and looks again how long.
            () = over.cancelled(), if !has_room && left_over.is_none() => continue,
        };
        // A write that is stuck for too long fails: the connection sees to that.
        sink.send(next).await.map_err(|_| Ended::Gone)?;
    }
}

/// The next count of messages; never, where nobody counts any more.
async fn counted(count: Option<&mut watch::Receiver<u64>>) -> u64 {
    if let Some(count) = count
        && count.changed().await.is_ok()
    {
        return *count.borrow_and_update();
    }
    std::future::pending().await
}

/// A piece of output with the byte of its stream in front.
fn of_a_stream(chunk: &Chunk) -> Message {
    let mut message = BytesMut::with_capacity(chunk.bytes.len().saturating_add(1));
    message.put_u8(stream_byte(chunk.stream));
    message.put_slice(&chunk.bytes);
    Message::Binary(message.freeze())
}

fn said(words: &TerminalSaid) -> Result<Message, Ended> {
    match serde_json::to_string(words) {
        Ok(text) => Ok(Message::Text(text.into())),
        Err(error) => {
            tracing::error!(%error, "what a terminal is told could not be written");
            Err(Ended::Gone)
        }
    }
}

/// Says how it ended, and goodbye.
async fn leave(socket: &mut WebSocket, ended: Ended, correlation: &CorrelationId) {
    let (end, code) = match ended {
        Ended::Ran(executed) => (TerminalSaid::Result(executed), close_code::NORMAL),
        Ended::Refused(refusal, code) => {
            let problem = Problem::from(refusal).of_request(correlation.as_str());
            (TerminalSaid::Error(Box::new(problem)), code)
        }
        Ended::Gone => return,
    };
    let Ok(end) = said(&end) else { return };
    let goodbye = async {
        let close = Message::Close(Some(CloseFrame { code, reason: "".into() }));
        if socket.send(end).await.is_ok() && socket.send(close).await.is_ok() {
            // What was typed meanwhile is read, so that the end is not overtaken by a reset.
            while let Some(Ok(_)) = socket.recv().await {}
        }
    };
    // Whoever has not gone by then is cut.
    let _gone = tokio::time::timeout(GOODBYE, goodbye).await;
}

/// When the other end was last heard.
struct Seen(Mutex<Instant>);

impl Default for Seen {
    fn default() -> Self {
        Self(Mutex::new(Instant::now()))
    }
}

impl Seen {
    fn now(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn silent_for(&self) -> Duration {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }
}

/// Reads no more messages of a second than a person or a program at a terminal sends.
struct Pace {
    since: Instant,
    count: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self { since: Instant::now(), count: 0 }
    }
}

impl Pace {
    async fn keep(&mut self) {
        let second = Duration::from_secs(1);
        if self.since.elapsed() >= second {
            *self = Self::default();
        }
        self.count = self.count.saturating_add(1);
        if self.count > PER_SECOND {
            tokio::time::sleep_until(self.since + second).await;
            *self = Self::default();
        }
    }
}
