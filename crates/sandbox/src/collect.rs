//! Everything that a running command says, up to a bound. What is above it is read and dropped, so that a command that
//! says too much still comes to its own end; what is kept is the beginning.

use bytes::{Bytes, BytesMut};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use crate::{Captured, Chunk, Command, Ended, Input, Running, SandboxError, Stream};

/// How much input is handed over at once.
const PIECE: usize = 64 * 1024;

/// A command that ran to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// How it ended.
    pub ended: Ended,
    /// What was kept of its standard output.
    pub stdout: Captured,
    /// What was kept of its standard error.
    pub stderr: Captured,
}

/// Counts what is let through of each stream, for whoever passes output on as it comes.
#[derive(Debug, Clone, Copy)]
pub struct Capped {
    limit: u64,
    stdout: Passed,
    stderr: Passed,
}

#[derive(Debug, Clone, Copy, Default)]
struct Passed {
    bytes: u64,
    cut: bool,
}

/// What is left of a piece of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// What may be passed on; nothing where all of it is above the bound.
    pub chunk: Option<Chunk>,
    /// Whether this is where its stream was cut: true once for each stream.
    pub cut: bool,
}

impl Capped {
    /// At most so many bytes of each stream.
    pub const fn new(limit: u64) -> Self {
        let nothing = Passed { bytes: 0, cut: false };
        Self { limit, stdout: nothing, stderr: nothing }
    }

    /// What is left of a piece.
    pub fn take(&mut self, mut chunk: Chunk) -> Taken {
        let limit = self.limit;
        let passed = self.of(chunk.stream);
        let room = usize::try_from(limit.saturating_sub(passed.bytes)).unwrap_or(usize::MAX);
        let over = chunk.bytes.len() > room;
        let cut = over && !passed.cut;
        passed.cut |= over;
        chunk.bytes.truncate(room);
        passed.bytes = passed.bytes.saturating_add(chunk.bytes.len() as u64);
        Taken { chunk: (!chunk.bytes.is_empty()).then_some(chunk), cut }
    }

    /// Whether a stream was cut.
    pub const fn is_cut(&self, stream: Stream) -> bool {
        match stream {
            Stream::Stdout => self.stdout.cut,
            Stream::Stderr => self.stderr.cut,
        }
    }

    const fn of(&mut self, stream: Stream) -> &mut Passed {
        match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        }
    }
}

/// Waits until a command has ended, feeds it [`Command::input`] meanwhile, and keeps at most `output_limit` bytes of each
/// stream. Where nobody waits any more, the command is ended.
pub async fn run_to_end(
    running: Running,
    command: &Command,
    output_limit: u64,
) -> Result<Finished, SandboxError> {
    let Running { input, urgent, mut output, mut ended } = running;
    let mut leash = Leash(Some(urgent));
    let feeding = feed(input, command.input.clone(), !command.piped);
    tokio::pin!(feeding);
    let mut fed = false;
    let mut kept = Kept::new(output_limit);
    let mut open = true;
    let ended = loop {
        tokio::select! {
            biased;
            chunk = output.recv(), if open => match chunk {
                Some(chunk) => kept.put(chunk),
                None => open = false,
            },
            end = &mut ended => break end,
            () = &mut feeding, if !fed => fed = true,
        }
    };
    leash.let_go();
    // There is nothing more to come; what came is in the channel.
    while let Ok(chunk) = output.try_recv() {
        kept.put(chunk);
    }
    let ended = ended.map_err(|_| SandboxError::Failed {
        step: "wait for the command".to_owned(),
        reason: "nobody told how it ended".to_owned(),
    })??;
    let [stdout, stderr] = kept.captured();
    Ok(Finished { ended, stdout, stderr })
}

/// Gives a command all of its input, and the end of it where no more follows. A command that reads no more gets no more.
pub async fn feed(to: mpsc::Sender<Input>, mut bytes: Bytes, is_all: bool) {
    while !bytes.is_empty() {
        let piece = bytes.split_to(bytes.len().min(PIECE));
        if to.send(Input::Bytes(piece)).await.is_err() {
            return;
        }
    }
    if is_all {
        // A command that has ended needs no end of its input.
        to.send(Input::End).await.unwrap_or_default();
    }
}

/// What was kept of both streams.
struct Kept {
    capped: Capped,
    stdout: BytesMut,
    stderr: BytesMut,
}

impl Kept {
    fn new(limit: u64) -> Self {
        Self { capped: Capped::new(limit), stdout: BytesMut::new(), stderr: BytesMut::new() }
    }

    fn put(&mut self, chunk: Chunk) {
        let Some(chunk) = self.capped.take(chunk).chunk else { return };
        match chunk.stream {
            Stream::Stdout => self.stdout.extend_from_slice(&chunk.bytes),
            Stream::Stderr => self.stderr.extend_from_slice(&chunk.bytes),
        }
    }

    fn captured(self) -> [Captured; 2] {
        let Self { capped, stdout, stderr } = self;
        [
            Captured { bytes: stdout.freeze(), truncated: capped.is_cut(Stream::Stdout) },
            Captured { bytes: stderr.freeze(), truncated: capped.is_cut(Stream::Stderr) },
        ]
    }
}

/// Ends the command when it is dropped before it was let go.
struct Leash(Option<mpsc::Sender<Input>>);

impl Leash {
    fn let_go(&mut self) {
        self.0 = None;
    }
}

impl Drop for Leash {
    fn drop(&mut self) {
        let Some(urgent) = self.0.take() else { return };
        if let Err(TrySendError::Full(kill)) = urgent.try_send(Input::Kill)
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            // Other words are in front; it waits its turn without whoever left.
            drop(runtime.spawn(async move { urgent.send(kill).await }));
        }
    }
}
