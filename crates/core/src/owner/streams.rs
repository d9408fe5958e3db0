//! The streams of commands over a connection: output one way, input the other, each within a credit.
//!
//! A sender has so much to say at once and waits for the other side to take it: what is held for a slow terminal, or for a
//! command that does not read, is bounded on both sides. A client that says more than its credit misbehaves.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bailiwick_sandbox::{Chunk, Input, Stream, Window};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Semaphore, mpsc};

use super::message::{FromClient, FromOwner};
use super::outbox::Outbox;
use crate::Talk;

/// What may be said at once in one direction of one action, in bytes.
const CREDIT: usize = 256 << 10;
/// The most bytes of one message.
const PIECE: usize = 32 << 10;
/// What a message costs beside its bytes.
const COST: usize = 64;
/// The most urgent words that wait to be taken.
const MOST_URGENT: usize = 4096;

/// Bytes as JSON carries them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Packed(pub(crate) Bytes);

impl Serialize for Packed {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Packed {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        STANDARD
            .decode(text.as_bytes())
            .map(|bytes| Self(bytes.into()))
            .map_err(|_| serde::de::Error::custom("not base64"))
    }
}

/// What a command is told, as it goes over the socket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Told {
    Bytes(Packed),
    End,
    Resize(Window),
    Signal(i32),
    Kill,
}

impl From<Input> for Told {
    fn from(input: Input) -> Self {
        match input {
            Input::Bytes(bytes) => Self::Bytes(Packed(bytes)),
            Input::End => Self::End,
            Input::Resize(window) => Self::Resize(window),
            Input::Signal(signal) => Self::Signal(signal),
            Input::Kill => Self::Kill,
        }
    }
}

impl From<Told> for Input {
    fn from(told: Told) -> Self {
        match told {
            Told::Bytes(Packed(bytes)) => Self::Bytes(bytes),
            Told::End => Self::End,
            Told::Resize(window) => Self::Resize(window),
            Told::Signal(signal) => Self::Signal(signal),
            Told::Kill => Self::Kill,
        }
    }
}

impl Told {
    /// What it takes of the credit. What is urgent takes none: it must not wait behind input.
    fn cost(&self) -> usize {
        match self {
            Self::Bytes(Packed(bytes)) => bytes.len() + COST,
            Self::End => COST,
            Self::Resize(_) | Self::Signal(_) | Self::Kill => 0,
        }
    }
}

/// The streams of one connection, at the owner.
#[derive(Debug, Clone)]
pub(crate) struct Streams {
    open: Arc<Mutex<HashMap<u64, Ends>>>,
    outbox: Outbox,
}

/// One action's, as the connection has them.
#[derive(Debug)]
struct Ends {
    input: mpsc::UnboundedSender<Told>,
    urgent: mpsc::Sender<Told>,
    /// What the client said and nobody took yet.
    untaken: Arc<AtomicUsize>,
    output: Arc<Semaphore>,
}

/// The client behind one action, talked with over the connection. The streams end with it.
#[derive(Debug)]
pub(crate) struct Far {
    id: u64,
    streams: Streams,
    input: tokio::sync::Mutex<mpsc::UnboundedReceiver<Told>>,
    urgent: tokio::sync::Mutex<mpsc::Receiver<Told>>,
    untaken: Arc<AtomicUsize>,
    output: Arc<Semaphore>,
}

/// A client said more than it was given room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooMuch;

impl Streams {
    pub(crate) fn new(outbox: Outbox) -> Self {
        Self { open: Arc::default(), outbox }
    }

    /// The streams of an action.
    pub(crate) fn open(&self, id: u64) -> Far {
        let (sender, receiver) = mpsc::unbounded_channel();
        let (untaken, output) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(CREDIT)));
        let (sooner, soon) = mpsc::channel(MOST_URGENT);
        let ends = Ends { input: sender, urgent: sooner, untaken: untaken.clone(), output: output.clone() };
        self.change(|open| open.insert(id, ends));
        let (input, urgent) = (tokio::sync::Mutex::new(receiver), tokio::sync::Mutex::new(soon));
        Far { id, streams: self.clone(), input, urgent, untaken, output }
    }

    /// Takes what a client says to a command. One that has ended hears nothing.
    pub(crate) fn told(&self, id: u64, told: Told) -> Result<(), TooMuch> {
        self.change(|open| {
            let Some(ends) = open.get(&id) else { return Ok(()) };
            let cost = told.cost();
            if cost == 0 {
                // The command may have ended just now.
                return match ends.urgent.try_send(told) {
                    Err(TrySendError::Full(_)) => Err(TooMuch),
                    Ok(()) | Err(TrySendError::Closed(_)) => Ok(()),
                };
            }
            if ends.untaken.fetch_add(cost, Ordering::SeqCst) + cost > CREDIT {
                return Err(TooMuch);
            }
            // As above.
            let _ = ends.input.send(told);
            Ok(())
        })
    }

    /// A client took so much output.
    pub(crate) fn took(&self, id: u64, bytes: usize) {
        self.change(|open| {
            if let Some(ends) = open.get(&id) {
                // Never more than it was given at first.
                ends.output.add_permits(bytes.min(CREDIT.saturating_sub(ends.output.available_permits())));
            }
        });
    }

    fn change<T>(&self, change: impl FnOnce(&mut HashMap<u64, Ends>) -> T) -> T {
        change(&mut self.open.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        self.streams.change(|open| open.remove(&self.id));
    }
}

impl Talk for Far {
    fn output(&self, chunk: Chunk) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async move {
            let Chunk { stream, mut bytes } = chunk;
            while !bytes.is_empty() {
                let piece = bytes.split_to(bytes.len().min(PIECE));
                let permits = u32::try_from(piece.len()).unwrap_or(u32::MAX);
                let Ok(permit) = self.output.acquire_many(permits).await else { return };
                permit.forget();
                let message = FromOwner::Output { id: self.id, stream, bytes: Packed(piece) };
                // So small that it always fits.
                let _ = self.streams.outbox.say(&message);
            }
        })
    }

    fn input(&self) -> Pin<Box<dyn Future<Output = Option<Input>> + Send + '_>> {
        Box::pin(async move {
            let told = self.input.lock().await.recv().await?;
            let cost = told.cost();
            self.untaken.fetch_sub(cost, Ordering::SeqCst);
            let _ = self.streams.outbox.say(&FromOwner::Took { id: self.id, bytes: cost });
            Some(told.into())
        })
    }

    fn urgent(&self) -> Pin<Box<dyn Future<Output = Option<Input>> + Send + '_>> {
        Box::pin(async move { self.urgent.lock().await.recv().await.map(Into::into) })
    }
}

/// A client's own side of the streams of one action.
#[derive(Debug, Clone)]
pub(crate) struct Near {
    id: u64,
    credit: Arc<Semaphore>,
    outbox: Outbox,
}

impl Near {
    pub(crate) fn new(id: u64, outbox: Outbox) -> Self {
        Self { id, credit: Arc::new(Semaphore::new(CREDIT)), outbox }
    }

    /// Hands on what the command is told, until there is nothing more.
    pub(crate) async fn tell_all(self, talk: Arc<dyn Talk>) {
        let input = async {
            while let Some(input) = talk.input().await {
                self.tell(input).await;
            }
        };
        let urgent = async {
            while let Some(urgent) = talk.urgent().await {
                self.tell(urgent).await;
            }
        };
        tokio::join!(input, urgent);
    }

    async fn tell(&self, input: Input) {
        match input {
            Input::Bytes(mut bytes) => {
                while !bytes.is_empty() {
                    let piece = bytes.split_to(bytes.len().min(PIECE));
                    self.say(Told::Bytes(Packed(piece))).await;
                }
            }
            other => self.say(other.into()).await,
        }
    }

    async fn say(&self, told: Told) {
        let permits = u32::try_from(told.cost()).unwrap_or(u32::MAX);
        let Ok(permit) = self.credit.acquire_many(permits).await else { return };
        permit.forget();
        // So small that it always fits.
        let _ = self.outbox.say(&FromClient::Told { id: self.id, told });
    }

    /// The owner took so much of it.
    pub(crate) fn taken(&self, bytes: usize) {
        self.credit.add_permits(bytes.min(CREDIT.saturating_sub(self.credit.available_permits())));
    }

    /// Hands on what the command said, and tells that there is room again.
    pub(crate) async fn hear(&self, talk: &dyn Talk, stream: Stream, bytes: Bytes) {
        let length = bytes.len();
        talk.output(Chunk { stream, bytes }).await;
        let _ = self.outbox.say(&FromClient::Took { id: self.id, bytes: length });
    }
}
