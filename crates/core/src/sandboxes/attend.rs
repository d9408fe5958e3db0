//! One command, from its start to its end: what it says goes to whoever talks with it, or is kept; what it is told comes
//! from them. Where nobody waits any more, the command ends.

use bailiwick_sandbox::{
    Capped, Captured, Chunk, Command, Ended, ExecResult, Finished, Input, Running, Sandbox, SandboxError,
    Stream, feed,
};
use bailiwick_types::CorrelationId;
use bytes::BytesMut;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use crate::Talk;

/// What becomes of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// It is handed on as it comes.
    Streamed,
    /// It is kept for the result.
    Captured,
    /// It is handed on without an end, to somebody who keeps no more of it than they have room for.
    Unending,
}

/// Runs a command in a sandbox. Of each stream no more than the sandbox's limit is handed on or kept; a terminal has no
/// such end, since whoever sits there sees it go by.
pub async fn attend(
    sandbox: &dyn Sandbox,
    mut command: Command,
    talk: &dyn Talk,
    keep: Keep,
    correlation: CorrelationId,
) -> Result<ExecResult, SandboxError> {
    let is_unending = command.terminal.is_some() || keep == Keep::Unending;
    let limit = if is_unending { u64::MAX } else { sandbox.spec().limits.output.value };
    // All input goes one way, whether it was there before or comes later.
    let (given, comes) = (std::mem::take(&mut command.input), command.piped);
    command.piped = true;
    let Running { input, urgent, output, ended } = sandbox.spawn(command).await?;
    let mut leash = Leash(Some(urgent.clone()));
    let telling = async {
        tokio::join!(tell(input, given, comes, talk), hurry(urgent, talk));
        // Nothing more to tell; the command goes on.
        std::future::pending::<()>().await;
    };
    let hearing = hear(output, ended, talk, keep, limit);
    let finished = tokio::select! {
        finished = hearing => finished,
        () = telling => return Err(nobody_told()),
    };
    leash.0 = None;
    Ok(ExecResult::new(sandbox, finished?, correlation))
}

/// Gives the command what was there before, then what comes, where more was announced.
async fn tell(to: mpsc::Sender<Input>, given: bytes::Bytes, comes: bool, talk: &dyn Talk) {
    feed(to.clone(), given, !comes).await;
    while comes && let Some(told) = talk.input().await {
        if to.send(told).await.is_err() {
            return;
        }
    }
}

/// Hands on what must not wait behind input.
async fn hurry(to: mpsc::Sender<Input>, talk: &dyn Talk) {
    while let Some(told) = talk.urgent().await {
        if to.send(told).await.is_err() {
            return;
        }
    }
}

/// Hears a command to its end.
async fn hear(
    mut output: mpsc::Receiver<Chunk>,
    mut ended: tokio::sync::oneshot::Receiver<Result<Ended, SandboxError>>,
    talk: &dyn Talk,
    keep: Keep,
    limit: u64,
) -> Result<Finished, SandboxError> {
    let mut heard =
        Heard { capped: Capped::new(limit), stdout: BytesMut::new(), stderr: BytesMut::new(), keep };
    let mut is_open = true;
    let ended = loop {
        tokio::select! {
            biased;
            chunk = output.recv(), if is_open => match chunk {
                Some(chunk) => heard.take(chunk, talk).await,
                None => is_open = false,
            },
            ended = &mut ended => break ended,
        }
    };
    // There is nothing more to come; what came is in the channel.
    while let Ok(chunk) = output.try_recv() {
        heard.take(chunk, talk).await;
    }
    let ended = ended.map_err(|_| nobody_told())??;
    let Heard { capped, stdout, stderr, keep: _ } = heard;
    let captured =
        |bytes: BytesMut, stream| Captured { bytes: bytes.freeze(), truncated: capped.is_cut(stream) };
    Ok(Finished { ended, stdout: captured(stdout, Stream::Stdout), stderr: captured(stderr, Stream::Stderr) })
}

struct Heard {
    capped: Capped,
    stdout: BytesMut,
    stderr: BytesMut,
    keep: Keep,
}

impl Heard {
    async fn take(&mut self, chunk: Chunk, talk: &dyn Talk) {
        let Some(chunk) = self.capped.take(chunk).chunk else { return };
        match (self.keep, chunk.stream) {
            (Keep::Streamed | Keep::Unending, _) => talk.output(chunk).await,
            (Keep::Captured, Stream::Stdout) => self.stdout.extend_from_slice(&chunk.bytes),
            (Keep::Captured, Stream::Stderr) => self.stderr.extend_from_slice(&chunk.bytes),
        }
    }
}

fn nobody_told() -> SandboxError {
    SandboxError::Failed {
        step: "wait for the command".to_owned(),
        reason: "nobody told how it ended".to_owned(),
    }
}

/// Ends the command when it is dropped before it was let go.
struct Leash(Option<mpsc::Sender<Input>>);

impl Drop for Leash {
    fn drop(&mut self) {
        let Some(urgent) = self.0.take() else { return };
        if let Err(TrySendError::Full(kill)) = urgent.try_send(Input::Kill)
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            drop(runtime.spawn(async move { urgent.send(kill).await }));
        }
    }
}
