//! The stream to one agent: asks by number, each with its own answers. Everything that comes is bounded and checked; an agent
//! that breaks the rules loses its sandbox.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bailiwick_wire::agent::{CHUNK, FromAgent, LONGEST, ToAgent, WINDOW};
use bailiwick_wire::jail::FromJail;
use bailiwick_wire::{Decoder, encode};
use serde::de::DeserializeOwned;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::JoinHandle;

/// How much of an ask may wait to be taken: both of its streams, full, and the small messages beside them.
const MOST_WAITING: u64 = 4 * WINDOW as u64 + (1 << 20);
/// How much is read at once.
const ROOM: usize = CHUNK + 4096;

/// Why nothing comes from an agent any more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LinkError {
    /// The stream ended.
    #[error("its first process has ended")]
    Ended,
    /// It said what no agent says.
    #[error("its first process broke the rules: {0}")]
    Broken(String),
}

/// The stream to an agent.
pub(crate) struct Link {
    writer: tokio::sync::Mutex<OwnedWriteHalf>,
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
pub(crate) struct Ask {
    /// Its number.
    pub(crate) id: u32,
    answers: UnboundedReceiver<FromAgent>,
    waiting: Arc<std::sync::atomic::AtomicU64>,
    shared: Arc<Shared>,
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").finish_non_exhaustive()
    }
}

/// Waits for what a jail says of itself, then hands the stream over to talk to its agent.
pub(crate) async fn greet(stream: OwnedFd) -> Result<(FromJail, Link), LinkError> {
    let ended = |_| LinkError::Ended;
    let stream = std::os::unix::net::UnixStream::from(stream);
    stream.set_nonblocking(true).map_err(ended)?;
    let stream = UnixStream::from_std(stream).map_err(ended)?;
    let (mut reader, writer) = stream.into_split();
    let mut decoder = Decoder::new(LONGEST);
    let said: FromJail = next(&mut reader, &mut decoder).await?;
    let shared = Arc::new(Shared::default());
    let reader = tokio::spawn(hear(reader, decoder, shared.clone()));
    Ok((said, Link { writer: tokio::sync::Mutex::new(writer), shared, next: AtomicU32::new(1), reader }))
}

/// The next message of a stream.
async fn next<T: DeserializeOwned>(
    reader: &mut OwnedReadHalf,
    decoder: &mut Decoder,
) -> Result<T, LinkError> {
    let mut room = vec![0; ROOM];
    loop {
        if let Some(message) = decoder.take().map_err(|error| LinkError::Broken(error.to_string()))? {
            return Ok(message);
        }
        let read = reader.read(&mut room).await.map_err(|_| LinkError::Ended)?;
        if read == 0 {
            return Err(LinkError::Ended);
        }
        decoder.push(room.get(..read).unwrap_or_default());
    }
}

/// Hears an agent until it is gone.
async fn hear(mut reader: OwnedReadHalf, mut decoder: Decoder, shared: Arc<Shared>) {
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

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<u32, Route>> {
        self.asks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn route(&self, message: FromAgent) -> Result<(), LinkError> {
        let (id, bytes) = match &message {
            FromAgent::Ready => return Ok(()),
            FromAgent::Output { id, bytes, .. } | FromAgent::Data { id, bytes } => (*id, bytes.len()),
            FromAgent::Listed { id, entries } => (*id, entries.len() * 64),
            FromAgent::Credit { id, .. }
            | FromAgent::Ended { id, .. }
            | FromAgent::NotStarted { id, .. }
            | FromAgent::Done { id }
            | FromAgent::Failed { id, .. }
            | FromAgent::Reset { id, .. }
            | FromAgent::Counted { id, .. } => (*id, 0),
        };
        let cost = bytes as u64 + 64;
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
    pub(crate) fn is_gone(&self) -> bool {
        self.shared.is_gone.load(Ordering::Acquire)
    }

    /// Why nothing comes any more.
    pub(crate) fn why(&self) -> LinkError {
        let gone = self.shared.gone.lock().unwrap_or_else(PoisonError::into_inner);
        gone.clone().unwrap_or(LinkError::Ended)
    }

    /// A number for an ask, and where its answers come.
    pub(crate) fn open(&self) -> Result<Ask, LinkError> {
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
    pub(crate) async fn say(&self, message: &ToAgent) -> Result<(), LinkError> {
        let frame = encode(message).map_err(|error| LinkError::Broken(error.to_string()))?;
        let mut writer = self.writer.lock().await;
        writer.write_all(&frame).await.map_err(|_| self.why())
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

impl Ask {
    /// The next answer; none when the agent is gone.
    pub(crate) async fn next(&mut self) -> Option<FromAgent> {
        let message = self.answers.recv().await?;
        let bytes = match &message {
            FromAgent::Output { bytes, .. } | FromAgent::Data { bytes, .. } => bytes.len(),
            FromAgent::Listed { entries, .. } => entries.len() * 64,
            _ => 0,
        };
        self.waiting.fetch_sub(bytes as u64 + 64, Ordering::AcqRel);
        Some(message)
    }
}

impl Drop for Ask {
    fn drop(&mut self) {
        self.shared.lock().remove(&self.id);
    }
}
