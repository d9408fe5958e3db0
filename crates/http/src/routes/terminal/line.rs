//! The line between a terminal and its command: what is typed waits for the command within a bound, what is shown waits for
//! whoever looks.

use std::pin::Pin;
use std::time::Duration;

use bailiwick_core::{Chunk, Input, Refusal, Talk};
use bailiwick_types::ErrorCode;
use tokio::sync::{Mutex, mpsc, watch};

use crate::routes::said::{PIECES, hand_on};

/// How many messages wait for a command that does not read.
const TYPED: usize = 8;
/// How many signals and sizes do.
const URGENT: usize = 64;
/// How long a command may leave no room for what is typed.
const STUCK: Duration = Duration::from_secs(30);

/// The command's end.
pub(super) struct Line {
    shown: mpsc::Sender<Chunk>,
    typed: Mutex<mpsc::Receiver<Input>>,
    urgent: Mutex<mpsc::Receiver<Input>>,
    /// How many messages of input the command was given.
    taken: watch::Sender<u64>,
}

/// The end of whoever types.
pub(super) struct Keyboard {
    typed: mpsc::Sender<Input>,
    urgent: mpsc::Sender<Input>,
}

/// What is shown, in order.
pub(super) type Screen = mpsc::Receiver<Chunk>;

/// A line with its ends, and how much of what was typed the command was given.
pub(super) fn line() -> (Line, Keyboard, Screen, watch::Receiver<u64>) {
    let (shown, screen) = mpsc::channel(PIECES);
    let (typed, keys) = mpsc::channel(TYPED);
    let (urgent, calls) = mpsc::channel(URGENT);
    let (taken, given) = watch::channel(0);
    let line = Line { shown, typed: Mutex::new(keys), urgent: Mutex::new(calls), taken };
    (line, Keyboard { typed, urgent }, screen, given)
}

impl Keyboard {
    /// Hands on what is typed. A command that leaves no room for it for long is not waited for.
    pub(super) async fn types(&self, input: Input) -> Result<(), Refusal> {
        in_time(self.typed.send(input)).await
    }

    /// Hands on what does not wait behind it.
    pub(super) async fn urges(&self, input: Input) -> Result<(), Refusal> {
        in_time(self.urgent.send(input)).await
    }
}

async fn in_time<E>(sending: impl Future<Output = Result<(), E>>) -> Result<(), Refusal> {
    // A command that ended hears nothing.
    if tokio::time::timeout(STUCK, sending).await.is_ok() {
        return Ok(());
    }
    let message = format!("the command did not read what was typed for {} seconds", STUCK.as_secs());
    Err(Refusal::new(ErrorCode::Timeout, message)
        .with_hint("type less ahead of a command that does not read"))
}

impl Talk for Line {
    fn output(&self, chunk: Chunk) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(hand_on(chunk, &self.shown))
    }

    fn input(&self) -> Pin<Box<dyn Future<Output = Option<Input>> + Send + '_>> {
        Box::pin(async move {
            let input = self.typed.lock().await.recv().await;
            self.taken.send_modify(|taken| *taken = taken.saturating_add(1));
            input
        })
    }

    fn urgent(&self) -> Pin<Box<dyn Future<Output = Option<Input>> + Send + '_>> {
        Box::pin(async move { self.urgent.lock().await.recv().await })
    }
}
