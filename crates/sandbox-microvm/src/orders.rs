//! Orders to the first process of a machine, one at a time, each with one answer in time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::time::Duration;

use bailiwick_wire::machine::{OBEYED, ORDER, SEED, order};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::sync::Mutex;

/// How long it may take to count.
const COUNTED: Duration = Duration::from_secs(5);
/// How long a kernel may take to start: whoever waits for a machine has a bound of their own.
const UP: Duration = Duration::from_mins(1);
/// How long it may take until every question about files is answered, or until it goes on.
const HUSHED: Duration = Duration::from_secs(30);

/// Who gives orders to one machine. One that did not answer in time is given none until it has: its stream stays as it is, since a
/// machine whose orders end turns itself off.
#[derive(Debug)]
pub(crate) struct Orders(Arc<Line>);

#[derive(Debug)]
struct Line {
    stream: Mutex<UnixStream>,
    /// How many answers are still to come that nobody waits for any more.
    owed: AtomicUsize,
}

/// Nothing has come yet, and somebody waits.
const AWAITED: u8 = 0;
/// The answer has come.
const ANSWERED: u8 = 1;
/// Whoever waited does not any more.
const GIVEN_UP: u8 = 2;

impl Orders {
    pub(crate) fn over(stream: UnixStream) -> Self {
        Self(Arc::new(Line { stream: Mutex::new(stream), owed: AtomicUsize::new(0) }))
    }

    /// How many processes were killed for want of memory, as its first process says.
    pub(crate) async fn count(&self) -> Option<u64> {
        self.give(order::COUNT, COUNTED).await.ok()
    }

    /// Waits until it is up. Nothing is asked for then, and nothing is under way.
    pub(crate) async fn is_up(&self) -> Result<(), String> {
        self.give(order::HUSH, UP).await.map(|_| ())
    }

    /// Nothing is asked for, and nothing is under way.
    pub(crate) async fn hush(&self) -> Result<(), String> {
        self.give(order::HUSH, HUSHED).await.map(|_| ())
    }

    /// It goes on, with the time of this moment and other random numbers.
    pub(crate) async fn go_on(&self) -> Result<(), String> {
        self.give(order::GO_ON, HUSHED).await.map(|_| ())
    }

    /// Gives an order and waits for its answer. That is heard to its end in a task of its own: whoever stopped waiting in the middle
    /// would leave a stream that nobody understands.
    async fn give(&self, kind: u8, within: Duration) -> Result<u64, String> {
        if self.0.owed.load(Ordering::Acquire) > 0 {
            return Err("its first process did not answer before".to_owned());
        }
        let line = self.0.clone();
        let state = Arc::new(AtomicU8::new(AWAITED));
        let theirs = state.clone();
        let talk = tokio::spawn(async move {
            let answer = line.talk(kind).await;
            if theirs.swap(ANSWERED, Ordering::AcqRel) == GIVEN_UP {
                line.owed.fetch_sub(1, Ordering::AcqRel);
            }
            answer
        });
        match tokio::time::timeout(within, talk).await {
            Ok(Ok(Ok(value))) => Ok(value),
            Ok(Ok(Err(error))) => Err(format!("its first process is gone: {error}")),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => {
                // Counted before it is told, so that it never falls below nothing.
                self.0.owed.fetch_add(1, Ordering::AcqRel);
                if state.swap(GIVEN_UP, Ordering::AcqRel) == ANSWERED {
                    self.0.owed.fetch_sub(1, Ordering::AcqRel);
                }
                Err(format!("its first process did not answer within {within:?}"))
            }
        }
    }
}

impl Line {
    async fn talk(&self, kind: u8) -> std::io::Result<u64> {
        let mut stream = self.stream.lock().await;
        let mut message = [0; ORDER];
        let now = u64::try_from(bailiwick_sys::clock::realtime().as_nanos()).unwrap_or(0);
        let mut seed = [0; SEED];
        bailiwick_sys::clock::random(&mut seed).map_err(std::io::Error::other)?;
        for (place, byte) in message.iter_mut().zip([kind].into_iter().chain(now.to_le_bytes()).chain(seed)) {
            *place = byte;
        }
        stream.write_all(&message).await?;
        let mut answer = [0; OBEYED];
        stream.read_exact(&mut answer).await?;
        Ok(u64::from_le_bytes(answer))
    }
}

#[cfg(test)]
mod tests;
