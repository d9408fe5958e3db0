//! Something that an agent works on until it says that it is over: about files, or a pack of them.

use bailiwick_sandbox::SandboxError;
use bailiwick_wire::agent::{FromAgent, ToAgent};

use crate::link::Ask;
use crate::{Attended, Wall};

/// An ask that its agent works on. One that is dropped before it is over is cancelled: whoever began it stopped waiting, or could not
/// go on, and the agent would work on it, or wait for more, for ever.
#[derive(Debug)]
pub(crate) struct Job<'a, W: Wall> {
    inner: &'a Attended<W>,
    ask: Ask,
    is_over: bool,
}

impl<'a, W: Wall> Job<'a, W> {
    /// Begins what the message says, which is told the number of the ask.
    pub(crate) async fn begin(
        inner: &'a Attended<W>,
        message: impl FnOnce(u32) -> ToAgent,
    ) -> Result<Self, SandboxError> {
        let ask = inner.ask().await?;
        let message = message(ask.id);
        let job = Self { inner, ask, is_over: false };
        inner.say(&message).await?;
        Ok(job)
    }

    /// Its number.
    pub(crate) fn id(&self) -> u32 {
        self.ask.id
    }

    /// The next answer. `Done` and `Failed` are the last.
    pub(crate) async fn next(&mut self) -> Result<FromAgent, SandboxError> {
        let answer = self.inner.answer(&mut self.ask).await;
        self.is_over = matches!(answer, Ok(FromAgent::Done { .. } | FromAgent::Failed { .. }));
        answer
    }
}

impl<W: Wall> Drop for Job<'_, W> {
    fn drop(&mut self) {
        if !self.is_over {
            self.inner.tell_later(ToAgent::Cancel { id: self.ask.id });
        }
    }
}
