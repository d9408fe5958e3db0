//! The stream to one agent: asks by number, each with its own answers. Everything that comes is bounded and checked; an agent
//! that breaks the rules loses its sandbox.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bailiwick_wire::agent::{
    CARRIED_WINDOW, CHUNK, FIRST_CARRIED, FromAgent, LONGEST, MOST_ASKED, MOST_CARRIED, ToAgent, WINDOW,
};
use bailiwick_wire::{Decoder, encode};
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::JoinHandle;

/// How much of an ask may wait to be taken: both of its streams, full, and the small messages beside them.
const MOST_WAITING: u64 = 4 * WINDOW as u64 + (1 << 20);
/// How much of a carried connection may wait to be taken: its window, and the small messages beside it.
const MOST_CARRIED_WAITING: u64 = CARRIED_WINDOW as u64 + (64 << 10);
/// How much is read at once.
const ROOM: usize = CHUNK + 4096;

/// Why nothing comes from an agent any more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// The stream ended.
    #[error("its first process has ended")]
    Ended,
    /// It was asked and stood still.
    #[error("its first process did not answer in time")]
    Silent,
    /// It said what no agent says.
    #[error("its first process broke the rules: {0}")]
    Broken(String),
    /// Every number for an ask was used.
    #[error("it was asked for as much as can be asked of one sandbox")]
    UsedUp,
}

/// Something that came to an agent by itself, for whoever serves the sandbox's way out.
#[derive(Debug)]
pub enum Arrival {
    /// A connection, to this address inside.
    Connection {
        /// Its stream, by its number.
        ask: Ask,
        /// To which address it was made.
        at: std::net::SocketAddrV4,
    },
    /// A question about a name.
    Question {
        /// Its number.
        id: u32,
        /// What is asked.
        bytes: Vec<u8>,
    },
}

/// The stream to an agent.
pub struct Link {
    writer: Arc<Writer>,
    shared: Arc<Shared>,
    next: AtomicU32,
    reader: Reader,
}

/// Who hears the agent; another when the agent goes on elsewhere.
type Reader = Arc<Mutex<JoinHandle<()>>>;

#[derive(Default)]
struct Shared {
    asks: Mutex<HashMap<u32, Route>>,
    /// Where arrivals go, once somebody serves them.
    arrivals: Mutex<Option<mpsc::Sender<Arrival>>>,
    gone: Mutex<Option<LinkError>>,
    is_gone: AtomicBool,
    /// Whether the end of the stream is not the agent's: it is kept, and may go on elsewhere.
    is_kept: AtomicBool,
    /// Whether the stream of one that is kept has ended.
    is_unheard: AtomicBool,
}

struct Route {
    to: UnboundedSender<FromAgent>,
    waiting: Arc<std::sync::atomic::AtomicU64>,
    most: u64,
}

impl std::fmt::Debug for Ask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ask").field("id", &self.id).finish_non_exhaustive()
    }
}

/// One ask that is under way. Dropping it forgets it: what still comes for it is thrown away.
pub struct Ask {
    /// Its number.
    pub id: u32,
    answers: UnboundedReceiver<FromAgent>,
    waiting: Arc<std::sync::atomic::AtomicU64>,
    shared: Arc<Shared>,
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").finish_non_exhaustive()
    }
}

/// What comes from an agent.
pub type From = Box<dyn AsyncRead + Send + Unpin>;
/// Where what it is told goes.
pub type To = Box<dyn AsyncWrite + Send + Unpin>;

/// A stream to somebody who says something before the agent does: whoever built its walls.
pub struct Greeting {
    reader: From,
    writer: To,
    decoder: Decoder,
}

impl std::fmt::Debug for Greeting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Greeting").finish_non_exhaustive()
    }
}

impl Greeting {
    /// Over these two halves of a stream.
    pub fn new(reader: From, writer: To) -> Self {
        Self { reader, writer, decoder: Decoder::new(LONGEST) }
    }

    /// The next message of whoever speaks before the agent.
    pub async fn next<T: DeserializeOwned>(&mut self) -> Result<T, LinkError> {
        let mut room = vec![0; ROOM];
        loop {
            if let Some(message) =
                self.decoder.take().map_err(|error| LinkError::Broken(error.to_string()))?
            {
                return Ok(message);
            }
            let read = self.reader.read(&mut room).await.map_err(|_| LinkError::Ended)?;
            if read == 0 {
                return Err(LinkError::Ended);
            }
            self.decoder.push(room.get(..read).unwrap_or_default());
        }
    }

    /// Says something to whoever speaks before the agent.
    pub async fn say<T: serde::Serialize>(&mut self, message: &T) -> Result<(), LinkError> {
        let frame = encode(message).map_err(|error| LinkError::Broken(error.to_string()))?;
        self.writer.write_all(&frame).await.map_err(|_| LinkError::Ended)?;
        self.writer.flush().await.map_err(|_| LinkError::Ended)
    }

    /// Everything that follows is the agent's.
    pub fn link(self) -> Link {
        self.link_from(1)
    }

    /// Everything that follows is the agent's, which knows the numbers below this one already.
    pub fn link_from(self, first: u32) -> Link {
        let Self { reader, writer, decoder } = self;
        let shared = Arc::new(Shared::default());
        let reader = tokio::spawn(hear(reader, decoder, shared.clone()));
        let writer = Arc::new(Writer {
            to: Arc::new(tokio::sync::Mutex::new(Sending::new(writer))),
            shared: shared.clone(),
        });
        Link { writer, shared, next: AtomicU32::new(first.max(1)), reader: Arc::new(Mutex::new(reader)) }
    }

    /// Goes on with an agent that was kept and knows the numbers below this one: it lets go of everything that somebody else had asked
    /// for.
    pub async fn go_on(self, first: u32) -> Result<Link, LinkError> {
        let link = self.link_from(first);
        let mut ask = link.open()?;
        link.say(&ToAgent::Forget { id: ask.id }).await?;
        match ask.next().await {
            Some(FromAgent::Done { .. }) => Ok(link),
            Some(_) => Err(broken("it gave an answer to something else")),
            None => Err(link.why()),
        }
    }
}

/// Hears an agent until it is gone.
async fn hear(mut reader: From, mut decoder: Decoder, shared: Arc<Shared>) {
    let mut room = vec![0; ROOM];
    let why = loop {
        match decoder.take::<FromAgent>() {
            Ok(Some(message)) => {
                if let Err(why) = route(&shared, message) {
                    break why;
                }
                continue;
            }
            Ok(None) => {}
            Err(error) => break LinkError::Broken(error.to_string()),
        }
        match reader.read(&mut room).await {
            Ok(0) | Err(_) => {
                // First told, then looked: whoever stops keeping it does it the other way round, so one of the two sees it.
                shared.is_unheard.store(true, Ordering::SeqCst);
                if shared.is_kept.load(Ordering::SeqCst) {
                    return;
                }
                break LinkError::Ended;
            }
            Ok(read) => decoder.push(room.get(..read).unwrap_or_default()),
        }
    };
    shared.end(why);
}

/// How much memory a message that waits takes: everything in it whose length its sender chose.
fn weight(message: &FromAgent) -> u64 {
    const EACH: usize = 64;
    let chosen = match message {
        FromAgent::Output { bytes, .. } | FromAgent::Data { bytes, .. } | FromAgent::Asked { bytes, .. } => {
            bytes.len()
        }
        FromAgent::Listed { entries, .. } => entries.iter().map(|entry| entry.name.len() + EACH).sum(),
        FromAgent::Reset { left, .. } => left.iter().map(|words| words.len() + EACH).sum(),
        FromAgent::NotStarted { step, .. } | FromAgent::Failed { step, .. } => step.len(),
        FromAgent::Ready
        | FromAgent::Credit { .. }
        | FromAgent::Ended { .. }
        | FromAgent::Done { .. }
        | FromAgent::Arrived { .. }
        | FromAgent::Joined { .. }
        | FromAgent::OutputEnd { .. }
        | FromAgent::Parted { .. }
        | FromAgent::Counted { .. } => 0,
    };
    (chosen + EACH) as u64
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<u32, Route>> {
        self.asks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells whoever serves arrivals. One that nobody serves, or that comes faster than they are served, is a connection that
    /// nobody takes: it is forgotten, and a question is not answered.
    fn tell(&self, arrival: Arrival) -> Result<(), LinkError> {
        let arrivals = self.arrivals.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match arrivals.map(|arrivals| arrivals.try_send(arrival)) {
            Some(Err(mpsc::error::TrySendError::Full(Arrival::Connection { .. }))) => {
                Err(broken("more connections came than it may have"))
            }
            _ => Ok(()),
        }
    }

    fn why(&self) -> LinkError {
        let gone = self.gone.lock().unwrap_or_else(PoisonError::into_inner);
        gone.clone().unwrap_or(LinkError::Ended)
    }

    fn end(&self, why: LinkError) {
        self.gone.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
        self.is_gone.store(true, Ordering::Release);
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Whoever waits for an answer sees the end of it.
        self.lock().clear();
    }
}

/// Gives a message to whoever it is for.
fn route(shared: &Arc<Shared>, message: FromAgent) -> Result<(), LinkError> {
    let id = match &message {
        FromAgent::Ready => return Ok(()),
        FromAgent::Arrived { id, at } => return arrived(shared, *id, *at),
        FromAgent::Asked { id, .. } => {
            let id = *id;
            let FromAgent::Asked { bytes, .. } = message else { return Ok(()) };
            return asked(shared, id, bytes);
        }
        FromAgent::Output { id, .. }
        | FromAgent::Data { id, .. }
        | FromAgent::Listed { id, .. }
        | FromAgent::Credit { id, .. }
        | FromAgent::Ended { id, .. }
        | FromAgent::NotStarted { id, .. }
        | FromAgent::Done { id }
        | FromAgent::Failed { id, .. }
        | FromAgent::Reset { id, .. }
        | FromAgent::Joined { id }
        | FromAgent::OutputEnd { id }
        | FromAgent::Parted { id }
        | FromAgent::Counted { id, .. } => *id,
    };
    let cost = weight(&message);
    // What nobody waits for is thrown away: an ask may have been forgotten meanwhile.
    let asks = shared.lock();
    let Some(Route { to, waiting, most }) = asks.get(&id) else { return Ok(()) };
    if waiting.fetch_add(cost, Ordering::AcqRel) + cost > *most {
        return Err(LinkError::Broken("it said more than it was given credit for".to_owned()));
    }
    // Whoever asked may be gone.
    let _forgotten = to.send(message);
    Ok(())
}

fn broken(why: &str) -> LinkError {
    LinkError::Broken(why.to_owned())
}

/// Takes a connection up, for whoever serves them.
fn arrived(shared: &Arc<Shared>, id: u32, at: std::net::SocketAddrV4) -> Result<(), LinkError> {
    let ask = {
        let mut asks = shared.lock();
        let carried = asks.keys().filter(|id| **id >= FIRST_CARRIED).count();
        if id < FIRST_CARRIED || asks.contains_key(&id) || carried >= MOST_CARRIED {
            return Err(broken("it told of a connection that cannot be"));
        }
        let (to, answers) = mpsc::unbounded_channel();
        let waiting = Arc::new(std::sync::atomic::AtomicU64::new(0));
        asks.insert(id, Route { to, waiting: waiting.clone(), most: MOST_CARRIED_WAITING });
        Ask { id, answers, waiting, shared: shared.clone() }
    };
    shared.tell(Arrival::Connection { ask, at })
}

fn asked(shared: &Shared, id: u32, bytes: Vec<u8>) -> Result<(), LinkError> {
    if id < FIRST_CARRIED || bytes.len() > bailiwick_wire::agent::LONGEST_QUERY {
        return Err(broken("it told of a question that cannot be"));
    }
    shared.tell(Arrival::Question { id, bytes })
}

impl Link {
    /// Whether nothing comes any more.
    pub fn is_gone(&self) -> bool {
        self.shared.is_gone.load(Ordering::Acquire)
    }

    /// Why nothing comes any more.
    pub fn why(&self) -> LinkError {
        self.shared.why()
    }

    /// Nothing comes any more: what it came from was ended.
    pub fn end(&self) {
        self.shared.end(LinkError::Ended);
    }

    /// Gives up on an agent that does not answer.
    pub fn give_up(&self) {
        self.shared.end(LinkError::Silent);
    }

    /// A number for an ask, and where its answers come.
    pub fn open(&self) -> Result<Ask, LinkError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        if id >= FIRST_CARRIED - 1 {
            self.next.store(FIRST_CARRIED - 1, Ordering::Relaxed);
            return Err(LinkError::UsedUp);
        }
        let (to, answers) = mpsc::unbounded_channel();
        let waiting = Arc::new(std::sync::atomic::AtomicU64::new(0));
        self.shared.lock().insert(id, Route { to, waiting: waiting.clone(), most: MOST_WAITING });
        if self.is_gone() {
            self.shared.lock().remove(&id);
            return Err(self.why());
        }
        Ok(Ask { id, answers, waiting, shared: self.shared.clone() })
    }

    /// The number that the next ask gets: for a host that will go on with a copy of this agent.
    pub fn next_number(&self) -> u32 {
        self.next.load(Ordering::Relaxed)
    }

    /// Where everything goes that comes by itself, from now on.
    pub fn arrivals(&self) -> mpsc::Receiver<Arrival> {
        let (to, arrivals) = mpsc::channel(MOST_CARRIED + MOST_ASKED);
        *self.shared.arrivals.lock().unwrap_or_else(PoisonError::into_inner) = Some(to);
        arrivals
    }

    /// Says something.
    pub async fn say(&self, message: &ToAgent) -> Result<(), LinkError> {
        self.writer.say(message).await
    }

    /// The half by which an agent is told something, for tasks of their own.
    pub fn writer(&self) -> Arc<Writer> {
        self.writer.clone()
    }
}

/// The half of a stream by which an agent is told something.
pub struct Writer {
    to: Arc<tokio::sync::Mutex<Sending>>,
    shared: Arc<Shared>,
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").finish_non_exhaustive()
    }
}

impl Writer {
    /// Says something, whole.
    pub async fn say(&self, message: &ToAgent) -> Result<(), LinkError> {
        let frame = encode(message).map_err(|error| LinkError::Broken(error.to_string()))?;
        self.to.lock().await.send(frame).await.map_err(|_| self.shared.why())
    }
}

/// Where frames go. Whoever says something may give up within it; the rest of it goes before the next one, so a frame is whole or
/// was never begun.
struct Sending {
    to: To,
    frame: Vec<u8>,
    sent: usize,
}

impl Sending {
    const fn new(to: To) -> Self {
        Self { to, frame: Vec::new(), sent: 0 }
    }

    async fn send(&mut self, frame: Vec<u8>) -> std::io::Result<()> {
        self.finish().await?;
        (self.frame, self.sent) = (frame, 0);
        self.finish().await?;
        self.to.flush().await
    }

    async fn finish(&mut self) -> std::io::Result<()> {
        while let Some(rest) = self.frame.get(self.sent..).filter(|rest| !rest.is_empty()) {
            match self.to.write(rest).await? {
                0 => return Err(std::io::ErrorKind::WriteZero.into()),
                sent => self.sent += sent,
            }
        }
        Ok(())
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner).abort();
    }
}

impl Ask {
    /// The next answer; none when the agent is gone.
    pub async fn next(&mut self) -> Option<FromAgent> {
        let message = self.answers.recv().await?;
        self.waiting.fetch_sub(weight(&message), Ordering::AcqRel);
        Some(message)
    }
}

impl Drop for Ask {
    fn drop(&mut self) {
        self.shared.lock().remove(&self.id);
    }
}

mod hush;
#[cfg(test)]
mod tests;

pub use hush::Hushed;
