//! The stream to one agent: asks by number, each with its own answers. Everything that comes is bounded and checked; an agent
//! that breaks the rules loses its sandbox.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bailiwick_wire::agent::{CHUNK, FromAgent, LONGEST, ToAgent, WINDOW};
use bailiwick_wire::{Decoder, encode};
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::JoinHandle;

/// How much of an ask may wait to be taken: both of its streams, full, and the small messages beside them.
const MOST_WAITING: u64 = 4 * WINDOW as u64 + (1 << 20);
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
}

/// The stream to an agent.
pub struct Link {
    writer: tokio::sync::Mutex<To>,
    shared: Arc<Shared>,
    next: AtomicU32,
    reader: JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    asks: Mutex<HashMap<u32, Route>>,
    gone: Mutex<Option<LinkError>>,
    is_gone: AtomicBool,
}

struct Route {
    to: UnboundedSender<FromAgent>,
    waiting: Arc<std::sync::atomic::AtomicU64>,
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
        let Self { reader, writer, decoder } = self;
        let shared = Arc::new(Shared::default());
        let reader = tokio::spawn(hear(reader, decoder, shared.clone()));
        Link { writer: tokio::sync::Mutex::new(writer), shared, next: AtomicU32::new(1), reader }
    }
}

/// Hears an agent until it is gone.
async fn hear(mut reader: From, mut decoder: Decoder, shared: Arc<Shared>) {
    let mut room = vec![0; ROOM];
    let why = loop {
        match decoder.take::<FromAgent>() {
            Ok(Some(message)) => {
                if let Err(why) = shared.route(message) {
                    break why;
                }
                continue;
            }
            Ok(None) => {}
            Err(error) => break LinkError::Broken(error.to_string()),
        }
        match reader.read(&mut room).await {
            Ok(0) | Err(_) => break LinkError::Ended,
            Ok(read) => decoder.push(room.get(..read).unwrap_or_default()),
        }
    };
    shared.end(why);
}

/// How much memory a message that waits takes: everything in it whose length its sender chose.
fn weight(message: &FromAgent) -> u64 {
    const EACH: usize = 64;
    let chosen = match message {
        FromAgent::Output { bytes, .. } | FromAgent::Data { bytes, .. } => bytes.len(),
        FromAgent::Listed { entries, .. } => entries.iter().map(|entry| entry.name.len() + EACH).sum(),
        FromAgent::Reset { left, .. } => left.iter().map(|words| words.len() + EACH).sum(),
        FromAgent::NotStarted { step, .. } | FromAgent::Failed { step, .. } => step.len(),
        FromAgent::Ready
        | FromAgent::Credit { .. }
        | FromAgent::Ended { .. }
        | FromAgent::Done { .. }
        | FromAgent::Counted { .. } => 0,
    };
    (chosen + EACH) as u64
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<u32, Route>> {
        self.asks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn route(&self, message: FromAgent) -> Result<(), LinkError> {
        let id = match &message {
            FromAgent::Ready => return Ok(()),
            FromAgent::Output { id, .. }
            | FromAgent::Data { id, .. }
            | FromAgent::Listed { id, .. }
            | FromAgent::Credit { id, .. }
            | FromAgent::Ended { id, .. }
            | FromAgent::NotStarted { id, .. }
            | FromAgent::Done { id }
            | FromAgent::Failed { id, .. }
            | FromAgent::Reset { id, .. }
            | FromAgent::Counted { id, .. } => *id,
        };
        let cost = weight(&message);
        // What nobody waits for is thrown away: an ask may have been forgotten meanwhile.
        let Some((to, waiting)) = self.lock().get(&id).map(|route| (route.to.clone(), route.waiting.clone()))
        else {
            return Ok(());
        };
        if waiting.fetch_add(cost, Ordering::AcqRel) + cost > MOST_WAITING {
            return Err(LinkError::Broken("it said more than it was given credit for".to_owned()));
        }
        // Whoever asked may be gone.
        let _forgotten = to.send(message);
        Ok(())
    }

    fn end(&self, why: LinkError) {
        self.gone.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
        self.is_gone.store(true, Ordering::Release);
        // Whoever waits for an answer sees the end of it.
        self.lock().clear();
    }
}

impl Link {
    /// Whether nothing comes any more.
    pub fn is_gone(&self) -> bool {
        self.shared.is_gone.load(Ordering::Acquire)
    }

    /// Why nothing comes any more.
    pub fn why(&self) -> LinkError {
        let gone = self.shared.gone.lock().unwrap_or_else(PoisonError::into_inner);
        gone.clone().unwrap_or(LinkError::Ended)
    }

    /// Gives up on an agent that does not answer.
    pub fn give_up(&self) {
        self.shared.end(LinkError::Silent);
    }

    /// A number for an ask, and where its answers come.
    pub fn open(&self) -> Result<Ask, LinkError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (to, answers) = mpsc::unbounded_channel();
        let waiting = Arc::new(std::sync::atomic::AtomicU64::new(0));
        self.shared.lock().insert(id, Route { to, waiting: waiting.clone() });
        if self.is_gone() {
            self.shared.lock().remove(&id);
            return Err(self.why());
        }
        Ok(Ask { id, answers, waiting, shared: self.shared.clone() })
    }

    /// Says something.
    pub async fn say(&self, message: &ToAgent) -> Result<(), LinkError> {
        let frame = encode(message).map_err(|error| LinkError::Broken(error.to_string()))?;
        let mut writer = self.writer.lock().await;
        writer.write_all(&frame).await.map_err(|_| self.why())?;
        writer.flush().await.map_err(|_| self.why())
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.reader.abort();
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

#[cfg(test)]
mod tests;
