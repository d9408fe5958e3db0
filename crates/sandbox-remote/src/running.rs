//! A command at a server: its streams are carried over one connection, with as much ahead on either side as both agreed on.
//!
//! Until it is begun nothing was asked for; from then on nothing is sent again, whatever becomes of the connection. A server that
//! says more than it may, or nothing at all, is let go.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bailiwick_api::{AHEAD, Executed, TerminalStart, TerminalTold, Window, stream_of};
use bailiwick_client::{Hears, Says, Told};
use bailiwick_core::Refusal;
use bailiwick_sandbox::{
    Chunk, Command, Ended, ExecResult, Input, Running, SandboxError, Stream, signal_name,
};
use bailiwick_types::{ErrorCode, format_duration_ms};
use bytes::Bytes;
use tokio::sync::{mpsc, oneshot, watch};

use crate::place::Place;

/// The most bytes of one message of input.
const PIECE: usize = 32 << 10;
/// How many words wait for the command.
const WORDS: usize = 8;
/// How long a server may take to tell of a command that should have ended.
const GRACE: Duration = Duration::from_secs(30);

/// How long the end of a command may take that takes nothing more.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// Starts a command.
pub(crate) async fn spawn(place: &Arc<Place>, command: Command) -> Result<Running, SandboxError> {
    place.stands()?;
    command.check()?;
    let deadline = command.deadline(place.spec.limits.timeout.value).saturating_add(GRACE);
    let has_streams = command.terminal.is_none();
    let talk = match place.door.remote().talk(&place.there).await {
        Ok(talk) => talk,
        Err(refusal) => return Err(place.fault(refusal).await),
    };
    let (says, line) = match talk.begin(start(place, command)).await {
        Ok(both) => both,
        Err(refusal) => return Err(place.fault(refusal).await),
    };
    let (input, told) = mpsc::channel(WORDS);
    let (urgent, hurried) = mpsc::channel(WORDS);
    let (said, output) = mpsc::channel(WORDS);
    let (tell, ended) = oneshot::channel();
    let place_there = place.clone();
    place.going_on.spawn(async move {
        let mut heard = Heard { said, waiting: VecDeque::new(), has_streams };
        let end = attended(&mut heard, says, line, told, hurried, deadline).await;
        let end = match end {
            Ok(executed) => Ok(ended_as(*executed)),
            Err(refusal) => Err(place_there.fault(refusal).await),
        };
        drop(place_there);
        // What was said is there before its end is told.
        heard.all().await;
        // Whoever does not wait for it does not hear of it.
        let _unheard = tell.send(end);
    });
    Ok(Running { input, urgent, output, ended })
}

fn start(place: &Place, command: Command) -> TerminalStart {
    let shell = command.is_shell().then(|| command.argv().get(2).cloned()).flatten();
    let argv = if shell.is_some() { Vec::new() } else { command.argv().to_vec() };
    let Command { cwd, env, timeout, terminal, .. } = command;
    // Never longer than it is, and never nothing.
    let timeout = timeout.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1));
    TerminalStart {
        argv,
        shell,
        cwd,
        env,
        timeout: timeout.map(format_duration_ms),
        correlation_id: place.spec.correlation.clone(),
        terminal: terminal.map(Window::from),
        streams: terminal.is_none(),
    }
}

fn ended_as(executed: Executed) -> Ended {
    let ExecResult { exit, timed_out, oom, usage, denials, .. } = executed.result;
    Ended { exit, timed_out, oom, usage, denials }
}

/// What was heard of a command and is not handed on yet.
struct Heard {
    said: mpsc::Sender<Chunk>,
    waiting: VecDeque<Chunk>,
    has_streams: bool,
}

impl Heard {
    /// Takes a message of output. Of more than may be ahead nothing is kept.
    fn take(&mut self, mut bytes: Bytes) -> Result<(), Refusal> {
        let stream = if self.has_streams {
            let first = bytes.first().copied().and_then(stream_of);
            let stream = first.ok_or_else(|| breaks_the_rules("a piece of output is of no stream"))?;
            drop(bytes.split_to(1));
            stream
        } else {
            Stream::Stdout
        };
        if self.waiting.len() as u64 >= AHEAD {
            return Err(breaks_the_rules("it says more than it was let"));
        }
        self.waiting.push_back(Chunk { stream, bytes });
        Ok(())
    }

    /// Hands one piece on when there is room for it. Whoever does not listen any more hears nothing, and the command goes on.
    async fn hand_on(&mut self) {
        match self.said.reserve().await {
            Ok(room) => {
                if let Some(chunk) = self.waiting.pop_front() {
                    room.send(chunk);
                }
            }
            Err(_) => drop(self.waiting.pop_front()),
        }
    }

    /// Hands everything on.
    async fn all(&mut self) {
        while !self.waiting.is_empty() {
            self.hand_on().await;
        }
    }
}

fn breaks_the_rules(why: &str) -> Refusal {
    Refusal::new(ErrorCode::Unavailable, format!("the server does not keep to its own rules: {why}"))
        .with_hint("run one version on both machines")
}

/// Carries everything until the command has ended, or the connection has.
async fn attended(
    heard: &mut Heard,
    says: Says,
    line: Hears,
    told: mpsc::Receiver<Input>,
    hurried: mpsc::Receiver<Input>,
    deadline: Duration,
) -> Result<Box<Executed>, Refusal> {
    let (gave, given) = watch::channel(0_u64);
    let (took, taken) = watch::channel(0_u64);
    let has_streams = heard.has_streams;
    let hearing = hear(heard, line, &gave, &took);
    tokio::pin!(hearing);
    let telling = tell(says, told, hurried, given, taken, has_streams);
    tokio::select! {
        ended = &mut hearing => ended,
        // A command that has ended takes nothing more, and its end may be on its way.
        lost = telling => tokio::time::timeout(LAST_WORDS, hearing).await.unwrap_or(Err(lost)),
        () = tokio::time::sleep(deadline) => {
            let late = GRACE.as_secs();
            let message = format!("the server did not tell of the command's end {late} seconds behind its deadline");
            Err(Refusal::new(ErrorCode::Unavailable, message)
                .with_hint("look at that server: bailiwick doctor there"))
        }
    }
}

/// Hears the command. While somebody here does not listen, the server is told of nothing that was taken, and waits.
async fn hear(
    heard: &mut Heard,
    mut line: Hears,
    gave: &watch::Sender<u64>,
    took: &watch::Sender<u64>,
) -> Result<Box<Executed>, Refusal> {
    loop {
        let message = if heard.waiting.is_empty() {
            line.next().await?
        } else if heard.has_streams {
            tokio::select! {
                message = line.next() => message?,
                () = heard.hand_on() => {
                    took.send_modify(|took| *took = took.saturating_add(1));
                    continue;
                }
            }
        } else {
            // A terminal has no count: what is not read here is not read there.
            heard.hand_on().await;
            continue;
        };
        match message {
            Told::Bytes(bytes) => heard.take(bytes)?,
            Told::Taken(messages) => {
                gave.send_replace(messages);
            }
            Told::Ended(executed) => return Ok(executed),
        }
    }
}

/// Tells the command what it is told, for as long as the connection takes it.
async fn tell(
    mut says: Says,
    told: mpsc::Receiver<Input>,
    hurried: mpsc::Receiver<Input>,
    mut given: watch::Receiver<u64>,
    mut taken: watch::Receiver<u64>,
    has_streams: bool,
) -> Refusal {
    let (mut told, mut hurried) = (Some(told), Some(hurried));
    let (mut sent, mut waiting) = (0_u64, Bytes::new());
    loop {
        let has_room = !has_streams || sent < given.borrow_and_update().saturating_add(AHEAD);
        let next = tokio::select! {
            biased;
            input = next(&mut hurried) => input,
            Ok(()) = taken.changed() => {
                let messages = *taken.borrow_and_update();
                match says.tell(&TerminalTold::Taken(messages)).await {
                    Ok(()) => continue,
                    Err(lost) => return lost,
                }
            }
            Ok(()) = given.changed(), if !has_room => continue,
            () = std::future::ready(()), if has_room && !waiting.is_empty() => {
                Input::Bytes(waiting.split_to(waiting.len().min(PIECE)))
            }
            input = next(&mut told), if has_room && waiting.is_empty() => match input {
                Input::Bytes(bytes) => {
                    waiting = bytes;
                    continue;
                }
                other => other,
            },
        };
        let sending = match next {
            Input::Bytes(bytes) => {
                sent = sent.saturating_add(1);
                says.bytes(bytes).await
            }
            Input::End => {
                sent = sent.saturating_add(1);
                says.tell(&TerminalTold::Eof(true)).await
            }
            Input::Resize(window) => says.tell(&TerminalTold::Resize(window.into())).await,
            Input::Signal(signal) => says.tell(&TerminalTold::Signal(signal_name(signal))).await,
            Input::Kill => says.tell(&TerminalTold::Kill(true)).await,
        };
        if let Err(lost) = sending {
            return lost;
        }
    }
}

/// The next of it; never, where nobody says anything any more.
async fn next(from: &mut Option<mpsc::Receiver<Input>>) -> Input {
    if let Some(receiver) = from {
        if let Some(input) = receiver.recv().await {
            return input;
        }
        *from = None;
    }
    std::future::pending().await
}
